"""Predicates of Polars as SQL: those of which it is proven that they mean the same.

Polars gives a predicate after it has made the types of both sides equal, so that a literal has the type of its column.
What is not known here is not pushed: Polars filters by the whole predicate anyway.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .names import quote_name

if TYPE_CHECKING:
    import polars

_comparisons = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_connectives = {"And": "AND", "LogicalAnd": "AND", "Or": "OR", "LogicalOr": "OR"}
_tests = {"IsNull": "{} IS NULL", "IsNotNull": "{} IS NOT NULL", "IsNan": "isnan({})", "IsNotNan": "NOT isnan({})"}
_between = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}

#: Float32 is left out: Polars rounds a literal to it, SQL widens the column.
_integers = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
MOST_LISTED = 1000


@dataclass(frozen=True)
class Sql:
    """A condition, and the values of its ``?``."""

    text: str
    params: tuple[Any, ...] = ()


class _Unknown(Exception):
    """Not pushed."""


def translate(predicate: polars.Expr, columns: Iterable[str]) -> tuple[Sql | None, bool]:
    """The part of a predicate that can be pushed, and whether that is all of it."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except Exception:
        return None, False
    parts, known = _conjuncts(tree), set(columns)
    pushed: list[Sql] = []
    for part in parts:
        try:
            pushed.append(_condition(part, known))
        except (_Unknown, KeyError, TypeError, ValueError, OverflowError, AttributeError, pa.ArrowException):
            # Another version of Polars may write it otherwise.
            continue
    if not pushed:
        return None, False
    text = " AND ".join(each.text for each in pushed)
    return Sql(text, tuple(value for each in pushed for value in each.params)), len(pushed) == len(parts)


def _conjuncts(tree: Any) -> list[Any]:
    node = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if node is not None and node.get("op") == "And":
        return _conjuncts(node["left"]) + _conjuncts(node["right"])
    return [tree]


def _condition(tree: Any, columns: set[str]) -> Sql:
    """A value of true, false or NULL, in SQL as in Polars."""
    if "Column" in tree:
        # Only columns of booleans stand alone.
        return Sql(_column(tree, columns))
    if "BinaryExpr" in tree:
        node = tree["BinaryExpr"]
        op = node["op"]
        if op in _comparisons:
            return Sql(f"{_column(node['left'], columns)} {_comparisons[op]} ?", (_literal(node["right"]),))
        left, right = _condition(node["left"], columns), _condition(node["right"], columns)
        return Sql(f"({left.text} {_connectives[op]} {right.text})", left.params + right.params)
    if "Function" in tree:
        return _function(tree["Function"], columns)
    raise _Unknown


def _function(node: Mapping[str, Any], columns: set[str]) -> Sql:
    name, inputs = node["function"]["Boolean"], node["input"]
    if name == "Not":
        inner = _condition(inputs[0], columns)
        return Sql(f"NOT ({inner.text})", inner.params)
    column = _column(inputs[0], columns)
    if isinstance(name, str):
        return Sql(_tests[name].format(column))
    if "IsBetween" in name:
        low, high = _between[name["IsBetween"]["closed"]]
        text = f"({column} {low} ? AND {column} {high} ?)"
        return Sql(text, (_literal(inputs[1]), _literal(inputs[2])))
    if "IsIn" in name and not name["IsIn"]["nulls_equal"]:
        values = [value for value in _list(inputs[1]) if value is not None]
        if values and len(values) <= MOST_LISTED:
            return Sql(f"{column} IN ({', '.join('?' * len(values))})", tuple(values))
    raise _Unknown


def _column(tree: Any, columns: set[str]) -> str:
    name = tree["Column"]
    if name not in columns:
        raise _Unknown
    return quote_name(name)


def _literal(tree: Any) -> Any:
    [(kind, value)] = tree["Literal"]["Scalar"].items()
    if kind in _integers or kind == "Float64":
        return _finite(value) if kind == "Float64" else int(value)
    if kind in _makers:
        return _makers[kind](value)
    raise _Unknown


def _finite(value: Any) -> float:
    if not isinstance(value, (int, float)):
        raise _Unknown
    return float(value)


def _timestamp(value: Any) -> datetime:
    count, unit, zone = value
    if unit != "Microseconds" or zone not in (None, {"inner": "UTC"}):
        raise _Unknown
    at = datetime(1970, 1, 1) + timedelta(microseconds=count)
    return at if zone is None else at.replace(tzinfo=_UTC)


def _text(value: Any) -> str:
    if "\0" in value:
        raise _Unknown
    return str(value)


_UTC = datetime.fromisoformat("1970-01-01T00:00:00+00:00").tzinfo
_makers: Mapping[str, Callable[[Any], Any]] = {
    "String": _text,
    "Boolean": bool,
    "Date": lambda days: date(1970, 1, 1) + timedelta(days=days),
    "Datetime": _timestamp,
}


def _list(tree: Any) -> list[Any]:
    """Polars writes a list of literals as an Arrow stream."""
    column = pa.ipc.open_stream(bytes(tree["Literal"]["Scalar"]["List"])).read_all().column(0)
    kind = column.type
    if not (pa.types.is_integer(kind) or kind in (pa.string(), pa.large_string(), pa.string_view(), pa.date32())):
        raise _Unknown
    return [_text(value) if isinstance(value, str) else value for value in column.to_pylist()]
