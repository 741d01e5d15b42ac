"""Operations of the package `framehold`, and bare requests that ask the server for the same, in one process."""

import http.client
import json
import time
from urllib.parse import quote

import framehold
import polars
import pyarrow as pa
from polars.testing import assert_frame_equal
from pyarrow import flight

from ask_loop import serve
from quantiles import quantile

ARROW_STREAM = "application/vnd.apache.arrow.stream"
SELECT_BODY = json.dumps({"sql": "select 1", "format": "arrow"}).encode()
#: Ten rows, as a program that collects them has them.
TICKS = [{"symbol": "BTC-USD", "price": 100 + n / 8, "size": n, "good": n % 2 == 0} for n in range(10)]

open_now = {}


def open_server(host, port, grpc_uri):
    """Connections are kept: opening one is not what is measured."""
    open_now["package"] = framehold.connect(f"http://{host}:{port}")
    open_now["http"] = http.client.HTTPConnection(host, port)
    open_now["flight"] = flight.connect(grpc_uri)


def http_post(path, body, content_type):
    connection = open_now["http"]
    connection.request("POST", path, body, {"Content-Type": content_type})
    response = connection.getresponse()
    answer = response.read()
    if response.status != 200:
        raise RuntimeError(answer[:300].decode())
    return answer


def get_by_package(handle):
    return open_now["package"].get(handle).to_polars()


def get_by_flight(handle):
    return polars.from_arrow(open_now["flight"].do_get(flight.Ticket(handle.encode())).read_all())


def sql_by_package():
    return open_now["package"].sql("select 1").to_arrow()


def sql_by_http():
    return pa.ipc.open_stream(http_post("/sql", SELECT_BODY, "application/json")).read_all()


def sql_by_flight():
    return open_now["flight"].do_get(flight.Ticket(b"select 1")).read_all()


def append_by_package(handle):
    appender = open_now.get(handle) or open_now.setdefault(handle, open_now["package"].append(handle))
    return appender.write(TICKS).rows


def append_by_http(handle):
    body = open_now.get("ticks") or open_now.setdefault("ticks", stream_of(pa.Table.from_pylist(TICKS)))
    told = http_post(f"/imp?name={quote(handle)}&append=true&fmt=json", body, ARROW_STREAM)
    return json.loads(told)["rowsImported"]


def stream_of(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


operations = {
    "get": {"package": get_by_package, "flight": get_by_flight},
    "sql": {"package": sql_by_package, "http": sql_by_http, "flight": sql_by_flight},
    "append": {"package": append_by_package, "http": append_by_http},
}


def measure(operation, way, count, handles):
    """One after another. `handles`: those that the operation takes, by the way."""
    run, arguments = operations[operation][way], handles.get(way, [])
    # The server closes a connection that is idle for ten seconds. The first request opens another.
    open_now["http"].close()
    times = []
    for _ in range(count):
        started = time.perf_counter()
        # Its memory is given back within the time, as it would be.
        run(*arguments)
        times.append(time.perf_counter() - started)
    return {"p50Ms": 1000 * quantile(times, 0.5), "p99Ms": 1000 * quantile(times, 0.99), "requests": count}


def same_answers(operation, handles):
    """Raises where one way gives another answer than the package. Says what it is like."""
    answers = [run(*handles.get(way, [])) for way, run in operations[operation].items()]
    for other in answers[1:]:
        if isinstance(other, polars.DataFrame):
            assert_frame_equal(answers[0], other)
        elif isinstance(other, pa.Table):
            if answers[0].to_pydict() != other.to_pydict():
                raise RuntimeError(f"{answers[0]} is not {other}")
        elif answers[0] != other:
            raise RuntimeError(f"{answers[0]} is not {other}")
    frame = answers[0]
    return f"{frame} rows" if isinstance(frame, int) else f"{len(frame):,} rows of {len(frame.columns)} columns"


def same_frames(handles):
    """Raises where the frames that were appended to have other rows."""
    first, second = (open_now["package"].get(handle).to_polars() for handle in handles)
    assert_frame_equal(first, second)
    return len(first)


serve({"open_server": open_server, "measure": measure, "same_answers": same_answers, "same_frames": same_frames})
