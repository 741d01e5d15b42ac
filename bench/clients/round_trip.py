"""The smallest of queries, one after another on one connection."""

import time

import adbc_driver_flightsql.dbapi as flight_sql
import pyarrow.flight as flight

from ask_loop import serve
from quantiles import quantile

flight_clients = {}
adbc_connections = {}


def adbc(uri, count):
    connection = adbc_connections.get(uri) or adbc_connections.setdefault(uri, flight_sql.connect(uri, autocommit=True))

    def ask():
        with connection.cursor() as cursor:
            cursor.execute("select 1")
            return cursor.fetchall()[0][0]

    return timed(ask, count)


def ticket(uri, count):
    client = flight_clients.get(uri) or flight_clients.setdefault(uri, flight.connect(uri))

    def ask():
        return client.do_get(flight.Ticket(b"select 1")).read_all().column(0)[0].as_py()

    return timed(ask, count)


def timed(ask, count):
    times = []
    for _ in range(count):
        started = time.perf_counter()
        answer = ask()
        times.append(1000 * (time.perf_counter() - started))
        if answer != 1:
            raise RuntimeError(f"select 1 gave {answer}")
    return {"p50Ms": quantile(times, 0.5), "p99Ms": quantile(times, 0.99), "requests": count}


serve({"adbc": adbc, "ticket": ticket})
