"""Names as SQL and the server's parameters write them."""

from __future__ import annotations

import re


def quote_name(name: str) -> str:
    """As a name of SQL, whatever it holds."""
    if "\0" in name:
        raise ValueError(f"{name!r} is no name: it has a NUL in it")
    return '"' + name.replace('"', '""') + '"'


def quote_table(handle: str) -> str:
    """A handle, or ``owner/handle`` of a frame that another tenant shares."""
    return ".".join(quote_name(part) for part in handle.split("/", 1))


def quote_column(name: str) -> str:
    """As ``cols`` takes a name."""
    return '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'
