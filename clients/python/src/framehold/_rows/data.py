"""Rows from any library as Arrow record batches, and record batches as the body of a request."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any, Protocol

import pyarrow as pa

ARROW_STREAM = "application/vnd.apache.arrow.stream"
#: A batch that is longer is sent in parts: the server holds one in memory at a time.
MOST_BATCH_BYTES = 8 * 1024 * 1024
#: Pieces of a longer body.
PIECE_BYTES = 256 * 1024


class ArrowStream(Protocol):
    """What polars, pandas, pyarrow, DuckDB, narwhals and others have."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: Anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``; columns by name; rows as dicts; batches of these, one after the other;
#: or a file.
Data = ArrowStream | Mapping[str, Any] | Iterable[Any] | os.PathLike[str] | IO[Any]


def is_rows(data: object) -> bool:
    """Dicts of Python values, whose types have to be found out."""
    return isinstance(data, Mapping) or (isinstance(data, list) and all(isinstance(row, Mapping) for row in data))


def to_table(data: Any, schema: pa.Schema | None = None) -> pa.Table:
    """Rows as dicts, or columns by name. With a schema its types are taken, and what it has not is refused."""
    if isinstance(data, Mapping) and not any(_is_column(value) for value in data.values()):
        data = [data]
    if schema is None:
        if isinstance(data, Mapping):
            return pa.table(dict(data))
        names = {name: None for row in data for name in row}
        return pa.Table.from_pylist(data, schema=_schema_of(data, list(names)))
    known = set(schema.names)
    given = data if isinstance(data, Mapping) else (name for row in data for name in row)
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise ValueError(f"there is no column {unknown!r}; the columns are {', '.join(map(repr, schema.names))}")
    if isinstance(data, Mapping):
        length = max((len(value) for value in data.values()), default=0)
        columns = [pa.array(data[f.name], f.type) if f.name in data else pa.nulls(length, f.type) for f in schema]
        return pa.table(columns, schema=schema)
    # In two thirds of the time of Table.from_pylist.
    rows = pa.array([row if isinstance(row, dict) else dict(row) for row in data], pa.struct(schema))
    return pa.Table.from_struct_array(rows)


