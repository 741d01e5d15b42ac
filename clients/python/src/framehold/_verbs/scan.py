"""A frame as a LazyFrame of Polars, which asks the server only for what it needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .._rows.convert import durations_in, with_durations
from .._rows.result import Stream
from .names import quote_name, quote_table
from .operations import Operations
from .predicates import Sql, translate
from ..errors import SqlError

try:
    import polars
    from polars.io.plugins import register_io_source
except ImportError as error:
    raise ImportError("scan() needs polars: pip install 'framehold[polars]'") from error


@dataclass(frozen=True)
class Pushed:
    """What one scan of a plan asks the server for."""

    name: str
    #: None: all.
    columns: tuple[str, ...] | None
    #: A condition of SQL, by which the server leaves out rows.
    where: str | None
    params: tuple[Any, ...]
    #: The number of first rows.
    rows: int | None
    #: A predicate of Polars that is not pushed as a whole: Polars filters the server's rows by it.
    filtered_here: str | None

    def __str__(self) -> str:
        columns = "all columns" if self.columns is None else ", ".join(self.columns) or "no columns"
        lines = [f"scan {self.name}: {columns}"]
        if self.rows is not None:
            lines.append(f"  rows pushed: the first {self.rows}")
        if self.where is not None:
            values = f" with {', '.join(map(repr, self.params))}" if self.params else ""
            lines.append(f"  predicate pushed: {self.where}{values}")
        if self.filtered_here is not None:
            lines.append(f"  filtered in Polars: {self.filtered_here}")
        return "\n".join(lines)


class Plan(tuple[Pushed, ...]):
    """What the scans of a query push."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__


#: While explain() runs a plan, scans put their queries here, and give no rows.
_explained: list[Pushed] | None = None
_explaining = threading.Lock()


def explain(query: polars.LazyFrame) -> Plan:
    """What each ``scan`` of a query asks its server for, after Polars has optimised it. Reads no frame of a server."""
    global _explained
    found: list[Pushed] = []
    with _explaining:
        _explained = found
        try:
            query.collect()
        finally:
            _explained = None
    return Plan(found)


def scan(connection: Operations, name: str) -> polars.LazyFrame:
    with connection.get(name, rows=(0, 0), stream=True) as head:
        came = head.schema.remove_metadata()
    arrow = pa.schema([field.with_type(durations_in(field.type)) for field in came])
    schema = _polars(arrow.empty_table()).schema
    # SQL compares names without regard to case.
    lowered = [column.lower() for column in arrow.names]
    columns = [c for c in arrow.names if c and lowered.count(c.lower()) == 1]

    def source(
        with_columns: list[str] | None, predicate: polars.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[polars.DataFrame]:
        where, is_whole = (None, False) if predicate is None else translate(predicate, columns)
        if n_rows is not None or len(columns) < len(arrow.names):
            # The first rows are counted before they are filtered.
            where, is_whole = None, False
        wanted = arrow.names if with_columns is None else with_columns
        target = pa.schema([arrow.field(column) for column in wanted])
        if _explained is not None:
            _explained.append(
                Pushed(
                    name,
                    None if with_columns is None else tuple(with_columns),
                    None if where is None else where.text,
                    () if where is None else where.params,
                    n_rows,
                    None if predicate is None or is_whole else str(predicate),
                )
            )
            yield _filtered(_polars(target.empty_table()), predicate)
            return
        with _open(connection, name, with_columns, where, n_rows) as stream:
            for batch in stream:
                table = with_durations(pa.Table.from_batches([batch]).select(target.names))
                # A statement gives some types as they were declared, and not as they are stored.
                same = table if table.schema.equals(target) else table.cast(target)
                yield _filtered(_polars(same), predicate)

    return register_io_source(source, schema=schema)


def _open(
    connection: Operations, name: str, columns: list[str] | None, where: Sql | None, n_rows: int | None
) -> Stream:
    if where is None:
        return connection.get(name, columns or None, None if n_rows is None else (0, n_rows), stream=True)
    listed = "*" if columns is None else ", ".join(map(quote_name, columns)) or "*"
    text = f"SELECT {listed} FROM {quote_table(name)} WHERE {where.text}"
    try:
        return connection.sql(text, list(where.params), stream=True)
    except SqlError:
        # A column may have a type that statements with parameters do not give. Polars filters in any case.
        return connection.get(name, columns or None, stream=True)


def _filtered(frame: polars.DataFrame, predicate: polars.Expr | None) -> polars.DataFrame:
    return frame if predicate is None else frame.filter(predicate)


def _polars(table: pa.Table) -> polars.DataFrame:
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame
