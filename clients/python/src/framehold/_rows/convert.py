"""Arrow as Python, polars and pandas have it, where these take a type otherwise, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import UnsupportedTypeError

if TYPE_CHECKING:
    import pandas

INTERVAL = pa.month_day_nano_interval()
#: Frames and statements have intervals in microseconds.
DURATION = pa.duration("us")
DAY_MICROSECONDS = 86_400_000_000


def with_unique_names(table: pa.Table) -> pa.Table:
    """A name that was there before gets a number, as where SQL reads such columns: ``a``, ``a_1``."""
    names = table.schema.names
    taken = set(names)
    if len(taken) == len(names):
        return table
    made: list[str] = []
    for name in names:
        number = 0
        unique = name
        while unique in made or (number > 0 and unique in taken):
            number += 1
            unique = f"{name}_{number}"
        made.append(unique)
    return table.rename_columns(made)


def durations_in(kind: pa.DataType) -> pa.DataType:
    """A type with durations in the place of intervals, which polars and numpy have not."""
    if kind == INTERVAL:
        return DURATION
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(durations_in(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(durations_in(kind.key_type), durations_in(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(durations_in(kind.value_type))
    return kind


def with_durations(table: pa.Table) -> pa.Table:
    """Intervals as durations. A day is 24 hours, as in SQL: that of a time difference is. Raises for months, which have no length."""
    for at, field in enumerate(table.schema):
        if field.type == INTERVAL:
            table = table.set_column(at, field.with_type(DURATION), _durations(field.name, table.column(at)))
        elif durations_in(field.type) != field.type:
            raise _no_duration(field.name, f"has intervals inside {field.type}, which cannot become durations")
    return table


def _durations(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([_durations_of(name, chunk) for chunk in column.chunks if len(chunk)], DURATION)


def _durations_of(name: str, chunk: pa.Array) -> pa.Array:
    """An interval is 16 bytes: months, days and nanoseconds."""
    months = pc.list_element(_parts(chunk, pa.int32(), 4), 0)
    days = pc.list_element(_parts(chunk, pa.int32(), 4), 1).cast(pa.int64())
    nanoseconds = pc.list_element(_parts(chunk, pa.int64(), 2), 1)
    if pc.any(pc.and_(chunk.is_valid(), pc.not_equal(months, 0))).as_py():
        raise _no_duration(name, "has intervals with months, whose length is not fixed: they cannot become durations")
    try:
        whole = pc.add_checked(pc.multiply_checked(days, DAY_MICROSECONDS), pc.divide(nanoseconds, 1000))
    except pa.ArrowInvalid:
        raise _no_duration(name, "has intervals that are too long for durations in microseconds") from None
    return pc.if_else(chunk.is_valid(), whole, None).cast(DURATION)


def _parts(chunk: pa.Array, kind: pa.DataType, count: int) -> pa.Array:
    data = chunk.buffers()[1]
    parts = pa.Array.from_buffers(kind, (chunk.offset + len(chunk)) * count, [None, data])
    return pa.FixedSizeListArray.from_arrays(parts, count).slice(chunk.offset)


def _no_duration(name: str, problem: str) -> UnsupportedTypeError:
    return UnsupportedTypeError(f'column "{name}" {problem}', hint=_as_text(name, "leave it out with columns=, or "))


def _as_text(name: str, before: str = "") -> str:
    quoted = name.replace('"', '""')
    return f"{before}ask for it as text: sql('SELECT \"{quoted}\"::VARCHAR AS \"{quoted}\" FROM …')"


def to_pandas(table: pa.Table, options: Mapping[str, Any]) -> pandas.DataFrame:
    """Whole numbers among which there is a NULL are of pandas' nullable types: as floats they would lose digits."""
    from pandas.api.types import pandas_dtype

    table = with_durations(table)
    if "types_mapper" in options or "integer_object_nulls" in options:
        return _named(table, lambda part: part.to_pandas(**options), "pandas")
    mixed = {column.type for column in table.columns if pa.types.is_integer(column.type) and column.null_count > 0}
    nullable = {kind: pandas_dtype(str(kind).replace("u", "U").replace("int", "Int")) for kind in mixed}
    frame = _named(table, lambda part: part.to_pandas(types_mapper=nullable.get, **options), "pandas")
    for at, column in enumerate(table.columns):
        if column.type in mixed and column.null_count == 0:
            frame.isetitem(at, column.to_pandas())
    return frame


def to_pylist(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _named(with_unique_names(table), lambda part: part.to_pylist(), "Python")
    return rows


def to_list(table: pa.Table) -> list[Any]:
    """Of a single column."""
    values: list[Any] = _named(table, lambda part: part.column(0).to_pylist(), "Python")
    return values


def _named(table: pa.Table, convert: Callable[[pa.Table], Any], library: str) -> Any:
    """What is raised for a value that the library cannot hold, such as the year -43, names its column."""
    try:
        return convert(table)
    except (ValueError, OverflowError) as error:
        if isinstance(error, pa.ArrowException):
            raise
        for name, column in zip(table.schema.names, table.columns):
            try:
                convert(pa.table([column], [name]))
            except (ValueError, OverflowError):
                raise UnsupportedTypeError(
                    f'column "{name}" has a value that {library} cannot hold: {error}', hint=_as_text(name)
                ) from error
        raise
