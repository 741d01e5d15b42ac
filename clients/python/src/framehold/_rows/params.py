"""Python values as parameters of a statement, with the types that JSON has not."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

Params = Mapping[str, Any] | Sequence[Any]


def encode_params(params: Params | None) -> object:
    if params is None:
        return None
    if isinstance(params, Mapping):
        return {str(name): encode_value(value) for name, value in params.items()}
    if isinstance(params, (str, bytes)):
        raise TypeError("params is a list of values, or a dict of them by name; a single text goes into a list: [text]")
    return [encode_value(value) for value in params]


def encode_value(value: Any) -> object:
    """Raises TypeError for what SQL has no type for."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, float):
        return _typed("DOUBLE", repr(float(value)) if math.isfinite(value) else _names[str(float(value))])
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, datetime):
        return _timestamp(value)
    if isinstance(value, date):
        return _typed("DATE", value.isoformat())
    if isinstance(value, time):
        return _typed("TIME", value.isoformat())
    if isinstance(value, timedelta):
        microseconds = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
        return _typed("INTERVAL", f"{microseconds} microseconds")
    if isinstance(value, UUID):
        return _typed("UUID", str(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _typed("BLOB", base64.b64encode(bytes(value)).decode())
    if isinstance(value, (list, tuple)):
        return [encode_value(item) for item in value]
    if hasattr(value, "as_py"):
        return encode_value(value.as_py())
    if hasattr(value, "dtype") and hasattr(value, "item"):
        return _numpy(value)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    raise TypeError(
        f"a {kind} cannot be a parameter: pass None, bool, int, float, str, bytes, Decimal, date, datetime, time, timedelta, UUID, or a list of them"
    )


_names = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _typed(kind: str, value: str) -> object:
    return {"type": kind, "value": value}


def _decimal(value: Decimal) -> object:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return _typed("DOUBLE", _names[str(float(value))])
    scale = max(-exponent, 0)
    width = max(len(digits) + max(exponent, 0), scale, 1)
    if width > 38:
        raise ValueError(f"{value} has more than 38 digits; a DECIMAL has at most so many")
    return _typed(f"DECIMAL({width},{scale})", format(value, "f"))


def _timestamp(value: datetime) -> object:
    # pandas has nanoseconds; isoformat() of it writes them.
    kind = "TIMESTAMP_NS" if getattr(value, "nanosecond", 0) else "TIMESTAMP"
    if value.tzinfo is None:
        return _typed(kind, value.isoformat(sep=" "))
    if kind == "TIMESTAMP_NS":
        raise ValueError(f"{value} has a time zone and nanoseconds; SQL has no type for both")
    return _typed("TIMESTAMPTZ", value.isoformat(sep=" "))


def _numpy(value: Any) -> object:
    if getattr(value, "ndim", 0):
        return [encode_value(item) for item in value.tolist()]
    if value.dtype.kind == "M" and str(value.dtype) == "datetime64[ns]":
        return None if str(value) == "NaT" else _typed("TIMESTAMP_NS", str(value))
    return encode_value(value.item())
