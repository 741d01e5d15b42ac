"""Framehold, a data-frame server, from Python: ``framehold.connect()`` gives a connection that puts, gets and queries frames."""

from __future__ import annotations

from importlib.metadata import version as _version
from typing import TYPE_CHECKING

from . import errors
from ._verbs.types import Column, Engine, FrameInfo, Identity, Kept, Query, ServerInfo
from ._verbs.append import Ack, Appender
from ._connection import Connection, connect
from ._verbs.expressions import Expr, col, count, lit
from ._verbs.follow import Follower
from ._verbs.frame import Frame, Groups, Statement
from ._rows.result import Result, Stream
from .errors import FrameholdError

if TYPE_CHECKING:
    import polars

    from ._verbs.scan import Plan

__version__ = _version("framehold")

__all__ = [
    "Ack",
    "Appender",
    "Expr",
    "Follower",
    "Frame",
    "Groups",
    "Statement",
    "col",
    "count",
    "lit",
    "Column",
    "Connection",
    "Engine",
    "FrameInfo",
    "FrameholdError",
    "Identity",
    "Kept",
    "Query",
    "Result",
    "ServerInfo",
    "Stream",
    "connect",
    "errors",
    "explain",
]


def explain(query: polars.LazyFrame) -> Plan:
    """What each ``scan`` of a query asks its server for, after Polars has optimised it. Reads no frame of a server."""
    from ._verbs.scan import explain

    return explain(query)
