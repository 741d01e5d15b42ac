"""Answers of HTTP/1.1 in every form that servers and proxies give them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import framehold
from framehold import errors

BODY = b'{"queries":[]}'


@contextmanager
def answering(answer: bytes, times: int) -> Iterator[tuple[framehold.Connection, list[int]]]:
    """A server that gives the same bytes to so many requests of each connection, and then closes it; and what each connection asked."""
    asked: list[int] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            asked.append(0)
            with connection:
                for _ in range(times):
                    if b"\r\n\r\n" not in connection.recv(65_536):
                        break
                    asked[-1] += 1
                    connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with framehold.connect(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=10) as server:
            yield server, asked
    finally:
        # Wakes the thread, too.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(BODY)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n" + LENGTH + BODY,
        b"HTTP/1.1 200\r\ncontent-LENGTH:%d  \r\nX: \xff: y\r\n\r\n" % len(BODY) + BODY,
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n" + LENGTH + BODY,
        b"HTTP/1.1 200 OK\n" + LENGTH.replace(b"\r", b"") + BODY,
        CHUNKED + b"E\r\n" + BODY + b"\r\n0\r\n\r\n",
        CHUNKED + b'1;of="x"\r\n{\r\n00d\r\n' + BODY[1:] + b"\r\n0\r\nTrailer: x\r\n\r\n",
    ],
    ids=["length", "odd headers", "early hints", "line feeds", "one chunk", "chunks"],
)
def test_a_connection_serves_again_when_its_answer_is_read(answer: bytes) -> None:
    with answering(answer, 3) as (server, asked):
        for _ in range(3):
            assert server.queries() == []
        assert asked == [3]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n\r\n" + BODY,
        b"HTTP/1.0 200 OK\r\n" + LENGTH + BODY,
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\n" + LENGTH + BODY,
    ],
    ids=["no length", "HTTP/1.0", "close"],
)
def test_a_connection_that_ends_with_its_answer_is_not_used_again(answer: bytes) -> None:
    with answering(answer, 1) as (server, asked):
        for _ in range(2):
            assert server.queries() == []
        assert asked == [1, 1]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + BODY,
        CHUNKED + b"E\r\n" + BODY[:5],
        CHUNKED + b"E\r\n" + BODY + b"\r\n",
        CHUNKED + b"-1\r\n" + BODY,
        CHUNKED + b"no number\r\n" + BODY,
        b"HTT",
        b"HTTP/1.1 ",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n" + BODY,
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + LENGTH + BODY,
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n" + LENGTH + BODY,
        b"",
    ],
    ids=["short", "in a chunk", "no last chunk", "less than none", "no size", "in HTTP", "in the status", "in headers", "no header", "many", "long", "nothing"],
)  # fmt: skip
def test_an_answer_that_is_not_whole_is_an_error(answer: bytes) -> None:
    with answering(answer, 1) as (server, _), pytest.raises(errors.BrokenConnectionError):
        server.queries()
