"""Arguments of operations, as the server writes them."""

from __future__ import annotations

from typing import Literal

Mode = Literal["create", "overwrite", "append"]
#: ``slice(10, 20)``, ``range(10, 20)`` or ``(10, 20)``: from row 10 up to but not including row 20, counted from 0.
Rows = slice | range | tuple[int | None, int | None]


def check_mode(mode: str) -> None:
    if mode not in ("create", "overwrite", "append"):
        raise ValueError(f"mode is {mode!r}; it is 'create', 'overwrite' or 'append'")


def ttl_text(ttl: str | float | None) -> str | None:
    return None if ttl is None else str(ttl)


def rows_of(data: object) -> int | None:
    for name in ("num_rows", "height"):
        value = getattr(data, name, None)
        if isinstance(value, int):
            return value
    try:
        return len(data) if hasattr(data, "__arrow_c_stream__") else None  # type: ignore[arg-type]
    except TypeError:
        return None


def _range(rows: Rows) -> tuple[int, int | None]:
    if isinstance(rows, tuple):
        start, stop, step = (*rows, 1)
    else:
        start, stop, step = rows.start, rows.stop, rows.step
    begin = 0 if start is None else start
    if step not in (None, 1) or begin < 0 or (stop is not None and stop < 0):
        raise ValueError(
            f"rows is {rows!r}; it is slice(10, 20), range(10, 20) or (10, 20), counted from 0, in steps of 1"
        )
    return begin, stop


def exp_limit(rows: Rows | None) -> str | None:
    """As /exp counts: those after the first ``begin`` up to row ``stop``."""
    if rows is None:
        return None
    begin, stop = _range(rows)
    return f"{begin}," if stop is None else f"{begin},{max(begin, stop)}"


def exec_limit(rows: Rows | None) -> str | int:
    """As /exec counts: from 1, both ends included."""
    begin, stop = (0, None) if rows is None else _range(rows)
    if stop is not None and stop <= begin:
        return 0
    return f"{begin + 1}," if stop is None else f"{begin + 1},{stop}"
