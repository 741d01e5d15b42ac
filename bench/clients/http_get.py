"""Gets a table over HTTP: how long it takes to the last byte, and what it holds."""

import http.client
import io
import tempfile
import time

import duckdb
import pyarrow.ipc
import pyarrow.parquet

from ask_loop import serve
from checksums import checksums

piece_bytes = 1 << 20
types = "{timestamp: TIMESTAMP, symbol: VARCHAR, side: VARCHAR, price: DOUBLE, amount: DOUBLE, id: BIGINT}"


def get(host, port, path, accept):
    connection = http.client.HTTPConnection(host, port)
    connection.connect()
    started = time.perf_counter()
    response = ask(connection, path, accept)
    buffer = bytearray(piece_bytes)
    count = 0
    while got := response.readinto(buffer):
        count += got
    return {"seconds": time.perf_counter() - started, "bytes": count}


def check(host, port, path, accept, form):
    body = ask(http.client.HTTPConnection(host, port), path, accept).read()
    return {**checksums(readers[form](body)), "bytes": len(body)}


def ask(connection, path, accept):
    connection.request("GET", path, headers={"Accept": accept})
    response = connection.getresponse()
    if response.status != 200:
        raise RuntimeError(f"{path} answered {response.status}: {response.read(300)}")
    return response


def read_csv(body):
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(body)
        file.flush()
        return duckdb.sql(f"FROM read_csv('{file.name}', header = true, columns = {types})").to_arrow_table()


readers = {
    "csv": read_csv,
    "arrow": lambda body: pyarrow.ipc.open_stream(body).read_all(),
    "parquet": lambda body: pyarrow.parquet.read_table(io.BytesIO(body)),
}

serve({"get": get, "check": check})
