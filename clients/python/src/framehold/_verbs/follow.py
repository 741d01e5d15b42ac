"""The rows of a frame, and those that come."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

import pyarrow as pa

from .._rows.result import open_stream, read_batches
from .._transport.answer import Answer
from .._transport.http import Repeat, segment
from .._transport.pool import Abort
from .names import quote_column
from .operations import Operations
from ..errors import BrokenConnectionError, FrameholdError, NoAnswerError

WAIT_SECONDS = 30
#: Of an answer while there is much to catch up with, and how many times longer each may be than the one before.
ANSWER_BYTES = 32 * 1024 * 1024
ANSWER_GROWTH = 100
MOST_ROWS = 1_000_000
MOST_BROKEN_ANSWERS = 10


class Follower:
    """Record batches as they come: ``for batch in follower``, or ``async for batch in follower``.

    It goes on after a broken connection, at the row where it was. It raises HandleGoneError when the frame was dropped
    or its rows were replaced. ``close()`` it, or use it in a ``with``.
    """

    def __init__(
        self,
        connection: Operations,
        name: str,
        *,
        start: int | Literal["end"] = 0,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        lineage: str | None = None,
        retry_seconds: float = 300.0,
    ) -> None:
        if not (start == "end" or (isinstance(start, int) and start >= 0)):
            raise ValueError(f"start is {start!r}; it is the number of a row, from 0, or 'end'")
        self._http = connection._http
        self._name = name
        self._path = f"handles/{segment(name)}/rows"
        names = None if columns is None else ",".join(quote_column(column) for column in columns)
        self._query = {"fmt": "arrow", "live": "long-poll", "columns": names, "where": where}
        self._retry_seconds = retry_seconds
        self._abort = Abort()
        #: Each with the number of the row behind it.
        self._batches: deque[tuple[pa.RecordBatch, int]] = deque()
        self._ahead: int | Literal["end"] = start
        self._pending: asyncio.Future[bool] | None = None
        self._is_begun = False
        #: Rows of the next answer; None: the server's default.
        self._limit: int | None = None
        #: The number of the row behind the returned ones: the ``start`` of another follower that continues here.
        self.next_row: int | Literal["end"] = start
        #: Of the frame: stays while it grows, and changes when its rows are replaced.
        self.lineage = lineage
        if start == "end":
            # That of now, and not of when the first row is asked for.
            self._fetch()

    def __iter__(self) -> Follower:
        return self

    def __next__(self) -> pa.RecordBatch:
        while not self._batches:
            if not self._fetch():
                raise StopIteration
        return self._take()

    def __aiter__(self) -> Follower:
        return self

    async def __anext__(self) -> pa.RecordBatch:
        while not self._batches:
            if self._pending is None:
                self._pending = _in_thread(self._fetch)
            pending = self._pending
            try:
                # A cancelled call loses no rows: the next one waits for the same answer.
                is_open = await asyncio.shield(pending)
            finally:
                if pending.done():
                    self._pending = None
            if not is_open:
                raise StopAsyncIteration
        return self._take()

    def close(self) -> None:
        """Ends it, also while another thread waits for rows."""
        self._abort.set()

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Follower:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        at = "its end" if self.next_row == "end" else f"row {self.next_row:,}"
        return f"<framehold.Follower of {self._name} at {at}>"

    def __del__(self) -> None:
        if hasattr(self, "_abort"):
            self._abort.set()

    def _take(self) -> pa.RecordBatch:
        batch, self.next_row = self._batches.popleft()
        return batch

    def _fetch(self) -> bool:
        """Waits for rows, or half a minute. False when it was closed."""
        for attempt in range(MOST_BROKEN_ANSWERS):
            try:
                if not self._abort.is_set:
                    self._read(self._ask())
                    return True
            except FrameholdError as error:
                is_broken = isinstance(error, (BrokenConnectionError, NoAnswerError))
                if not self._abort.is_set and (not is_broken or attempt == MOST_BROKEN_ANSWERS - 1):
                    raise
            if self._abort.is_set:
                break
            time.sleep(min(0.05 * 2**attempt, 5.0))
        return False

    def _ask(self) -> Answer:
        # The first answer gives the frame's place, and comes at once.
        wait = WAIT_SECONDS if self._is_begun else 0
        query = {
            **self._query,
            "from": self._ahead,
            "lineage": self.lineage,
            "wait": f"{wait}s",
            "limit": self._limit,
        }
        return self._http.request(
            "GET",
            self._path,
            query,
            repeat=Repeat.STEADILY,
            retry_seconds=self._retry_seconds,
            timeout=wait + 30,
            abort=self._abort,
        )

    def _read(self, answer: Answer) -> None:
        position = answer.header("Next-Row") or ""
        if not position.isdecimal():
            raise answer.unexpected()
        batches: list[pa.RecordBatch] = []
        if answer.status == 204:
            answer.read()
        else:
            batches += read_batches(open_stream(answer), answer, lambda rows, size: None)
        if self._query["where"] is not None and len(batches) > 1:
            # The rows left out between two batches are unknown.
            batches = pa.Table.from_batches(batches).combine_chunks().to_batches()
        start, self._ahead = self._ahead, int(position)
        size = sum(batch.nbytes for batch in batches)
        is_behind = answer.header("Up-To-Date") == "false"
        self._limit = _next_limit(self._ahead - start, size) if is_behind and start != "end" else None
        behind = self._ahead
        self.lineage, self._is_begun = answer.header("Lineage"), True
        for batch in reversed([batch for batch in batches if batch.num_rows > 0]):
            self._batches.appendleft((batch, behind))
            behind -= batch.num_rows
        if not self._batches:
            self.next_row = behind


def _next_limit(rows: int, size: int) -> int:
    """``rows``, with the number of their bytes, are what the last answer brought."""
    return max(1, min(rows * ANSWER_BYTES // max(size, 1), rows * ANSWER_GROWTH, MOST_ROWS))


def _in_thread(work: Callable[[], bool]) -> asyncio.Future[bool]:
    """In a thread that nothing waits for when the program ends, unlike those of an executor."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bool] = loop.create_future()

    def settle(value: bool, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)

    def run() -> None:
        value, failure = False, None
        try:
            value = work()
        except BaseException as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=run, name="framehold-follow", daemon=True).start()
    return future
