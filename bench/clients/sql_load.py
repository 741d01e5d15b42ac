"""Many open connections, a few queries under way at any moment."""

import pathlib
import threading
import time

import adbc_driver_flightsql.dbapi as flight_sql
import duckdb

from ask_loop import serve
from plain_rows import plain_rows
from quantiles import quantile

connections = []


def open_all(uri, count):
    for _ in range(count):
        connections.append(flight_sql.connect(uri, autocommit=True))


def answers(queries):
    """Of every query, its rows; each asked on a connection of its own."""
    return [plain_rows(ask(connections[at % len(connections)], sql)) for at, sql in enumerate(queries)]


def expected(folder, queries):
    """The same of DuckDB in this process, over Parquet files."""
    database = duckdb.connect(config={"threads": 2})
    for path in pathlib.Path(folder).glob("*.parquet"):
        database.execute(f"CREATE VIEW {path.stem} AS FROM '{path}'")
    return [plain_rows(database.execute(sql).fetchall()) for sql in queries]


def load(queries, under_way, seconds):
    """Each thread takes the next connection and the next query, so that all connections are used in turn."""
    times = []
    errors = []
    taken = iter(range(1 << 62))
    lock = threading.Lock()
    # One query at a time on a connection, however long it takes.
    idle = list(connections)
    deadline = time.perf_counter() + seconds

    def work():
        while time.perf_counter() < deadline:
            with lock:
                at = next(taken)
                connection = idle.pop(0)
            started = time.perf_counter()
            try:
                ask(connection, queries[at % len(queries)])
                times.append(1000 * (time.perf_counter() - started))
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
            finally:
                with lock:
                    idle.append(connection)

    started = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(under_way)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise RuntimeError(f"{len(errors)} of {len(errors) + len(times)} queries failed, first: {errors[0]}")
    return {
        "queries": len(times),
        "seconds": time.perf_counter() - started,
        "p50Ms": quantile(times, 0.5),
        "p99Ms": quantile(times, 0.99),
    }


def ask(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


serve({"open": open_all, "answers": answers, "expected": expected, "load": load})
