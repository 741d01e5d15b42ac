"""Requests to one server over HTTP, sent again where that is safe.

Rows go over HTTP too, and not over Flight: measured side by side on one machine (1,000,000 rows of six columns into
polars, ``select 1``, an append of ten rows, a put of 1,000,000 rows), neither is ahead by more than its own spread.
HTTP needs one port, one address and no gRPC, whose threads do not survive a fork; and every operation can use it.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Mapping
from enum import Enum, auto
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from socket import socket
from typing import Any, Protocol, TypeVar
from urllib.parse import quote, urlencode

from .address import Address, Credentials
from .answer import Answer, no_answer, refusal
from .pool import Abort, Pool, is_readable, unreachable
from .response import Response
from ..errors import (
    AuthUnavailableError,
    BrokenConnectionError,
    FrameholdError,
    NoAnswerError,
    OverloadedError,
    RateLimitedError,
    UnexpectedAnswerError,
    UnreachableError,
)

#: How long a request refused with Retry-After is tried again.
RETRY_SECONDS = 30.0
#: Pieces of a body up to this size are copied into one send.
SMALL_PIECE_BYTES = 65_536
#: Said before anything was done, so that any request may be sent again.
_REFUSED_AT_THE_DOOR = (RateLimitedError, OverloadedError, AuthUnavailableError)

Query = Mapping[str, str | int | bool | None]
T = TypeVar("T")


class Body(Protocol):
    """A body of any length. ``send`` raises StopSending where the answer is there already."""

    @property
    def is_repeatable(self) -> bool: ...

    def write_to(self, send: Callable[[bytes], None]) -> None: ...


class StopSending(Exception):
    """The answer came before the whole body was sent."""


class Repeat(Enum):
    """When a request is sent again. What is refused at the door, with Retry-After, always is."""

    #: It might be done twice.
    NEVER = auto()
    #: After a broken connection, a few times.
    BRIEFLY = auto()
    #: Also while no server is there, as long as the time for retries lasts.
    STEADILY = auto()


class Http:
    def __init__(self, address: Address, credentials: Credentials, timeout: float | None) -> None:
        self.address = address
        self.credentials = credentials
        self._timeout = timeout
        self._headers = credentials.headers
        self._pool = Pool(address, credentials.ssl_context() if address.is_tls else None)

    def close(self) -> None:
        self._pool.close()

    def json(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        *,
        parse: Callable[[Any], T],
        body: bytes | Body | None = None,
        headers: Mapping[str, str] | None = None,
        repeat: Repeat | None = None,
        retry_seconds: float = RETRY_SECONDS,
    ) -> T:
        """What ``parse`` makes of the JSON of an answer. One that breaks off is as one that did not come."""
        target, all_headers = self._target(path, query), {**self._headers, **(headers or {})}
        return _repeated(
            lambda: self._once(method, target, body, all_headers, self._timeout, None).json(parse),
            body,
            repeat or (Repeat.BRIEFLY if method == "GET" else Repeat.NEVER),
            retry_seconds,
        )

    def post_json(
        self, path: str, value: object, *, repeat: Repeat = Repeat.NEVER, timeout: float | None = None
    ) -> Answer:
        body = json.dumps(value, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        return self.request("POST", path, body=body, headers=headers, repeat=repeat, timeout=timeout)

    def request(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        *,
        body: bytes | Body | None = None,
        headers: Mapping[str, str] | None = None,
        repeat: Repeat = Repeat.NEVER,
        retry_seconds: float = RETRY_SECONDS,
        timeout: float | None = None,
        abort: Abort | None = None,
    ) -> Answer:
        """An answer of 2xx, whose body is still to be read; raises what the server says otherwise."""
        target, all_headers = self._target(path, query), {**self._headers, **(headers or {})}
        return _repeated(
            lambda: self._once(method, target, body, all_headers, timeout or self._timeout, abort),
            body,
            repeat,
            retry_seconds,
            abort,
        )

    def _once(
        self,
        method: str,
        target: str,
        body: bytes | Body | None,
        headers: Mapping[str, str],
        timeout: float | None,
        abort: Abort | None,
    ) -> Answer:
        connection = self._pool.connect()
        try:
            if abort is not None:
                abort.watch(connection.sock)
            connection.sock.settimeout(timeout)
            is_whole = _send(connection.sock, self._head(method, target, body, headers), body)
            response = Response(connection.sock)
        except TimeoutError as error:
            connection.close()
            raise no_answer(self.address) from error
        except (OSError, HTTPException) as error:
            connection.close()
            raise self._broken(error) from error
        except BaseException:
            connection.close()
            raise
        answer = Answer(self.address, connection, response, self._pool.keep if is_whole else None)
        if 200 <= response.status < 300:
            return answer
        raise refusal(self.address, answer)

    def _head(self, method: str, target: str, body: bytes | Body | None, headers: Mapping[str, str]) -> bytes:
        """Written here, so that a small body goes with it in one packet."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.address.netloc}", "Accept-Encoding: identity"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if isinstance(body, bytes):
            lines.append(f"Content-Length: {len(body)}")
        elif body is not None:
            lines.append("Transfer-Encoding: chunked")
        elif method != "GET":
            lines.append("Content-Length: 0")
        for line in lines:
            if not line.isascii() or not line.isprintable():
                raise ValueError(
                    f"{line.partition(':')[0]} cannot be sent: it has characters other than printable ASCII"
                )
        return "\r\n".join([*lines, "\r\n"]).encode("ascii")

    def _target(self, path: str, query: Query | None) -> str:
        pairs = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        target = f"{self.address.prefix}/{path}"
        return f"{target}?{urlencode(pairs, quote_via=quote)}" if pairs else target

    def _broken(self, error: Exception) -> FrameholdError:
        if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
            return unreachable(self.address, error)
        if isinstance(error, BadStatusLine) and not isinstance(error, RemoteDisconnected):
            return UnexpectedAnswerError(
                f"{self.address} does not answer with HTTP",
                hint="give the HTTP address of the server, with https:// where it has TLS",
            )
        return BrokenConnectionError(
            f"the connection to {self.address} broke before an answer came",
            hint="what was asked for may have happened: look before you ask again",
        )


