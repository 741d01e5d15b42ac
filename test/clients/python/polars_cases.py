"""polars over ADBC, by connection and by URI, and files of GET /exp by their address."""

from datetime import date, datetime, time
from decimal import Decimal
from urllib.parse import urlencode

import polars as pl
from framehold_cases import case, equal, fails

FRAME = pl.DataFrame(
    {
        "id": [1, 2, None],
        "name": ["a", None, "a text that is longer than twelve bytes"],
        "price": [1.5, None, -2.5],
        "good": [True, False, None],
        "day": [date(2026, 1, 31), None, date(1969, 12, 31)],
        "clock": [time(12, 30), None, time(23, 59, 59, 999_999)],
        "at": [datetime(2026, 1, 31, 12, 0, 0, 500), None, datetime(1960, 1, 1)],
        "exact": pl.Series([Decimal("1.25"), None, Decimal("-9.75")], dtype=pl.Decimal(10, 2)),
        "bytes": [b"\x00\xff", None, b""],
        "list": [[1, 2], None, []],
        "struct": [{"x": 1, "y": "z"}, {"x": None, "y": None}, {"x": 3, "y": ""}],
    }
)


def uri(server):
    return f"flightsql://{server.grpc}?transport=tcp"


@case("read_database over a connection gives a frame of the right types")
def _(server):
    with server.adbc() as connection:
        frame = pl.read_database("SELECT 1 AS id, 'x' AS name, 2.5::DOUBLE AS price, DATE '2026-01-31' AS day", connection)
    equal(frame.to_dicts(), [{"id": 1, "name": "x", "price": 2.5, "day": date(2026, 1, 31)}])
    equal(frame.schema, pl.Schema({"id": pl.Int32, "name": pl.String, "price": pl.Float64, "day": pl.Date}))


@case("read_database takes parameters")
def _(server):
    with server.adbc() as connection:
        sql = "SELECT ?::INTEGER + 1 AS next, ?::VARCHAR AS name"
        frame = pl.read_database(sql, connection, execute_options={"parameters": [41, "x"]})
    equal(frame.to_dicts(), [{"next": 42, "name": "x"}])


@case("read_database_uri gives the same by an address alone")
def _(server):
    frame = pl.read_database_uri("SELECT range AS id FROM range(5)", uri(server), engine="adbc")
    equal(frame["id"].to_list(), [0, 1, 2, 3, 4])


@case("write_database over a connection holds a frame that reads back equal")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        equal(FRAME.write_database(handle, connection, engine="adbc"), 3)
        connection.commit()
        back = pl.read_database(f"SELECT * FROM {handle}", connection)
    equal(back.columns, FRAME.columns)
    equal(back.to_dicts(), FRAME.to_dicts())


@case("write_database over a URI holds a frame that other doors give")
def _(server):
    handle = server.fresh()
    equal(FRAME.write_database(handle, uri(server), engine="adbc"), 3)
    equal(server.exec(handle=handle)["count"], 3)
    equal(server.get(handle)["name"].to_pylist(), FRAME["name"].to_list())


@case("write_database fails, replaces or appends as it is told")
def _(server):
    handle = server.fresh()
    one, two = pl.DataFrame({"n": [1]}), pl.DataFrame({"n": [2]})
    with server.adbc() as connection:
        one.write_database(handle, connection, engine="adbc")
        with fails(handle, "exists"):
            two.write_database(handle, connection, engine="adbc")
        two.write_database(handle, connection, engine="adbc", if_table_exists="append")
        equal(pl.read_database(f"SELECT n FROM {handle}", connection)["n"].to_list(), [1, 2])
        two.write_database(handle, connection, engine="adbc", if_table_exists="replace")
        equal(pl.read_database(f"SELECT n FROM {handle}", connection)["n"].to_list(), [2])


@case("write_database that appends to nothing makes the frame")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        pl.DataFrame({"n": [1]}).write_database(handle, connection, engine="adbc", if_table_exists="append")
        equal(pl.read_database(f"SELECT n FROM {handle}", connection)["n"].to_list(), [1])


@case("write_database takes a name with schema and catalog")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        pl.DataFrame({"n": [1]}).write_database(f"framehold.frames.{handle}", connection, engine="adbc")
        equal(pl.read_database(f"SELECT n FROM {handle}", connection)["n"].to_list(), [1])


@case("categories and enums are held as the text that they stand for")
def _(server):
    handle = server.fresh()
    frame = pl.DataFrame(
        {
            "category": pl.Series(["b", "a", "b", None], dtype=pl.Categorical),
            "enum": pl.Series(["low", "high", None, "low"], dtype=pl.Enum(["low", "high"])),
        }
    )
    with server.adbc() as connection:
        frame.write_database(handle, connection, engine="adbc")
        back = pl.read_database(f"SELECT * FROM {handle}", connection)
    equal(back.to_dict(as_series=False), {"category": ["b", "a", "b", None], "enum": ["low", "high", None, "low"]})


@case("a frame without rows keeps its columns")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        FRAME.clear().write_database(handle, connection, engine="adbc")
        back = pl.read_database(f"SELECT * FROM {handle}", connection)
    equal((back.columns, back.height), (FRAME.columns, 0))


