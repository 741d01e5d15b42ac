"""The operations of a server that are one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from .._rows.data import ArrowBody, Data
from .._rows.files import FileBody, is_file
from .._rows.params import Params, encode_params
from .._rows.progress import Progress
from .._rows.result import Result, Stream, empty_table, read_table
from .._transport.address import Address
from .._transport.answer import Answer
from .._transport.http import Http, Repeat, segment
from . import types as _types
from .arguments import Mode, Rows, check_mode, exec_limit, exp_limit, rows_of, ttl_text
from .names import quote_column, quote_table
from .types import Engine, FrameInfo, Identity, Kept, Query, ServerInfo

#: The server takes 16 KiB of target and headers.
LONGEST_TARGET = 8_000
PAGE = 1000


class Operations:
    """What a connection and the verbs on it ask of a server."""

    def __init__(self, http: Http) -> None:
        self._http = http

    @property
    def address(self) -> Address:
        return self._http.address

    # Rows

    def put(self, name: str | None, data: Data, mode: Mode = "create", ttl: str | float | None = None) -> Kept:
        """Keeps rows as a frame. When this returns they are on the server's disk.

        :param name: the handle; with None the server makes one
        :param data: a frame of polars, pandas, pyarrow or DuckDB, anything with ``__arrow_c_stream__``, columns by name,
            rows as dicts, or an iterable of these, which is sent as it comes; or a ``pathlib.Path`` or open file of CSV,
            TSV, Parquet, Arrow, JSON or NDJSON, also packed with gzip or zstd
        :param mode: ``create`` fails if there is such a frame
        :param ttl: time to live, which each read renews: seconds, or ``90s``, ``15m``, ``12h``, ``7d``
        """
        check_mode(mode)
        with Progress(f"put {name or ''}".strip(), rows_of(data)) as progress:
            body = FileBody(data, progress.add) if is_file(data) else ArrowBody(data, progress.add)
            query = {
                "name": name,
                "overwrite": mode == "overwrite" or None,
                "append": mode == "append" or None,
                "ttl": ttl_text(ttl),
                "fmt": "json",
            }
            return self._http.json(
                "POST",
                "imp",
                query,
                parse=lambda told: _types.kept(told, "rowsImported"),
                body=body,
                headers={"Content-Type": body.media_type},
                repeat=Repeat.BRIEFLY if mode == "overwrite" else Repeat.NEVER,
            )

    @overload
    def get(
        self, name: str, columns: Sequence[str] | None = ..., rows: Rows | None = ..., *, stream: Literal[False] = ...
    ) -> Result: ...

    @overload
    def get(
        self, name: str, columns: Sequence[str] | None = ..., rows: Rows | None = ..., *, stream: Literal[True]
    ) -> Stream: ...

    def get(
        self, name: str, columns: Sequence[str] | None = None, rows: Rows | None = None, *, stream: bool = False
    ) -> Result | Stream:
        """The rows of a frame or view.

        :param columns: which, in this order
        :param rows: ``slice(10, 20)``, ``range(10, 20)`` or ``(10, 20)``, counted from 0; an end of None is the last row
        :param stream: rows as they come, to be read once, in place of all of them in memory
        """
        answer = self._open_frame(name, columns, rows)
        progress = Progress(f"get {name}")
        return Stream(answer, progress) if stream else Result(read_table(answer, progress))

    def _open_frame(self, name: str, columns: Sequence[str] | None = None, rows: Rows | None = None) -> Answer:
        if columns is not None and (isinstance(columns, str) or not columns):
            raise TypeError(f"columns is a list of names, and not {columns!r}")
        limit = exp_limit(rows)
        names = None if columns is None else ",".join(quote_column(column) for column in columns)
        if names is not None and len(names.encode()) * 3 > LONGEST_TARGET:
            # This many columns do not fit into a URL.
            body = {
                "sql": f"SELECT * FROM {quote_table(name)}",
                "cols": list(columns or ()),
                "limit": exec_limit(rows),
                "format": "arrow",
            }
            return self._http.post_json("sql", body, repeat=Repeat.BRIEFLY)
        return self._http.request(
            "GET", "exp", {"handle": name, "fmt": "arrow", "cols": names, "limit": limit}, repeat=Repeat.BRIEFLY
        )

    @overload
    def sql(
        self, text: str, params: Params | None = ..., *, engine: str | None = ..., settings: Mapping[str, Any] | None = ...,
        limit: int | None = ..., keep: None = ..., timeout: float | None = ..., stream: Literal[False] = ...,
    ) -> Result: ...  # fmt: skip

    @overload
    def sql(
        self, text: str, params: Params | None = ..., *, engine: str | None = ..., settings: Mapping[str, Any] | None = ...,
        limit: int | None = ..., keep: None = ..., timeout: float | None = ..., stream: Literal[True],
    ) -> Stream: ...  # fmt: skip

    @overload
    def sql(
        self, text: str, params: Params | None = ..., *, engine: str | None = ..., settings: Mapping[str, Any] | None = ...,
        limit: int | None = ..., keep: str, mode: Mode = ..., ttl: str | float | None = ..., timeout: float | None = ...,
    ) -> Kept: ...  # fmt: skip

    def sql(
        self,
        text: str,
        params: Params | None = None,
        *,
        engine: str | None = None,
        settings: Mapping[str, Any] | None = None,
        limit: int | None = None,
        keep: str | None = None,
        mode: Mode = "create",
        ttl: str | float | None = None,
        timeout: float | None = None,
        stream: bool = False,
    ) -> Result | Stream | Kept:
        """Runs one statement over the frames.

        :param params: a list for ``?`` and ``$1``, a dict for ``$name``
        :param engine: ``local``, the name of a cluster, or ``auto``
        :param settings: of this statement alone, such as ``{"TimeZone": "Europe/Berlin"}``
        :param limit: the first so many rows
        :param keep: the handle under which the rows are kept on the server, in place of being sent
        :param timeout: seconds within which the answer must begin, on the server too
        :param stream: rows as they come, to be read once
        """
        request: dict[str, object] = {"sql": text}
        given: dict[str, object] = {
            "params": encode_params(params),
            "engine": engine,
            "settings": settings,
            "limit": limit,
        }
        if timeout is not None:
            given["timeout_ms"] = max(1, round(timeout * 1000))
        if keep is not None:
            check_mode(mode)
            given["keep"] = {"handle": keep, "mode": mode, **({} if ttl is None else {"ttl": ttl})}
        else:
            request["format"] = "arrow"
        request.update({name: value for name, value in given.items() if value is not None})
        wait = None if timeout is None else timeout + 10
        answer = self._http.post_json("sql", request, timeout=wait)
        if keep is not None:
            return answer.json(lambda told: _types.kept(told, "rowsAdded"))
        engines = (answer.header("X-Framehold-Engine"), answer.header("X-Framehold-Engine-Reason"))
        if answer.is_json:
            # A statement without rows.
            updated = answer.json(lambda told: told.get("updated"))
            return Result(empty_table(), updated=updated, engine=engines[0], engine_reason=engines[1])
        progress = Progress("sql")
        return (
            Stream(answer, progress)
            if stream
            else Result(read_table(answer, progress), engine=engines[0], engine_reason=engines[1])
        )

    # Frames

    def handles(self, prefix: str | None = None) -> list[FrameInfo]:
        """The frames and views, in order of their names."""
        found: list[FrameInfo] = []
        after: str | None = None
        while True:
            query = {"prefix": prefix, "limit": PAGE, "after": after}
            page, after = self._http.json("GET", "handles", query, parse=_types.page_of_frames)
            found += page
            if after is None:
                return found

    def info(self, name: str) -> FrameInfo:
        return self._http.json("GET", f"handles/{segment(name)}", parse=_types.frame_info)

    def drop(self, name: str, version: int | None = None) -> None:
        """With ``version`` only while the frame is at that version."""
        headers = None if version is None else {"If-Match": f'"{version}"'}
        self._http.json("DELETE", f"handles/{segment(name)}", headers=headers, parse=_types.done)

    def renew(self, name: str, ttl: str | float | None = "") -> FrameInfo:
        """Starts the time to live again; with ``ttl`` another one, with None none."""
        query = {} if ttl == "" else {"ttl": "none" if ttl is None else ttl_text(ttl)}
        return self._http.json("POST", f"handles/{segment(name)}/renew", query, parse=_types.frame_info)

    def share(self, name: str, tenant: str) -> None:
        """Lets another tenant read the frame, as ``owner/name``."""
        self._http.json("PUT", f"handles/{segment(name)}/shares/{segment(tenant)}", parse=_types.done)

    def unshare(self, name: str, tenant: str) -> None:
        self._http.json("DELETE", f"handles/{segment(name)}/shares/{segment(tenant)}", parse=_types.done)

    def shares(self, name: str) -> list[str]:
        """The tenants that may read the frame."""
        return self._http.json("GET", f"handles/{segment(name)}/shares", parse=_types.shares)

    # The server

    def queries(self) -> list[Query]:
        """The statements that are under way, the oldest first."""
        return self._http.json("GET", "queries", parse=lambda told: [_types.query(each) for each in told["queries"]])

    def cancel(self, id: str) -> None:
        """Stops a statement: its ``id`` stands in ``queries()``."""
        self._http.json("DELETE", f"queries/{segment(id)}", parse=_types.done)

    def engines(self) -> list[Engine]:
        return self._http.json("GET", "engines", parse=lambda told: [_types.engine(each) for each in told["engines"]])

    def whoami(self) -> Identity:
        return self._http.json("GET", "whoami", parse=_types.identity)

    def server(self) -> ServerInfo:
        return self._http.json("GET", "info", parse=lambda told: _types.server_info(told, self.address.host))
