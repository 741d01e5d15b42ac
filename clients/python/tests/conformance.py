"""Rows as clients/conformance.json writes them, to and from Arrow."""

from __future__ import annotations

import base64
import math
from dataclasses import asdict, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

SAFE_INTEGER = 2**53 - 1
EPOCH = datetime(1970, 1, 1)

_simple = {
    "BOOLEAN": pa.bool_(),
    "BYTE": pa.int8(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP_NS": pa.timestamp("ns"),
}


def to_table(rows: dict[str, Any]) -> pa.Table:
    columns = rows["columns"]
    fields, arrays = [], []
    for at, column in enumerate(columns):
        kind, values = column["type"], [row[at] for row in rows["rows"]]
        if kind == "UUID":
            # As the server sends it, and takes it back.
            fields.append(pa.field(column["name"], pa.string(), metadata={"ARROW:FLIGHT:SQL:TYPE_NAME": "UUID"}))
            arrays.append(pa.array(values, pa.string()))
            continue
        arrow = _decimal_type(kind) if kind.startswith("DECIMAL") else _simple[kind]
        fields.append(pa.field(column["name"], arrow))
        arrays.append(pa.array([_value(kind, value) for value in values], arrow))
    return pa.table(arrays, schema=pa.schema(fields))


def from_table(table: pa.Table) -> dict[str, Any]:
    fields = list(table.schema)
    columns = [{"name": field.name, "type": type_name(field)} for field in fields]
    cells = [[_cell(field.type, value) for value in column] for field, column in zip(fields, table.columns)]
    return {"columns": columns, "rows": [[column[at] for column in cells] for at in range(table.num_rows)]}


def to_param(value: Any) -> Any:
    if isinstance(value, list):
        return [to_param(item) for item in value]
    if not (isinstance(value, dict) and value.keys() == {"type", "value"}):
        return value
    kind, text = value["type"], value["value"]
    makers = {
        "DATE": date.fromisoformat,
        "TIMESTAMP": _from_text,
        "UUID": UUID,
        "DOUBLE": float,
        "BLOB": base64.b64decode,
    }
    return Decimal(text) if kind.startswith("DECIMAL") else makers[kind](text)


def plain(answer: Any) -> Any:
    if is_dataclass(answer) and not isinstance(answer, type):
        return plain(asdict(answer))
    if isinstance(answer, dict):
        return {name: plain(value) for name, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [plain(item) for item in answer]
    return answer.isoformat() if isinstance(answer, datetime) else answer


def type_name(field: pa.Field) -> str:
    kind = field.type
    named = (field.metadata or {}).get(b"ARROW:FLIGHT:SQL:TYPE_NAME")
    if named == b"UUID":
        return "UUID"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_list(kind):
        return "ARRAY"
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        return "JSON"
    if kind == pa.null():
        return "INT"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP_NS" if kind.unit == "ns" else "TIMESTAMP"
    return next(name for name, arrow in _simple.items() if arrow == kind)


def _decimal_type(name: str) -> pa.DataType:
    width, scale = name[len("DECIMAL(") : -1].split(",")
    return pa.decimal128(int(width), int(scale))


def _value(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "LONG":
        return int(value)
    if kind.startswith("DECIMAL"):
        return Decimal(value)
    if kind == "DATE":
        return date.fromisoformat(value[:10])
    if kind == "TIMESTAMP":
        return _from_text(value)
    if kind == "TIMESTAMP_NS":
        whole = _from_text(value[:19]) - EPOCH
        return (whole.days * 86_400 + whole.seconds) * 10**9 + int(value[20:29])
    return value


def _from_text(text: str) -> datetime:
    head, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(head) + timedelta(microseconds=int(fraction.ljust(6, "0") or 0))


def _cell(kind: pa.DataType, value: Any) -> Any:
    if pa.types.is_timestamp(kind) and kind.unit == "ns" and value.is_valid:
        whole, part = divmod(value.value, 10**9)
        return f"{(EPOCH + timedelta(seconds=whole)).isoformat()}.{part:09}Z"
    return _json(value.as_py())


def _json(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= SAFE_INTEGER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    if isinstance(value, date):
        return f"{value.isoformat()}T00:00:00.000Z"
    if isinstance(value, dict):
        return {name: _json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    return str(value)
