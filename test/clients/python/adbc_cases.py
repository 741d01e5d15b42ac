"""Flight SQL, by the DB-API of the ADBC driver."""

import contextlib
import threading
import time as clock
import warnings
from datetime import date, datetime, time, timezone
from decimal import Decimal

import pyarrow as pa
from adbc_driver_manager import dbapi
from framehold_cases import case, equal, fails, within

SLOW = "SELECT count(*) AS n FROM range(10000000000) a, range(1000) b WHERE (a.range * b.range) % 7 = 3"


def numbers(start, stop):
    return pa.table({"n": pa.array(range(start, stop), pa.int64())})


def ask(connection, sql, parameters=None):
    """The rows of a query, as tuples."""
    with connection.cursor() as cursor:
        return cursor.execute(sql, parameters).fetchall()


def tell(connection, sql, parameters=None):
    """Runs a statement and fetches nothing."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def ingest(connection, handle, data, **options):
    with connection.cursor() as cursor:
        return cursor.adbc_ingest(handle, data, **options)


@case("connecting warns of nothing")
def _(server):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with server.adbc() as connection:
            equal(ask(connection, "SELECT 1"), [(1,)])
    equal([str(warning.message) for warning in caught], [])


@case("connecting with name and password works")
def _(server):
    with server.adbc(db_kwargs={"username": "somebody", "password": "secret"}) as connection:
        equal(ask(connection, "SELECT 1"), [(1,)])


@case("the server tells its name and version")
def _(server):
    with server.adbc() as connection:
        info = connection.adbc_get_info()
    equal(info["vendor_name"], "Framehold")
    assert info["vendor_version"].count(".") == 2, info


@case("a query gives rows, names and types")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT range AS n, 'x' || range AS text FROM range(3)")
        equal([column[0] for column in cursor.description], ["n", "text"])
        equal(cursor.fetchone(), (0, "x0"))
        equal(cursor.fetchmany(5), [(1, "x1"), (2, "x2")])
        equal(cursor.fetchone(), None)


@case("a query may have comments, a semicolon and letters beyond ASCII")
def _(server):
    with server.adbc() as connection:
        equal(ask(connection, "-- what?\nSELECT 'Zürich 🦆' AS \"Ort/название\"; /* that */ "), [("Zürich 🦆",)])


@case("a NULL parameter without a type takes that of its place")
def _(server):
    with server.adbc() as connection:
        equal(ask(connection, "SELECT count(*) FROM (VALUES ('a'), ('b')) t(s) WHERE s IN (?, ?)", ["a", None]), [(1,)])
        equal(ask(connection, "SELECT coalesce(?, 'x')", [None]), [("x",)])
        equal(ask(connection, "SELECT 'a' IS DISTINCT FROM ?", [None]), [(True,)])


@case("executemany of a thousand rows is one append")
def _(server):
    with server.adbc() as connection:
        tell(connection, "CREATE TABLE many (a BIGINT, b VARCHAR)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO many VALUES (?, ?)", [(n, f"row {n}") for n in range(1000)])
        equal(ask(connection, "SELECT count(*), sum(a)::BIGINT, max(b) FROM many"), [(1000, 499500, "row 999")])


@case("a query without rows gives its columns")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        table = cursor.execute("SELECT 1 AS a, 'x' AS b WHERE false").fetch_arrow_table()
    equal((table.schema, table.num_rows), (pa.schema({"a": pa.int32(), "b": pa.string()}), 0))


@case("a result of many megabytes arrives whole and in order")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        table = cursor.execute("SELECT range AS n, 'row ' || range AS text FROM range(1000000)").fetch_arrow_table()
    assert table.nbytes > 16_000_000, table.nbytes
    equal(table["n"].combine_chunks(), pa.array(range(1_000_000), pa.int64()))


@case("values of more than 4 MiB arrive")
def _(server):
    with server.adbc() as connection:
        equal([len(text) for (text,) in ask(connection, "SELECT repeat('x', 6000000) FROM range(3)")], [6_000_000] * 3)


@case("a result may be read batch by batch while others are open")
def _(server):
    with server.adbc() as connection, connection.cursor() as one, connection.cursor() as two:
        first = one.execute("SELECT range AS n FROM range(500000)").fetch_record_batch()
        second = two.execute("SELECT -range AS n FROM range(500000)").fetch_record_batch()
        totals = [0, 0]
        for left, right in zip(first, second):
            totals[0] += left.num_rows
            totals[1] += right.num_rows
        totals[0] += sum(batch.num_rows for batch in first)
        totals[1] += sum(batch.num_rows for batch in second)
    assert max(totals) == 500_000, totals


@case("partitions of a query can be read on another connection")
def _(server):
    with server.adbc() as one, server.adbc() as two, one.cursor() as here, two.cursor() as there:
        partitions, schema = here.adbc_execute_partitions("SELECT range AS n FROM range(4)")
        equal((len(partitions), schema), (1, pa.schema({"n": pa.int64()})))
        there.adbc_read_partition(partitions[0])
        equal(there.fetchall(), [(0,), (1,), (2,), (3,)])


@case("the schema of a query is told without running it")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor, within(3):
        equal(cursor.adbc_execute_schema(SLOW), pa.schema({"n": pa.int64()}))


@case("the types of parameters are told where the query tells them")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        schema = cursor.adbc_prepare("SELECT * FROM range(10) WHERE range = ?::BIGINT AND ?::VARCHAR <> 'x'")
    equal([field.type for field in schema], [pa.int64(), pa.string()])


PARAMETERS = {
    "true": True,
    "an integer": 42,
    "the highest integer": 2**63 - 1,
    "a float": 2.5,
    "a decimal": Decimal("12345.678"),
    "text": "it's 🦆",
    "empty text": "",
    "bytes": b"\x00\xff",
    "a date": date(2026, 1, 31),
    "a time": time(12, 30, 0, 5),
    "a timestamp": datetime(2026, 1, 31, 12, 0, 0, 5),
    "a timestamp with a zone": datetime(2026, 1, 31, 12, tzinfo=timezone.utc),
    "NULL": None,
    "a list": [1, 2, None],
    "a list of text": ["a", "b"],
    "a struct": {"a": 1, "b": "x"},
}


@case("a parameter of every type is given back as it is")
def _(server):
    with server.adbc() as connection:
        for name, value in PARAMETERS.items():
            actual = ask(connection, "SELECT ? AS value", [value])
            assert actual == [(value,)], f"{name}: expected {value!r}, actual {actual!r}"


@case("a parameter of every type can be compared with a column of its type")
def _(server):
    columns = {f"c{number}": [value] for number, value in enumerate(PARAMETERS.values()) if value is not None}
    handle = server.fresh()
    server.put(handle, pa.table(columns))
    with server.adbc() as connection:
        for name, [value] in columns.items():
            equal((name, ask(connection, f"SELECT count(*) FROM {handle} WHERE {name} = ?", [value])), (name, [(1,)]))
        equal(ask(connection, f"SELECT count(*) FROM {handle} WHERE c0 IS NOT DISTINCT FROM ?", [None]), [(0,)])


@case("parameters of many types go together, in order")
def _(server):
    values = tuple(PARAMETERS.values())
    with server.adbc() as connection:
        equal(ask(connection, f"SELECT {', '.join('?' for _ in values)}", list(values)), [values])


@case("a parameter is a value, never SQL")
def _(server):
    with server.adbc() as connection:
        equal(ask(connection, "SELECT ?", ["'; DROP TABLE x; --"]), [("'; DROP TABLE x; --",)])


@case("a statement runs again with other parameters")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        for number in range(20):
            equal(cursor.execute("SELECT ?::BIGINT * 2", [number]).fetchall(), [(number * 2,)])


@case("a query runs once for each row of its parameters")
def _(server):
    with server.adbc() as connection:
        rows = ask(connection, "SELECT ?::BIGINT + 1", pa.record_batch({"n": [1, 2, 3]}))
    equal(rows, [(2,), (3,), (4,)])


@case("too few or too many parameters are refused with both numbers")
def _(server):
    with server.adbc() as connection:
        for values in ([1], [1, 2, 3]):
            with fails("2", str(len(values)), "parameter", error=dbapi.Error):
                ask(connection, "SELECT ?::INTEGER + ?::INTEGER", values)
        with fails("parameter", error=dbapi.Error):
            ask(connection, "SELECT ?::INTEGER")


@case("CREATE TABLE AS takes effect without a fetch")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        tell(connection, f"CREATE TABLE {handle} AS SELECT range AS n FROM range(5)")
        equal(ask(connection, f"SELECT count(*) FROM {handle}"), [(5,)])
    equal(server.get(handle), numbers(0, 5))
    equal(server.exec(handle=handle)["count"], 5)


@case("CREATE TABLE takes effect once, also when its result is fetched")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {handle} AS SELECT 1 AS n")
        cursor.fetchall()
        cursor.execute(f"INSERT INTO {handle} VALUES (2)")
        cursor.fetchall()
        equal(ask(connection, f"SELECT n FROM {handle}"), [(1,), (2,)])


@case("CREATE TABLE of a name that is taken fails, unless it is to replace or to keep")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        tell(connection, f"CREATE TABLE {handle} AS SELECT 1 AS n")
        with fails(handle, "exists", error=dbapi.Error):
            tell(connection, f"CREATE TABLE {handle} AS SELECT 2 AS n")
        tell(connection, f"CREATE TABLE IF NOT EXISTS {handle} AS SELECT 3 AS n")
        equal(ask(connection, f"SELECT n FROM {handle}"), [(1,)])
        tell(connection, f"CREATE OR REPLACE TABLE framehold.frames.{handle} AS SELECT 4 AS n")
        equal(ask(connection, f"SELECT n FROM {handle}"), [(4,)])


@case("CREATE TABLE AS may read the frame that it replaces, and take parameters")
def _(server):
    handle = server.fresh()
    server.put(handle, numbers(0, 10))
    with server.adbc() as connection:
        tell(connection, f"CREATE OR REPLACE TABLE {handle} AS SELECT n FROM {handle} WHERE n >= ?", [8])
        equal(ask(connection, f"SELECT n FROM {handle}"), [(8,), (9,)])


@case("INSERT adds rows, from values and from a query")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection, connection.cursor() as cursor:
        tell(connection, f"CREATE TABLE {handle} AS SELECT 1 AS n, 'a' AS text")
        tell(connection, f"INSERT INTO {handle} VALUES (2, 'b'), (3, 'c')")
        tell(connection, f"INSERT INTO {handle} (text, n) SELECT text || '!', n + 10 FROM {handle} WHERE n = 3")
        cursor.executemany(f"INSERT INTO {handle} VALUES (20, 'x'), (21, 'y')", None)
        equal(cursor.rowcount, 2)
        equal(
            ask(connection, f"SELECT * FROM {handle}"),
            [(1, "a"), (2, "b"), (3, "c"), (13, "c!"), (20, "x"), (21, "y")],
        )


@case("executemany inserts a row for each of its parameters")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection, connection.cursor() as cursor:
        tell(connection, f"CREATE TABLE {handle} AS SELECT 1::BIGINT AS n, 'a' AS text")
        cursor.executemany(f"INSERT INTO {handle} VALUES (?, ?)", [(n, f"t{n}") for n in range(2, 102)])
        equal(cursor.rowcount, 100)
        cursor.executemany(f"INSERT INTO {handle} VALUES (?, ?)", [])
        equal(ask(connection, f"SELECT count(*), sum(n) FROM {handle}"), [(101, sum(range(1, 102)))])
        equal(ask(connection, f"SELECT text FROM {handle} WHERE n = 101"), [("t101",)])


@case("DROP TABLE drops a frame, and IF EXISTS makes an absent one no mistake")
def _(server):
    handle = server.fresh()
    server.put(handle, numbers(0, 1))
    with server.adbc() as connection:
        tell(connection, f"DROP TABLE {handle}")
        with fails(handle, error=KeyError):
            server.get(handle)
        with fails(handle, error=dbapi.Error):
            tell(connection, f"DROP TABLE {handle}")
        tell(connection, f"DROP TABLE IF EXISTS {handle}")
        tell(connection, "DROP TABLE IF EXISTS never_there")


@case("rows are updated and deleted, with parameters, and columns are added")
def _(server):
    handle = server.fresh()
    server.put(handle, numbers(0, 5))
    with server.adbc() as connection:
        tell(connection, f"ALTER TABLE {handle} ADD COLUMN m INTEGER")
        tell(connection, f"DELETE FROM {handle} WHERE n IN (1, 2)")
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE {handle} SET m = ? WHERE n > ?", [7, 3])
        equal(ask(connection, f"SELECT n, m FROM {handle} ORDER BY n"), [(0, None), (3, None), (4, 7)])


@case("what reaches outside of the frames is refused")
def _(server):
    with server.adbc() as connection:
        for sql in (
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELECT * FROM '/etc/passwd'",
            "COPY (SELECT 1) TO '/tmp/framehold-copy.csv'",
            "ATTACH '/tmp/framehold-attach.duckdb'",
            "INSTALL httpfs",
            "SET threads = 1",
            "SELECT 1; SELECT 2",
        ):
            with fails(".", error=dbapi.Error):
                tell(connection, sql)


@case("a wrong column or table is told with the one that was meant")
def _(server):
    handle = server.fresh("trades")
    server.put(handle, pa.table({"price": [1.5], "amount": [2]}))
    with server.adbc() as connection:
        with fails('"prise"', '"price"', error=dbapi.ProgrammingError):
            ask(connection, f"SELECT prise FROM {handle}")
        with fails("tardes", f"did you mean.*{handle}", error=dbapi.ProgrammingError):
            ask(connection, f"SELECT * FROM {handle.replace('trades', 'tardes')}")


@case("an error carries our code in its details")
def _(server):
    with server.adbc() as connection:
        try:
            ask(connection, "SELECT nonsense")
        except dbapi.Error as error:
            equal(dict(error.details).get(b"framehold-code"), b"sql_error")
        else:
            raise AssertionError("nothing failed")


@case("an error at run time reaches the caller")
def _(server):
    with server.adbc() as connection:
        with fails("abc", error=dbapi.Error):
            ask(connection, "SELECT CAST('abc' || range AS INTEGER) FROM range(3)")
        equal(ask(connection, "SELECT 1"), [(1,)])


@case("adbc_ingest creates a frame, and does not touch one that is there")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        equal(ingest(connection, handle, numbers(0, 3), mode="create"), 3)
        with fails(handle, "exists", error=dbapi.Error):
            ingest(connection, handle, numbers(0, 4), mode="create")
    equal(server.get(handle), numbers(0, 3))


@case("adbc_ingest appends to a frame, and not to one that is not there")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        with fails(handle, error=dbapi.Error):
            ingest(connection, handle, numbers(0, 3), mode="append")
        ingest(connection, handle, numbers(0, 3), mode="create")
        equal(ingest(connection, handle, numbers(3, 5), mode="append"), 2)
        with fails("m", error=dbapi.Error):
            ingest(connection, handle, numbers(3, 5).rename_columns(["m"]), mode="append")
    equal(server.get(handle).combine_chunks(), numbers(0, 5))


@case("adbc_ingest replaces a frame, or makes it")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        ingest(connection, handle, numbers(0, 3), mode="replace")
        equal(server.get(handle), numbers(0, 3))
        ingest(connection, handle, pa.table({"other": ["x"]}), mode="replace")
        equal(server.get(handle), pa.table({"other": ["x"]}))


@case("adbc_ingest creates or appends")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        ingest(connection, handle, numbers(0, 3), mode="create_append")
        ingest(connection, handle, numbers(3, 5), mode="create_append")
    equal(server.get(handle).combine_chunks(), numbers(0, 5))


@case("adbc_ingest takes a stream of batches, and many megabytes")
def _(server):
    handle = server.fresh()
    batches = (numbers(n * 100_000, (n + 1) * 100_000).to_batches()[0] for n in range(30))
    reader = pa.RecordBatchReader.from_batches(numbers(0, 0).schema, batches)
    with server.adbc() as connection:
        equal(ingest(connection, handle, reader, mode="create"), 3_000_000)
        equal(ask(connection, f"SELECT count(*), max(n) FROM {handle}"), [(3_000_000, 2_999_999)])


@case("adbc_ingest takes catalog and schema of the frames, and no other")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        ingest(connection, handle, numbers(0, 3), catalog_name="framehold", db_schema_name="frames")
        equal(server.get(handle), numbers(0, 3))
        with fails("elsewhere", error=dbapi.Error):
            ingest(connection, server.fresh(), numbers(0, 3), db_schema_name="elsewhere")
        with fails("temporary", error=dbapi.Error):
            ingest(connection, server.fresh(), numbers(0, 3), temporary=True)


@case("each statement is durable at once, and a commit changes nothing")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        tell(connection, f"CREATE TABLE {handle} AS SELECT 1::BIGINT AS n")
        equal(server.get(handle)["n"].to_pylist(), [1])
        connection.commit()
        tell(connection, f"INSERT INTO {handle} VALUES (2)")
        connection.commit()
    equal(server.get(handle)["n"].to_pylist(), [1, 2])


@case("a rollback after a write says that it was durable at once")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        tell(connection, f"CREATE TABLE {handle} AS SELECT 1 AS n")
        with fails("durable", error=dbapi.Error):
            connection.rollback()
    equal(server.get(handle).num_rows, 1)


@case("a rollback after a commit is fine")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        tell(connection, f"CREATE TABLE {handle} AS SELECT 1 AS n")
        connection.commit()
        connection.rollback()
        equal(ask(connection, f"SELECT n FROM {handle}"), [(1,)])


@case("a rollback with nothing written is fine")
def _(server):
    with server.adbc() as connection:
        connection.rollback()
        ask(connection, "SELECT 1")
        connection.rollback()
        with fails(".", error=dbapi.Error):
            ask(connection, "SELECT nonsense")
        connection.rollback()
        equal(ask(connection, "SELECT 1"), [(1,)])


@case("autocommit can be asked for")
def _(server):
    handle = server.fresh()
    with server.adbc(autocommit=True) as connection:
        tell(connection, f"CREATE TABLE {handle} AS SELECT 1 AS n")
    equal(server.get(handle).num_rows, 1)


def objects(connection, **options):
    catalogs = connection.adbc_get_objects(**options).read_all().to_pylist()
    return {catalog["catalog_name"]: catalog["catalog_db_schemas"] for catalog in catalogs}


def tables(schemas, schema="frames"):
    [found] = [item for item in schemas if item["db_schema_name"] == schema]
    return {table["table_name"]: table for table in found["db_schema_tables"]}


@case("the catalog of frames is there at every depth")
def _(server):
    handle = server.fresh("objects")
    server.put(handle, pa.table({"n": pa.array([1], pa.int64()), "text": ["x"]}))
    with server.adbc() as connection:
        assert "framehold" in objects(connection, depth="catalogs")
        names = [item["db_schema_name"] for item in objects(connection, depth="db_schemas")["framehold"]]
        assert "frames" in names, names
        table = tables(objects(connection, depth="tables")["framehold"])[handle]
        equal((table["table_type"], table["table_columns"]), ("TABLE", None))
        for depth in ("columns", "all"):
            columns = tables(objects(connection, depth=depth)["framehold"])[handle]["table_columns"]
            equal([(column["column_name"], column["ordinal_position"]) for column in columns], [("n", 1), ("text", 2)])


@case("objects can be filtered by catalog, schema, table, column and type")
def _(server):
    one, other = server.fresh("filter_one"), server.fresh("filter_two")
    for handle in (one, other):
        server.put(handle, pa.table({"abc": [1], "xyz": [2]}))
    with server.adbc() as connection:

        def found(**filters):
            return set(tables(objects(connection, depth="tables", **filters).get("framehold") or []))

        equal(found(table_name_filter=one), {one})
        equal(found(table_name_filter="filter\\_%"), {one, other})
        equal(found(table_name_filter="filter_%", catalog_filter="framehold", db_schema_filter="frames"), {one, other})
        assert {one, other} <= found(table_types_filter=["TABLE"])
        equal(found(table_types_filter=["VIEW"]), set())
        equal(objects(connection, depth="tables", catalog_filter="nobody"), {})
        columns = objects(connection, depth="columns", table_name_filter=one, column_name_filter="x%")
        names = [column["column_name"] for column in tables(columns["framehold"])[one]["table_columns"]]
        equal(names, ["xyz"])


@case("the schema of a table is told, and an absent one is not found")
def _(server):
    handle, schema = server.fresh(), pa.schema({"n": pa.int64(), "text": pa.string(), "d": pa.decimal128(10, 2)})
    server.put(handle, schema.empty_table())
    with server.adbc() as connection:
        equal(connection.adbc_get_table_schema(handle).remove_metadata(), schema)
        filters = {"catalog_filter": "framehold", "db_schema_filter": "frames"}
        equal(connection.adbc_get_table_schema(handle, **filters).names, schema.names)
        with fails("NOT_FOUND", error=dbapi.ProgrammingError):
            connection.adbc_get_table_schema("nobody")


@case("the types of tables are told")
def _(server):
    with server.adbc() as connection:
        assert "TABLE" in connection.adbc_get_table_types(), connection.adbc_get_table_types()


@case("the catalog and schema at hand are those of the frames")
def _(server):
    with server.adbc() as connection:
        equal((connection.adbc_current_catalog, connection.adbc_current_db_schema), ("framehold", "frames"))


@contextlib.contextmanager
def cancelling(cursor):
    """Cancels from another thread, again and again: on a busy machine the first may come before the query."""
    done = threading.Event()

    def work():
        while not done.wait(0.3):
            cursor.adbc_cancel()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@case("a query is cancelled from another thread, and the engine is free again")
def _(server):
    with server.adbc() as connection, within(8):
        for _ in range(4):
            with connection.cursor() as cursor, cancelling(cursor), fails("cancel", error=dbapi.Error):
                cursor.execute(SLOW).fetchall()
        equal(ask(connection, "SELECT 42"), [(42,)])


@case("a statement that writes is cancelled and leaves nothing")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection, within(5):
        with connection.cursor() as cursor, cancelling(cursor), fails("cancel", error=dbapi.Error):
            cursor.execute(f"CREATE TABLE {handle} AS {SLOW}")
        with fails(handle, error=dbapi.Error):
            ask(connection, f"SELECT * FROM {handle}")


@case("a result that is closed half-read frees its engine")
def _(server):
    with server.adbc() as connection, within(8):
        for _ in range(6):
            with connection.cursor() as cursor:
                cursor.execute("SELECT range AS n FROM range(100000000)").fetchone()
        equal(ask(connection, "SELECT 42"), [(42,)])


@case("a time limit of the caller ends a query")
def _(server):
    limit = {"adbc.flight.sql.rpc.timeout_seconds.fetch": "0.5", "adbc.flight.sql.rpc.timeout_seconds.query": "0.5"}
    with server.adbc(conn_kwargs=limit) as connection, within(4):
        with fails("deadline|timeout", error=dbapi.Error):
            ask(connection, SLOW)


@case("many connections at once get what is theirs")
def _(server):
    failures = []

    def work(number):
        try:
            with server.adbc() as connection:
                for turn in range(10):
                    equal(ask(connection, "SELECT ?::BIGINT * 1000 + ?", [number, turn]), [(number * 1000 + turn,)])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@case("a small query takes milliseconds, not more")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        took = []
        for number in range(20):
            start = clock.monotonic()
            cursor.execute(f"SELECT {number}").fetchall()
            took.append(clock.monotonic() - start)
    # The best of them: a lost flush or a Nagle delay shows in each as 40 ms, a busy machine only in some.
    assert min(took) < 0.03, took
