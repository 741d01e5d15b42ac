"""Errors as classes, and what is tried again."""

from __future__ import annotations

import http.server
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import RemoteDisconnected
from pathlib import Path

import pyarrow as pa
import pytest
from proxy import CuttingProxy

import framehold
from framehold import errors
from framehold._transport.response import Response

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "errors.md"
#: Failures on the way to the server.
OWN = {"unreachable", "broken_connection", "no_answer", "unexpected_answer"}


def test_there_is_a_class_for_each_code_of_the_reference_and_no_other() -> None:
    codes = set(re.findall(r"^\| `(\w+)` \| \d+ \|", REFERENCE.read_text(encoding="utf-8"), re.M))
    classes = {kind.default_code for kind in errors.FrameholdError.__subclasses__()}
    assert classes - OWN == codes
    for kind in errors.FrameholdError.__subclasses__():
        words = (kind.default_code or "").removesuffix("_error").split("_")
        assert kind.__name__ == "".join(word.capitalize() for word in words) + "Error"
        assert errors.error_class(kind.default_code) is kind
    assert errors.error_class("a_code_of_tomorrow") is errors.FrameholdError


def test_an_error_tells_all_that_the_server_says(server: framehold.Connection) -> None:
    with pytest.raises(errors.SqlError) as raised:
        server.sql("SELECT '😀', prise FROM range(1)")
    error = raised.value
    assert (error.code, error.status, error.position) == ("sql_error", 400, 13)
    assert error.request_id
    with pytest.raises(errors.HandleNotFoundError, match="no frame is held as nowhere"):
        server.get("nowhere")


def test_hints_are_in_the_words_of_the_package(
    server: framehold.Connection, name: str, secure_url: str, secure_folder: Path
) -> None:
    server.put(name, {"n": [1]})
    with pytest.raises(errors.HandleExistsError) as raised:
        server.put(name, {"n": [1]})
    assert raised.value.hint == 'choose another handle, or say mode="overwrite" or mode="append"'
    with pytest.raises(errors.SchemaMismatchError) as mismatch:
        server.put(name, {"m": ["x"]}, mode="append")
    assert 'mode="overwrite" replaces the frame' in (mismatch.value.hint or "")
    nobody = framehold.connect(secure_url, ca=secure_folder / "ca.crt")
    with nobody, pytest.raises(errors.UnauthenticatedError) as unknown:
        nobody.handles()
    assert unknown.value.hint == "give one: connect(…, token=…), or FRAMEHOLD_TOKEN"


def test_an_error_of_a_verb_names_the_frame_and_not_its_alias(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [1], "m": [2]})
    frame = server.frame(name)
    with pytest.raises(errors.SqlError, match=f'column "nn" not found in {name}; did you mean "n"') as raised:
        frame.filter(framehold.col("nn") > 1).collect()
    assert raised.value.args == (raised.value.message,)
    with pytest.raises(errors.SqlError, match='column "m" not found$'):
        frame.group_by("n").agg(framehold.count()).filter(framehold.col("m") > 1).keep("other")
    with pytest.raises(errors.SqlError, match='column "k" not found$'):
        frame.join(frame, on="k").collect()
    with pytest.raises(TypeError, match=r"such as col\(.symbol.\) == .x., and not the text 'n = 1'"):
        frame.filter("n = 1")  # type: ignore[arg-type]


