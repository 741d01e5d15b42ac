"""Rows that came: all of them in memory, or as a stream that is read once."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._transport.answer import Answer
from .convert import to_list, to_pandas, to_pylist, with_durations, with_unique_names
from .data import ARROW_STREAM
from .html import html_of, text_of
from .progress import Progress
from ..errors import BrokenConnectionError

if TYPE_CHECKING:
    import pandas
    import polars


class _Convertible:
    """What is Arrow, as the frames of other libraries."""

    def to_arrow(self) -> pa.Table:
        raise NotImplementedError

    def to_polars(self) -> polars.DataFrame:
        """Intervals become durations. Raises UnsupportedTypeError for those with months."""
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_polars() needs polars: pip install 'framehold[polars]'") from error
        frame = polars.from_arrow(with_unique_names(with_durations(self.to_arrow())))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """Whole numbers with a NULL among them are nullable (``Int64``), and intervals are durations, as in ``to_polars``.

        :param options: those of ``pyarrow.Table.to_pandas``, such as ``types_mapper=pandas.ArrowDtype``
        """
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install 'framehold[pandas]'") from error
        return to_pandas(self.to_arrow(), options)

    def to_pylist(self) -> list[dict[str, Any]]:
        return to_pylist(self.to_arrow())


class Result(_Convertible):
    """Rows in memory, to be used as often as needed: by its methods, or by any library that reads ``__arrow_c_stream__``."""

    def __init__(
        self,
        table: pa.Table,
        *,
        updated: int | None = None,
        engine: str | None = None,
        engine_reason: str | None = None,
    ) -> None:
        self._table = table
        #: How many rows a statement has added, changed or removed.
        self.updated = updated
        #: The engine that ran the statement, if one was named; and the reason for it.
        self.engine = engine
        self.engine_reason = engine_reason

    @property
    def schema(self) -> pa.Schema:
        return self._table.schema

    @property
    def columns(self) -> list[str]:
        return list(self._table.schema.names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The rows, in record batches."""
        return iter(self._table.to_batches())

    def __getitem__(self, column: str) -> list[Any]:
        """The values of a column."""
        if column not in self._table.schema.names:
            raise KeyError(f"there is no column {column!r}; the columns are {', '.join(map(repr, self.columns))}")
        return to_list(self._table.select([column]))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        return self._table

    def __repr__(self) -> str:
        if self.columns:
            return text_of(self._table)
        if self.updated is None:
            return "<framehold.Result: done>"
        return f"<framehold.Result: {self.updated:,} {'row' if self.updated == 1 else 'rows'} changed>"

    def _repr_html_(self) -> str:
        return html_of(self._table) if self.columns else f"<p>{escape(repr(self))}</p>"


class Stream(_Convertible):
    """Rows as they come, read once. Take them without long pauses: the server cuts off who takes nothing for half a minute."""

    def __init__(self, answer: Answer, progress: Progress) -> None:
        self._answer = answer
        self._progress = progress
        self._reader = open_stream(answer)
        self._is_begun = False

    @property
    def schema(self) -> pa.Schema:
        return self._reader.schema

    @property
    def columns(self) -> list[str]:
        return list(self._reader.schema.names)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._is_begun:
            raise ValueError(
                "this stream was read already; without stream=True a result can be read as often as needed"
            )
        self._is_begun = True
        return self._batches()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            with self._progress:
                yield from read_batches(self._reader, self._answer, self._progress.add)
        finally:
            self.close()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, iter(self))
        return reader.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_batches(list(self), self.schema)

    def __repr__(self) -> str:
        state = ", which was read" if self._is_begun else ""
        return f"<framehold.Stream of {', '.join(self.columns)}{state}>"

    def close(self) -> None:
        """Ends it before its end."""
        self._answer.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _AnswerFile(io.RawIOBase):
    """The body of an answer, for pyarrow."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self._answer = answer
        self.error: BaseException | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return self._answer.read(size)
        except BaseException as error:
            # pyarrow makes an error of its own of it.
            self.error = error
            raise


def open_stream(answer: Answer) -> _Reader:
    if (answer.header("Content-Type") or ARROW_STREAM) != ARROW_STREAM:
        raise answer.unexpected()
    return _Reader(_AnswerFile(answer))


class _Reader:
    """A reader of pyarrow, whose errors are those of the connection where that broke."""

    def __init__(self, file: _AnswerFile) -> None:
        self._file = file
        self._reader = self._told(lambda: pa.ipc.open_stream(file))
        self.schema: pa.Schema = self._reader.schema

    def _told(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except (pa.ArrowException, OSError, EOFError) as error:
            if self._file.error is not None:
                raise self._file.error from None
            raise BrokenConnectionError(
                "the answer broke off: it is no whole Arrow stream", hint="ask again"
            ) from error

    def next(self) -> pa.RecordBatch | None:
        try:
            return self._told(self._reader.read_next_batch)
        except StopIteration:
            return None


def read_batches(reader: _Reader, answer: Answer, on_batch: Callable[[int, int], None]) -> Iterator[pa.RecordBatch]:
    try:
        while (batch := reader.next()) is not None:
            on_batch(batch.num_rows, batch.nbytes)
            yield batch
        # The bytes behind the end of the stream, so that the connection can be used again.
        answer.read()
    finally:
        answer.close()


def read_table(answer: Answer, progress: Progress) -> pa.Table:
    reader = open_stream(answer)
    with progress:
        return pa.Table.from_batches(list(read_batches(reader, answer, progress.add)), reader.schema)


def empty_table() -> pa.Table:
    columns: Sequence[Any] = []
    return pa.table(columns, schema=pa.schema([]))
