"""What a join of live rows with a file takes at the least: QuestDB's own export, and DuckDB's join of the two files in this process."""

import http.client
import pathlib
import time
from urllib.parse import urlencode

import duckdb

from ask_loop import serve

open_now = {}


def make_positions(trades, path):
    """A tenth of the trades, each a second later, in no order."""
    duckdb.execute(
        f"COPY (SELECT id, symbol, timestamp + INTERVAL 1 SECOND AS seen, amount AS quantity FROM '{trades}' "
        f"WHERE id % 10 = 0 ORDER BY hash(id)) TO '{path}' (FORMAT parquet)"
    )


def open_duckdb(threads, memory_gb):
    connection = duckdb.connect(config={"threads": threads, "memory_limit": f"{memory_gb}GB"})
    connection.execute("SET TimeZone = 'UTC'")
    open_now["connection"] = connection


def export_and_join(host, port, query, path, sql):
    """`sql` reads the file at `path`, to which the rows of `query` are exported before."""
    started = time.perf_counter()
    parameters = urlencode({"query": query, "fmt": "parquet", "compression_codec": "lz4_raw"})
    connection = http.client.HTTPConnection(host, port)
    connection.request("GET", f"/exp?{parameters}", headers={"Connection": "close"})
    response = connection.getresponse()
    if response.status != 200:
        raise RuntimeError(response.read(300).decode())
    with pathlib.Path(path).open("wb") as file:
        while piece := response.read(1 << 20):
            file.write(piece)
    connection.close()
    exported = time.perf_counter()
    answer = open_now["connection"].sql(sql).fetchall()
    return {"exportSeconds": exported - started, "joinSeconds": time.perf_counter() - exported, "answer": answer}


serve({"make_positions": make_positions, "open_duckdb": open_duckdb, "export_and_join": export_and_join})
