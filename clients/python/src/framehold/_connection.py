"""The connection: every operation of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ._transport.address import PathText, find_server
from ._transport.http import Http
from ._verbs.append import Appender
from ._verbs.follow import Follower
from ._verbs.frame import Frame, frame
from ._verbs.operations import Operations

if TYPE_CHECKING:
    import polars


def connect(
    url: str | None = None,
    *,
    token: str | None = None,
    tenant: str | None = None,
    ca: PathText | None = None,
    cert: PathText | None = None,
    key: PathText | None = None,
    timeout: float | None = 300.0,
) -> Connection:
    """A connection to the server at ``http(s)://host:port``. Nothing is sent before the first operation.

    What is not given is found where the command line finds it: ``FRAMEHOLD_SERVER``, ``FRAMEHOLD_TOKEN``, the section
    ``[client]`` of ``~/.framehold/config.toml``, and ``http://127.0.0.1:9000``.

    :param tenant: in which an operator acts
    :param ca: file with the authorities to trust, as PEM; without it, those of the system
    :param cert: file with the certificate to show, as PEM, and ``key``, its private key
    :param timeout: seconds to wait for the server to send something; None waits for ever
    """
    address, credentials = find_server(url, token=token, tenant=tenant, ca=ca, cert=cert, key=key)
    return Connection(Http(address, credentials, timeout))


class Connection(Operations):
    """A server. Threads may share it; ``close()`` it, or use it in a ``with``."""

    def scan(self, name: str) -> polars.LazyFrame:
        """A frame as a LazyFrame of Polars. The server is asked only for the columns that a query needs, for the first
        rows where those suffice, and for rows for which simple conditions hold. ``framehold.explain`` tells which.
        """
        from ._verbs.scan import scan

        return scan(self, name)

    def frame(self, name: str) -> Frame:
        """A frame for verbs in place of SQL: ``server.frame("trades").filter(col("price") > 100).limit(10).collect()``."""
        return frame(self, name)

    def append(
        self,
        name: str,
        *,
        ttl: str | float | None = None,
        buffer_rows: int = 0,
        producer: str | None = None,
        epoch: int | None = None,
        retry_seconds: float = 30.0,
    ) -> Appender:
        """A writer of rows to a frame, which is made if it is not there: ``with server.append("ticks") as ticks: ticks.write(rows)``.

        :param buffer_rows: rows of small writes are collected until there are so many, and sent together
        :param producer: a name that the server counts under; without it each appender has one of its own
        :param epoch: a later one shuts out earlier appenders of the same producer; without it the time of now
        :param retry_seconds: how long a write is tried again where no answer comes
        """
        return Appender(
            self, name, ttl=ttl, buffer_rows=buffer_rows, producer=producer, epoch=epoch, retry_seconds=retry_seconds
        )

    def follow(
        self,
        name: str,
        start: int | Literal["end"] = 0,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        lineage: str | None = None,
        retry_seconds: float = 300.0,
    ) -> Follower:
        """Record batches of a frame as rows come, for ``for`` and ``async for``.

        :param start: the number of the first row, or ``end``: only rows that come from now on
        :param where: only rows for which this predicate of SQL holds, such as ``price > 10``
        :param lineage: that of an earlier follower: raises HandleGoneError if the rows were replaced since
        :param retry_seconds: how long a lost server is looked for
        """
        return Follower(
            self, name, start=start, columns=columns, where=where, lineage=lineage, retry_seconds=retry_seconds
        )

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<framehold.Connection to {self.address}>"