@case("a million rows in one batch go in once the driver may send large messages")
def _(server):
    handle = server.fresh()
    frame = pl.DataFrame({"id": pl.int_range(1_000_000, eager=True), "text": ["some text"] * 1_000_000})
    with server.adbc(db_kwargs={"adbc.flight.sql.client_option.with_max_msg_size": str(2**28)}) as connection:
        frame.write_database(handle, connection, engine="adbc")
        back = pl.read_database(f"SELECT * FROM {handle}", connection)
    assert back.equals(frame)


@case("write_database appends smaller numbers to columns of wider types")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {handle} (n BIGINT, price DOUBLE)")
        frame = pl.DataFrame({"n": [1, None], "price": [0.5, 2.0]}, schema={"n": pl.Int32, "price": pl.Float32})
        for rows in (frame, pl.concat([frame] * 50_000)):
            rows.write_database(handle, connection, engine="adbc", if_table_exists="append")
        connection.commit()
        back = pl.read_database(f"SELECT count(*) AS rows, sum(n)::BIGINT AS n, sum(price) AS price FROM {handle}", connection)
    equal(back.rows(), [(100_002, 50_001, 50_001 * 2.5)])


def exported(server, handle, fmt, **parameters):
    more = "".join(f"&{name}={value}" for name, value in parameters.items())
    return f"{server.http}/exp?handle={handle}&fmt={fmt}{more}"


def appended(server):
    """A frame of two parts, and what polars is to read of it."""
    handle = server.fresh()
    parts = [pl.DataFrame({"n": [n, None], "text": [f"text {n}", "x"]}) for n in range(2)]
    with server.adbc() as connection:
        for part in parts:
            part.write_database(handle, connection, engine="adbc", if_table_exists="append")
        connection.commit()
    return handle, pl.concat(parts)


@case("read_parquet and scan_parquet read a frame of several parts by its address, whole or some of it")
def _(server):
    handle, wanted = appended(server)
    equal(pl.read_parquet(exported(server, handle, "parquet")).rows(), wanted.rows())
    scan = pl.scan_parquet(exported(server, handle, "parquet")).select("text").head(3)
    equal(scan.collect()["text"].to_list(), wanted["text"].head(3).to_list())
    equal(pl.read_parquet(exported(server, handle, "parquet", limit="1,3")).rows(), wanted.slice(1, 2).rows())
    equal(pl.read_parquet(exported(server, handle, "parquet", cols="n")).rows(), wanted.select("n").rows())
    equal(pl.read_parquet(exported(server, handle, "parquet", compression_codec="gzip")).rows(), wanted.rows())


@case("scan_parquet, scan_csv and scan_ndjson read a frame and a view by names with an ending")
def _(server):
    handle, wanted = appended(server)
    view = f"{handle}.view"
    with server.adbc() as connection, connection.cursor() as cursor:
        cursor.execute(f'CREATE VIEW "{view}" AS SELECT text, n FROM {handle}')
        connection.commit()
    for name, rows in [(handle, wanted), (view, wanted.select("text", "n"))]:
        address = f"{server.http}/frames/{name}"
        equal(pl.scan_parquet(f"{address}.parquet").filter(pl.col("text") == "x").collect().rows(),
              rows.filter(pl.col("text") == "x").rows())
        equal(pl.scan_csv(f"{address}.csv").collect().rows(), rows.rows())
        equal(pl.scan_ndjson(f"{address}.ndjson").collect().rows(), rows.rows())


@case("read_csv, scan_csv, read_ndjson and scan_ndjson read a frame by its address")
def _(server):
    handle, wanted = appended(server)
    equal(pl.read_csv(exported(server, handle, "csv")).rows(), wanted.rows())
    equal(pl.scan_csv(exported(server, handle, "csv")).select("n").collect().rows(), wanted.select("n").rows())
    equal(pl.read_ndjson(exported(server, handle, "ndjson")).rows(), wanted.rows())
    equal(pl.scan_ndjson(exported(server, handle, "ndjson")).collect().rows(), wanted.rows())


@case("read_parquet, scan_parquet, read_csv and read_ndjson read the rows of a statement by its address")
def _(server):
    handle, wanted = appended(server)
    query = urlencode({"query": f"SELECT text, n FROM {handle} WHERE n IS NOT NULL ORDER BY n", "engine": "local"})
    rows = wanted.filter(pl.col("n").is_not_null()).select("text", "n").rows()
    for read in [pl.read_parquet, lambda url: pl.scan_parquet(url).collect()]:
        equal(read(f"{server.http}/exp?{query}&fmt=parquet").rows(), rows)
    equal(pl.read_csv(f"{server.http}/exp?{query}&fmt=csv").rows(), rows)
    equal(pl.read_ndjson(f"{server.http}/exp?{query}&fmt=ndjson").rows(), rows)


@case("read_csv reads a text of many megabytes by its address")
def _(server):
    handle = server.fresh()
    frame = pl.DataFrame({"id": pl.int_range(300_000, eager=True), "text": ["some text of a row"] * 300_000})
    with server.adbc() as connection:
        frame.write_database(handle, connection, engine="adbc")
        connection.commit()
    assert pl.read_csv(exported(server, handle, "csv")).equals(frame)