def test_no_server_is_told_at_once(server: framehold.Connection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    start = time.monotonic()
    with framehold.connect(f"http://127.0.0.1:{port}") as nobody:
        with pytest.raises(errors.UnreachableError, match="no server answers") as raised:
            nobody.handles()
        assert (raised.value.code, raised.value.status) == ("unreachable", None)
        assert "framehold server" in (raised.value.hint or "")
    with framehold.connect("http://no-such-host.invalid:9000") as nowhere, pytest.raises(errors.UnreachableError):
        nowhere.handles()
    assert time.monotonic() - start < 20


@contextmanager
def answering(answer: Callable[[http.server.BaseHTTPRequestHandler, int], None]) -> Iterator[str]:
    """A server that answers as the test says; it is told how many requests came before."""
    count = -1

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            nonlocal count
            count += 1
            answer(self, count)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{listener.server_address[1]}"
        listener.shutdown()
        thread.join()


def send(handler: http.server.BaseHTTPRequestHandler, status: int, text: str, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(text)), "Content-Type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(text.encode())


def test_what_is_no_framehold_is_told(server: framehold.Connection) -> None:
    answers = {
        "html": lambda handler, count: send(handler, 404, "<h1>not found</h1>"),
        "json": lambda handler, count: send(handler, 500, "[1]"),
        "other": lambda handler, count: send(handler, 200, '{"name":"something else"}'),
        "text": lambda handler, count: send(handler, 200, "not json"),
        "ssh": lambda handler, count: handler.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n"),
    }
    for answer in answers.values():
        with answering(answer) as url, framehold.connect(url) as stranger:
            with pytest.raises(errors.UnexpectedAnswerError, match=re.escape(url)):
                stranger.server()


@pytest.mark.parametrize("text", ["[]", "null", "1", '"text"', "{}", '{"name":"framehold"}', '{"queries":[{}],"handles":[{}]}'])
@pytest.mark.parametrize("status", [200, 500])
def test_json_of_another_form_is_an_error_of_this_package(text: str, status: int) -> None:
    def ask(server: framehold.Connection) -> Iterator[Callable[[], object]]:
        yield from (server.queries, server.handles, server.engines, server.whoami, server.server)
        yield from (lambda: server.info("x"), lambda: server.renew("x"), lambda: server.shares("x"))
        yield from (lambda: server.put("x", {"n": [1]}), lambda: server.append("x").write(pa.table({"n": [1]})))
        yield from (lambda: server.get("x"), lambda: server.sql("SELECT 1", keep="x"), lambda: next(server.follow("x")))
        if text != "{}" and not text.startswith('{"'):
            yield from (lambda: server.sql("SELECT 1"), lambda: server.drop("x"), lambda: server.cancel("x"))

    with answering(lambda handler, count: send(handler, status, text)) as url, framehold.connect(url) as stranger:
        for operation in ask(stranger):
            with pytest.raises(errors.UnexpectedAnswerError, match=re.escape(url)):
                operation()


def test_an_error_code_that_is_no_text_is_an_error_of_this_package() -> None:
    answer = '{"error":"no","code":[]}'
    with answering(lambda handler, count: send(handler, 400, answer)) as url, framehold.connect(url) as stranger:
        with pytest.raises(errors.UnexpectedAnswerError):
            stranger.queries()


def test_what_is_refused_with_retry_after_is_tried_again(server: framehold.Connection) -> None:
    def busy(handler: http.server.BaseHTTPRequestHandler, count: int) -> None:
        if count < 2:
            code, status = ("rate_limited", 429) if count == 0 else ("overloaded", 503)
            send(handler, status, f'{{"error":"busy","code":"{code}"}}', Retry_After="0")
        else:
            send(handler, 200, '{"queries":[]}')

    with answering(busy) as url, framehold.connect(url) as server:
        assert server.queries() == []


def test_a_wait_that_is_too_long_is_an_error(server: framehold.Connection) -> None:
    def busy(handler: http.server.BaseHTTPRequestHandler, count: int) -> None:
        send(handler, 503, '{"error":"busy","code":"overloaded"}', Retry_After="3600")

    with answering(busy) as url, framehold.connect(url) as server:
        with pytest.raises(errors.OverloadedError) as raised:
            server.queries()
        assert raised.value.retry_after == 3600


def test_a_server_that_says_nothing_ends_in_time(server: framehold.Connection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with framehold.connect(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2) as server:
            with pytest.raises(errors.NoAnswerError):
                server.handles()


def test_a_read_is_repeated_after_a_broken_connection_and_a_write_is_not(
    server: framehold.Connection, url: str, name: str
) -> None:
    with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as broken:
        proxy.cut_answers = 1
        broken.handles("none")
        proxy.cut_answers = 1
        with pytest.raises(errors.BrokenConnectionError, match="may have happened"):
            broken.sql(f"CREATE TABLE {name} AS SELECT 1 AS n")
        assert server.get(name)["n"] == [1]
        proxy.cut_answers = 1
        broken.put(name, {"n": [2]}, mode="overwrite")
    assert server.get(name)["n"] == [2]


def test_an_answer_that_is_cut_is_never_taken_for_whole(server: framehold.Connection, url: str, name: str) -> None:
    server.put(name, {"n": list(range(1_000_000))})
    for cut in (100, 10_000, 1_000_000, 4_000_000):
        with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as broken:
            proxy.cut_after = cut
            with pytest.raises(errors.BrokenConnectionError):
                broken.sql(f"SELECT * FROM {name}")


def test_a_connection_that_the_server_closed_meanwhile_is_not_used(server: framehold.Connection, url: str) -> None:
    with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as broken:
        for _ in range(5):
            assert broken.sql("SELECT 1 AS n")["n"] == [1]
            proxy.cut_all()


def test_a_closed_connection_says_so(url: str) -> None:
    server = framehold.connect(url)
    server.handles("none")
    server.close()
    with pytest.raises(ValueError, match="closed"):
        server.handles()


def test_a_connection_that_breaks_before_an_answer_is_closed() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    # Held, as by a debugger: nothing waits for the garbage collector.
    with pytest.raises(RemoteDisconnected) as raised:
        Response(ours)
    number = ours.fileno()
    ours.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)
    assert raised.value is not None