def _send(sock: socket, head: bytes, body: bytes | Body | None) -> bool:
    """Whether all of it was sent. If not, the server may have said why before it closed."""
    try:
        if body is None or isinstance(body, bytes):
            whole = body or b""
            if len(whole) < SMALL_PIECE_BYTES:
                sock.sendall(head + whole)
            else:
                sock.sendall(head)
                sock.sendall(whole)
            return True
        sock.sendall(head)
        body.write_to(_chunks_to(sock))
        sock.sendall(b"0\r\n\r\n")
    except (StopSending, BrokenPipeError, ConnectionResetError):
        return False
    return True


def _chunks_to(sock: socket) -> Callable[[bytes], None]:
    # Over a new TLS connection the server sends session tickets, which look like an answer.
    may_look = not isinstance(sock, ssl.SSLSocket)

    def send(data: bytes) -> None:
        if may_look and is_readable(sock):
            raise StopSending
        head = b"%x\r\n" % len(data)
        pieces = (head + data + b"\r\n",) if len(data) < SMALL_PIECE_BYTES else (head, data, b"\r\n")
        for piece in pieces:
            sock.sendall(piece)

    return send


def _repeated(
    ask: Callable[[], T], body: bytes | Body | None, repeat: Repeat, retry_seconds: float, abort: Abort | None = None
) -> T:
    is_repeatable = body is None or isinstance(body, bytes) or body.is_repeatable
    give_up = time.monotonic() + retry_seconds
    attempt = 0
    while True:
        try:
            return ask()
        except FrameholdError as error:
            wait = _wait_before_retry(error, attempt, repeat)
            is_over = wait is None or time.monotonic() + wait > give_up
            if is_over or not is_repeatable or (abort is not None and abort.is_set):
                raise
        attempt += 1
        time.sleep(wait or 0)


def _wait_before_retry(error: FrameholdError, attempt: int, repeat: Repeat) -> float | None:
    """Seconds, or None where it is not tried again."""
    backoff: float = min(0.05 * 2 ** min(attempt, 10), 5.0)
    if isinstance(error, _REFUSED_AT_THE_DOOR):
        return backoff if error.retry_after is None else error.retry_after
    if repeat is Repeat.NEVER:
        return None
    if error.status == 503 and error.retry_after is not None:
        return error.retry_after
    if repeat is Repeat.STEADILY and isinstance(error, (UnreachableError, BrokenConnectionError, NoAnswerError)):
        return backoff
    return backoff if isinstance(error, BrokenConnectionError) and attempt < 3 else None


def _text(value: str | int | bool | None) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def segment(text: str) -> str:
    """A text as a part of a path."""
    return quote(text, safe="")