def to_reader(data: Any) -> pa.RecordBatchReader:
    """Raises TypeError for what holds no rows."""
    if is_rows(data):
        return to_table(data).to_reader()
    if isinstance(data, pa.Table):
        return data.to_reader()
    if isinstance(data, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(data.schema, [data])
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _from_pandas(data).to_reader()
    if hasattr(data, "__arrow_c_stream__"):
        if isinstance(data, pa.ChunkedArray):
            raise TypeError("a single column is not a frame: pass pa.table({'name': column})")
        try:
            return pa.RecordBatchReader.from_stream(data)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TypeError(f"{_kind(data)} is a single column or has no columns: pass a frame ({error})") from error
    if hasattr(data, "__arrow_c_array__"):
        return to_reader(pa.record_batch(data))
    for method in ("to_arrow_reader", "fetch_record_batch", "to_arrow", "arrow"):
        # Older relations of DuckDB, and other objects with a conversion to Arrow.
        if callable(getattr(data, method, None)):
            return to_reader(getattr(data, method)())
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _from_pieces(iter(data))
    if callable(getattr(data, "collect", None)):
        raise TypeError(f"{_kind(data)} is a query that has not run, and has no rows yet: pass what its .collect() gives")
    raise TypeError(
        f"{_kind(data)} cannot be sent: pass a DataFrame of polars or pandas, a table of pyarrow, "
        "anything with __arrow_c_stream__, columns by name, rows as dicts, an iterable of these, or a pathlib.Path"
    )


def _from_pieces(pieces: Iterator[Any]) -> pa.RecordBatchReader:
    """The first piece says what the columns are."""
    first = next(pieces, None)
    if first is None:
        raise ValueError("there is nothing to send: the iterable is empty, and an empty frame needs its columns")
    opening = to_reader(first)
    schema = opening.schema

    def batches() -> Iterator[pa.RecordBatch]:
        yield from opening
        for piece in pieces:
            reader = to_table(piece, schema).to_reader() if is_rows(piece) else to_reader(piece)
            if not reader.schema.equals(schema):
                reader = reader.read_all().cast(schema).to_reader()
            yield from reader

    return pa.RecordBatchReader.from_batches(schema, batches())


def _from_pandas(data: Any) -> pa.Table:
    """An index that has a name is a column; one that only numbers the rows is not."""
    index = data.index
    named = all(name is not None for name in index.names)
    if not named and str(index.dtype) not in ("int64", "uint64", "int32"):
        raise ValueError(
            "the index has no name, and is more than row numbers: name it with rename_axis('ts'), or leave it out with reset_index(drop=True)"
        )
    table = pa.Table.from_pandas(data, preserve_index=named).replace_schema_metadata(None)
    if named:  # pyarrow puts it behind the columns
        places = range(table.num_columns)
        table = table.select([*places[-index.nlevels :], *places[: -index.nlevels]])
    return table


def _schema_of(rows: list[Mapping[str, Any]], names: list[str]) -> pa.Schema | None:
    """pyarrow takes the names of the first row alone."""
    if not rows:
        return None
    return pa.schema([(name, pa.array([row.get(name) for row in rows]).type) for name in names])


def _is_column(value: object) -> bool:
    return not isinstance(value, (str, bytes, Mapping)) and (
        hasattr(value, "__len__") or hasattr(value, "__arrow_c_array__")
    )


def _kind(data: object) -> str:
    return f"{type(data).__module__}.{type(data).__qualname__}"


_PLAIN = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def schema_to_send(schema: pa.Schema) -> pa.Schema:
    """Views of text and bytes, as polars has them, become plain ones: the server takes those in a quarter of the time."""
    if not any(field.type in _PLAIN for field in schema):
        return schema
    return pa.schema([field.with_type(_PLAIN.get(field.type, field.type)) for field in schema])


def stream_bytes(table: pa.Table) -> bytes:
    """An Arrow stream in memory."""
    schema = schema_to_send(table.schema)
    same = table if schema.equals(table.schema) else table.cast(schema)
    # As quick as it gets: small appends are many. All its buffers are counted in less time than what is used of them.
    is_short = same.get_total_buffer_size() <= MOST_BATCH_BYTES
    rows = None if is_short else max(same.num_rows * MOST_BATCH_BYTES // max(same.nbytes, 1), 1)
    sink = pa.BufferOutputStream()
    writer = pa.RecordBatchStreamWriter(sink, schema)
    writer.write_table(same, max_chunksize=rows)
    writer.close()
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


def batches_to_send(given: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches with the types of ``schema_to_send``, none of them too long."""
    schema = schema_to_send(given)
    is_same = schema.equals(given)
    for batch in _short(batches):
        yield batch if is_same else batch.cast(schema)


def _short(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        parts = -(-batch.nbytes // MOST_BATCH_BYTES)
        rows = -(-batch.num_rows // parts) if parts > 1 else batch.num_rows
        if parts <= 1 or rows == 0:
            yield batch
            continue
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


class ArrowBody:
    """An Arrow stream that is written while it is sent. ``on_batch`` is told the rows and bytes of each batch."""

    media_type = ARROW_STREAM

    def __init__(self, data: Any, on_batch: Callable[[int, int], None] | None = None) -> None:
        self._data = data
        self._on_batch = on_batch
        self._first: pa.RecordBatchReader | None = to_reader(data)
        self._was_read = False

    @property
    def is_repeatable(self) -> bool:
        """What is held in memory can be read again; a stream or a generator cannot."""
        return not self._was_read or is_rows(self._data) or isinstance(self._data, pa.Table) or _is_frame(self._data)

    def write_to(self, send: Callable[[bytes], None]) -> None:
        reader = self._first if self._first is not None else to_reader(self._data)
        self._first, self._was_read = None, True
        sink = _PieceSink(send)
        with pa.ipc.new_stream(sink, schema_to_send(reader.schema)) as writer:
            for batch in batches_to_send(reader.schema, reader):
                writer.write_batch(batch)
                if self._on_batch is not None:
                    self._on_batch(batch.num_rows, batch.nbytes)
        sink.flush_pieces()


def _is_frame(data: object) -> bool:
    modules = {"polars": "DataFrame", "pandas": "DataFrame"}
    return any(isinstance(data, getattr(sys.modules[m], name)) for m, name in modules.items() if m in sys.modules)


class _PieceSink(io.RawIOBase):
    """Joins the many small writes of an Arrow stream, and passes long ones on."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        super().__init__()
        self._send = send
        self._pieces: list[bytes] = []
        self._bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        length = len(data)
        self._pieces.append(bytes(data))
        self._bytes += length
        if self._bytes >= PIECE_BYTES:
            self.flush_pieces()
        return length

    def flush_pieces(self) -> None:
        pieces, self._pieces, self._bytes = self._pieces, [], 0
        if pieces:
            self._send(pieces[0] if len(pieces) == 1 else b"".join(pieces))
