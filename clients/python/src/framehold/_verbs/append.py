"""Rows that are added to a frame, exactly once, also over a connection that breaks."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .._rows.data import ARROW_STREAM, is_rows, stream_bytes, to_reader, to_table
from .._rows.progress import Progress
from .._rows.result import Stream, read_table
from .._transport.http import Query, Repeat
from .operations import Operations
from ..errors import BrokenConnectionError, FrameholdError, HandleGoneError, HandleNotFoundError, SchemaMismatchError


@dataclass(frozen=True)
class Ack:
    """Rows that are on the server's disk, and that every reader finds."""

    #: The number of the append among those of its producer, from 0.
    seq: int
    rows: int
    #: Of the frame, with these rows.
    version: int
    #: The server had these rows already from an attempt whose answer was lost.
    repeated: bool


@dataclass(frozen=True)
class _Unacknowledged:
    body: bytes
    rows: int


class Appender:
    """Writes to one frame. Use it in a ``with``: behind that all rows are on the server's disk, or an error was raised.

    Each ``write`` is one append: whole or not at all, behind those before it. It carries the number that the producer
    counts, so that the server knows one that is sent again after a broken connection. It is sent again for up to
    ``retry_seconds``. Where even that does not help, ``write`` raises, and the rows wait for ``flush()``.
    """

    def __init__(
        self,
        connection: Operations,
        name: str,
        *,
        ttl: str | float | None = None,
        buffer_rows: int = 0,
        producer: str | None = None,
        epoch: int | None = None,
        retry_seconds: float = 30.0,
    ) -> None:
        self._connection = connection
        self._name = name
        self._query: Query = {"name": name, "append": True, "fmt": "json", "ttl": None if ttl is None else str(ttl)}
        self._buffer_rows = buffer_rows
        self._retry_seconds = retry_seconds
        self._producer = producer if producer is not None else str(uuid.uuid4())
        # A producer that starts again must count on from a later epoch.
        self._epoch = epoch if epoch is not None else time.time_ns() // 1_000_000
        self._seq = 0
        self._schema: pa.Schema | None = None
        self._is_schema_known = False
        self._buffered: list[pa.Table] = []
        self._unacknowledged: _Unacknowledged | None = None
        self._is_closed = False

    def write(self, data: Any) -> Ack | None:
        """Appends rows: what ``Connection.put`` takes. Of a stream or an iterable each batch is an append of its own.

        Gives the last acknowledgement; None where all rows wait in the buffer (``buffer_rows``).
        """
        if self._is_closed:
            raise ValueError("this appender is closed")
        if self._unacknowledged is not None:
            raise ValueError("the rows of an earlier write are not acknowledged yet: flush() sends them again")
        ack = None
        for table in self._tables(data):
            if table.num_rows < self._buffer_rows:
                ack = self._buffer(table) or ack
            else:
                ack = self.flush() or ack
                ack = self._send(table)
        return ack

    def flush(self) -> Ack | None:
        """Sends what waits: buffered rows, and those whose write failed. None where there are none."""
        ack = self._deliver() if self._unacknowledged is not None else None
        if not self._buffered:
            return ack
        tables, self._buffered = self._buffered, []
        return self._send(pa.concat_tables(tables))

    def close(self) -> None:
        if not self._is_closed:
            self.flush()
            self._is_closed = True

    def __enter__(self) -> Appender:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self.close()
        # Behind an error it is unknown whether buffered rows are still wanted.
        self._is_closed = True

    def _tables(self, data: Any) -> Iterable[pa.Table]:
        if is_rows(data):
            yield self._from_rows(data)
        elif isinstance(data, pa.Table):
            yield data
        elif isinstance(data, (pa.RecordBatchReader, Stream)):
            for batch in to_reader(data):
                yield pa.Table.from_batches([batch])
        elif (
            hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") or not isinstance(data, Iterable)
        ):
            yield to_reader(data).read_all()
        else:
            for piece in data:
                yield from self._tables(piece)

    def _from_rows(self, rows: Any) -> pa.Table:
        if not self._is_schema_known:
            self._schema, self._is_schema_known = self._frame_schema(), True
        table = to_table(rows, self._schema)
        self._schema = table.schema
        return table

    def _frame_schema(self) -> pa.Schema | None:
        """None where there is no frame yet."""
        query: Query = {"handle": self._name, "fmt": "arrow", "limit": "0,0"}
        give_up = time.monotonic() + self._retry_seconds
        while True:
            try:
                answer = self._connection._http.request(
                    "GET", "exp", query, repeat=Repeat.STEADILY, retry_seconds=self._retry_seconds
                )
                return read_table(answer, Progress("append")).schema.remove_metadata()
            except (HandleNotFoundError, HandleGoneError):
                return None
            except BrokenConnectionError:
                if time.monotonic() > give_up:
                    raise

    def _buffer(self, table: pa.Table) -> Ack | None:
        if self._buffered and not table.schema.equals(self._buffered[0].schema):
            table = table.cast(self._buffered[0].schema)
        self._buffered.append(table)
        return self.flush() if sum(part.num_rows for part in self._buffered) >= self._buffer_rows else None

    def _send(self, table: pa.Table) -> Ack:
        self._unacknowledged = _Unacknowledged(stream_bytes(table), table.num_rows)
        return self._deliver()

    def _deliver(self) -> Ack:
        waiting = self._unacknowledged
        assert waiting is not None
        headers = {
            "Content-Type": ARROW_STREAM,
            "Producer-Id": self._producer,
            "Producer-Epoch": str(self._epoch),
            "Producer-Seq": str(self._seq),
        }
        try:
            ack = self._connection._http.json(
                "POST",
                "imp",
                self._query,
                parse=lambda told: Ack(self._seq, waiting.rows, told["version"], told.get("repeated", False)),
                body=waiting.body,
                headers=headers,
                repeat=Repeat.STEADILY,
                retry_seconds=self._retry_seconds,
            )
        except FrameholdError as error:
            if error.status is not None and 400 <= error.status < 500 and error.status != 429:
                # The rows themselves were refused: none was stored, and the number is free.
                self._unacknowledged = None
                self._is_schema_known = self._is_schema_known and not isinstance(error, SchemaMismatchError)
            raise
        self._unacknowledged = None
        self._seq += 1
        return ack
