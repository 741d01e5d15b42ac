"""The queries of TPC-H: through Flight SQL, or on DuckDB in this process."""

import pathlib
import time

import adbc_driver_flightsql.dbapi as flight_sql
import duckdb
from adbc_driver_flightsql import DatabaseOptions

from ask_loop import serve
from plain_rows import plain_rows

tables = ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"]
open_now = {}


def queries():
    """By number, in the order of their numbers."""
    folder = pathlib.Path(__file__).parent / "tpch"
    return {int(path.stem[1:]): path.read_text() for path in sorted(folder.glob("q*.sql"))}


def open_flight_sql(uri, max_message_bytes=None):
    """`max_message_bytes`: default ADBC's own, 16 MiB."""
    options = {} if max_message_bytes is None else {DatabaseOptions.WITH_MAX_MSG_SIZE.value: str(max_message_bytes)}
    connection = flight_sql.connect(uri, db_kwargs=options, autocommit=True)

    def run(sql):
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    open_now["run"] = run


def open_duckdb(folder, form, threads, memory_gb):
    """`form`: "parquet", where every query reads the files, or "native", where they were copied into tables before."""
    connection = duckdb.connect(config={"threads": threads, "memory_limit": f"{memory_gb}GB"})
    kind = {"parquet": "VIEW", "native": "TABLE"}[form]
    for table in tables:
        connection.execute(f"CREATE {kind} {table} AS FROM '{folder}/{table}.parquet'")
    open_now["run"] = lambda sql: connection.sql(sql).to_arrow_table()


def run_all():
    """The seconds of each query, to its last row in this process; the message of those that fail."""
    seconds = {}
    errors = {}
    for number, sql in queries().items():
        started = time.perf_counter()
        try:
            open_now["run"](sql)
        except Exception as error:
            errors[number] = f"{type(error).__name__}: {error}"[:300]
        else:
            seconds[number] = time.perf_counter() - started
    return {"seconds": seconds, "errors": errors}


def answers():
    """The rows of each query; the message of those that fail."""
    found = {}
    errors = {}
    for number, sql in queries().items():
        try:
            table = open_now["run"](sql)
        except Exception as error:
            errors[number] = f"{type(error).__name__}: {error}"[:300]
        else:
            found[number] = plain_rows(row.values() for row in table.to_pylist())
    return {"answers": found, "errors": errors}


serve({"open_flight_sql": open_flight_sql, "open_duckdb": open_duckdb, "run_all": run_all, "answers": answers})
