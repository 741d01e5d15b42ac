"""The same statements on one Spark, through our doors or through PySpark's own client."""

import http.client
import json
import time
import urllib.parse

import pyarrow.compute
import pyarrow.flight
import pyarrow.ipc

from ask_loop import serve
from quantiles import quantile

open_now = {}


def open_http(url, engine):
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=600)

    def run(sql):
        body = json.dumps({"sql": sql, "engine": engine, "format": "arrow"})
        try:
            connection.request("POST", address.path, body, {"content-type": "application/json"})
        except ConnectionError:
            # The server closes a connection that stood idle while others had their turn.
            connection.close()
            connection.request("POST", address.path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise RuntimeError(response.read().decode())
        table = pyarrow.ipc.open_stream(response).read_all()
        response.read()
        return table

    open_now["run"] = run


def open_flight(uri, engine):
    client = pyarrow.flight.connect(uri)
    options = pyarrow.flight.FlightCallOptions(headers=[(b"x-framehold-engine", engine.encode())])
    open_now["run"] = lambda sql: client.do_get(pyarrow.flight.Ticket(sql.encode()), options).read_all()


def open_pyspark(url, folder, tables):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(url).getOrCreate()
    for table in tables:
        session.read.parquet(f"{folder}/{table}.parquet").createOrReplaceTempView(table)
    open_now["run"] = lambda sql: session.sql(sql).toArrow()


def small(sql, count):
    times = []
    for _ in range(count):
        started = time.perf_counter()
        open_now["run"](sql)
        times.append(1000 * (time.perf_counter() - started))
    return {"p50Ms": quantile(times, 0.5), "p99Ms": quantile(times, 0.99), "requests": count}


def rows(sql):
    started = time.perf_counter()
    table = open_now["run"](sql)
    return {"seconds": time.perf_counter() - started, "rows": table.num_rows, "bytes": table.nbytes}


def checked(sql):
    """What must be the same whoever carries it: the names, the number of rows, and a sum of each column."""
    table = open_now["run"](sql)
    return {"rows": table.num_rows, **{name: checksum(table[name]) for name in table.column_names}}


def checksum(column):
    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        column = pyarrow.compute.binary_length(column)
    return str(pyarrow.compute.sum(column).as_py())


serve(
    {
        "open_flight": open_flight,
        "open_http": open_http,
        "open_pyspark": open_pyspark,
        "small": small,
        "rows": rows,
        "checked": checked,
    },
)
