"""dlt, over the dialect of sqlalchemy-adbc: frames as a source, and as a destination."""

import atexit
import os
import tempfile

folder = tempfile.TemporaryDirectory(prefix="framehold-dlt-")
atexit.register(folder.cleanup)
os.environ.update({"DLT_DATA_DIR": folder.name, "RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"})

import dlt
from dlt.sources.sql_database import sql_table
from framehold_cases import case, equal


def address(server):
    return f"adbc+flightsql://{server.grpc}/framehold?tls=false"


def pipeline(server, **options):
    return dlt.pipeline(server.fresh("pipeline"), pipelines_dir=folder.name, **options)


def orders(server):
    handle = server.fresh("orders")
    sql = f"CREATE TABLE {handle} AS SELECT range AS id, 'x' || range AS name, 1.25::DECIMAL(10,2) AS price FROM range(5)"
    with server.adbc() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
    return handle


@case("sql_table reads a frame, as rows and as Arrow")
def _(server):
    handle = orders(server)
    rows = list(sql_table(credentials=address(server), table=handle))
    equal([row["name"] for row in rows], ["x0", "x1", "x2", "x3", "x4"])
    [table] = list(sql_table(credentials=address(server), table=handle, backend="pyarrow"))
    equal((table.column_names, table["id"].to_pylist()), (["id", "name", "price"], [0, 1, 2, 3, 4]))


@case("sql_table reads only rows beyond those that it has read, by a column that grows")
def _(server):
    handle = orders(server)
    incremental = dlt.sources.incremental("id", initial_value=2, range_start="open")
    rows = list(sql_table(credentials=address(server), table=handle, incremental=incremental))
    equal([row["id"] for row in rows], [3, 4])


@case("a pipeline loads a frame into files of its destination")
def _(server):
    handle = orders(server)
    files = f"{folder.name}/{handle}"
    target = dlt.destinations.filesystem(f"file://{files}")
    run = pipeline(server, destination=target, dataset_name="out")
    run.run(sql_table(credentials=address(server), table=handle, backend="pyarrow"), loader_file_format="parquet")
    import pyarrow.parquet

    equal(pyarrow.parquet.read_table(f"{files}/out/{handle}")["id"].to_pylist(), [0, 1, 2, 3, 4])


@case("a pipeline appends rows to a frame, and makes it where there is none")
def _(server):
    handle = server.fresh("people")
    run = pipeline(server, destination=dlt.destinations.sqlalchemy(address(server)), dataset_name="frames")
    run.run([{"id": 1, "name": "one"}, {"id": 2, "name": None}], table_name=handle, write_disposition="append")
    run.run([{"id": 3, "name": "three"}], table_name=handle, write_disposition="append")
    equal(server.get(f"SELECT id, name FROM {handle} ORDER BY id").to_pydict(), {"id": [1, 2, 3], "name": ["one", None, "three"]})


@case("a pipeline replaces the rows of a frame")
def _(server):
    handle = server.fresh("people")
    run = pipeline(server, destination=dlt.destinations.sqlalchemy(address(server)), dataset_name="frames")
    rows = [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]
    run.run(rows, table_name=handle, write_disposition="replace")
    run.run(rows[:1], table_name=handle, write_disposition="replace")
    equal(server.get(f"SELECT id, name FROM {handle}").to_pylist(), rows[:1])
