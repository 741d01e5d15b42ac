"""Every type in by one client and out equal by another, with NULLs, and without rows."""

import json
import math
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pandas as pd
import polars as pl
import pyarrow as pa
from framehold_cases import case, equal, fails

UTC = timezone.utc
UUIDS = [UUID(int=0).bytes, UUID("6a2f0b1e-6c1c-4b9e-9a53-0f1d2c3b4a59").bytes]

# name: type, values beside NULL, type that comes out (None: the same), /exec type, what /exec gives
TYPES = {
    "bool": (pa.bool_(), [True, False], None, "BOOLEAN", [True, False]),
    "int8": (pa.int8(), [-128, 127], None, "BYTE", [-128, 127]),
    "int16": (pa.int16(), [-32768, 32767], None, "SHORT", [-32768, 32767]),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1], None, "INT", [-(2**31), 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), 2**63 - 1], None, "LONG", [-(2**63), 2**63 - 1]),
    "uint8": (pa.uint8(), [0, 255], None, "SHORT", [0, 255]),
    "uint16": (pa.uint16(), [0, 65535], None, "INT", [0, 65535]),
    "uint32": (pa.uint32(), [0, 2**32 - 1], None, "LONG", [0, 2**32 - 1]),
    "uint64": (pa.uint64(), [0, 2**64 - 1], None, "DECIMAL(20,0)", ["0", str(2**64 - 1)]),
    "float16": (pa.float16(), [1.5, -2.0], pa.float32(), "FLOAT", [1.5, -2.0]),
    "float32": (pa.float32(), [1.5, -math.inf], None, "FLOAT", [1.5, None]),
    "float64": (pa.float64(), [0.1, math.inf], None, "DOUBLE", [0.1, None]),
    "decimal32": (pa.decimal32(9, 2), [Decimal("1.25"), Decimal("-9999999.99")], pa.decimal128(9, 2), "DECIMAL(9,2)", ["1.25", "-9999999.99"]),
    "decimal64": (pa.decimal64(18, 3), [Decimal("1.250"), Decimal("-0.001")], pa.decimal128(18, 3), "DECIMAL(18,3)", ["1.250", "-0.001"]),
    "decimal128": (pa.decimal128(38, 0), [Decimal("9" * 38), Decimal("-" + "9" * 38)], None, "DECIMAL(38,0)", ["9" * 38, "-" + "9" * 38]),
    "decimal256": (pa.decimal256(38, 5), [Decimal("1.25000"), Decimal("-2.50000")], pa.decimal128(38, 5), "DECIMAL(38,5)", ["1.25000", "-2.50000"]),
    "utf8": (pa.string(), ["", "it's \"🦆\"\n"], None, "VARCHAR", ["", "it's \"🦆\"\n"]),
    "large_utf8": (pa.large_string(), ["a", "bb"], pa.string(), "VARCHAR", ["a", "bb"]),
    "utf8_view": (pa.string_view(), ["short", "longer than twelve bytes"], pa.string(), "VARCHAR", ["short", "longer than twelve bytes"]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["b", "a"], pa.string(), "VARCHAR", ["b", "a"]),
    "binary": (pa.binary(), [b"", b"\xff\x00\x80"], None, "BINARY", ["", "/wCA"]),
    "large_binary": (pa.large_binary(), [b"a", b"b"], pa.binary(), "BINARY", ["YQ==", "Yg=="]),
    "binary_view": (pa.binary_view(), [b"a", b"b" * 20], pa.binary(), "BINARY", ["YQ==", "YmJiYmJiYmJiYmJiYmJiYmJiYmI="]),
    "fixed_binary": (pa.binary(3), [b"abc", b"\0\0\0"], pa.binary(), "BINARY", ["YWJj", "AAAA"]),
    "date32": (pa.date32(), [date(2026, 1, 31), date(1, 1, 1)], None, "DATE", ["2026-01-31T00:00:00.000Z", "0001-01-01T00:00:00.000Z"]),
    "date64": (pa.date64(), [date(2026, 1, 31), date(1969, 12, 31)], pa.date32(), "DATE", ["2026-01-31T00:00:00.000Z", "1969-12-31T00:00:00.000Z"]),
    "time_s": (pa.time32("s"), [time(0), time(23, 59, 59)], pa.time64("us"), "TIME", ["00:00:00.000000", "23:59:59.000000"]),
    "time_ms": (pa.time32("ms"), [time(0), time(12, 0, 0, 5000)], pa.time64("us"), "TIME", ["00:00:00.000000", "12:00:00.005000"]),
    "time_us": (pa.time64("us"), [time(0), time(23, 59, 59, 999_999)], None, "TIME", ["00:00:00.000000", "23:59:59.999999"]),
    "time_ns": (pa.time64("ns"), [time(0), time(12, 0, 0, 5)], None, "TIME", ["00:00:00.000000000", "12:00:00.000005000"]),
    "timestamp_s": (pa.timestamp("s"), [datetime(2026, 1, 31, 12), datetime(1969, 12, 31)], pa.timestamp("us"), "TIMESTAMP", ["2026-01-31T12:00:00.000000Z", "1969-12-31T00:00:00.000000Z"]),
    "timestamp_ms": (pa.timestamp("ms"), [datetime(2026, 1, 31, 12, 0, 0, 5000), datetime(1, 1, 1)], pa.timestamp("us"), "TIMESTAMP", ["2026-01-31T12:00:00.005000Z", "0001-01-01T00:00:00.000000Z"]),
    "timestamp_us": (pa.timestamp("us"), [datetime(2026, 1, 31, 12, 0, 0, 5), datetime(9999, 12, 31)], None, "TIMESTAMP", ["2026-01-31T12:00:00.000005Z", "9999-12-31T00:00:00.000000Z"]),
    "timestamp_ns": (pa.timestamp("ns"), [pd.Timestamp("2026-01-31 12:00:00.123456789"), pd.Timestamp("1960-01-01")], None, "TIMESTAMP_NS", ["2026-01-31T12:00:00.123456789Z", "1960-01-01T00:00:00.000000000Z"]),
    "timestamp_utc": (pa.timestamp("us", "UTC"), [datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(1969, 12, 31, tzinfo=UTC)], None, "TIMESTAMP", ["2026-01-31T12:00:00.000000Z", "1969-12-31T00:00:00.000000Z"]),
    "timestamp_zoned": (pa.timestamp("ms", "Europe/Berlin"), [datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)], pa.timestamp("us", "UTC"), "TIMESTAMP", ["2026-01-31T12:00:00.000000Z", "2026-07-01T00:00:00.000000Z"]),
    "interval": (pa.month_day_nano_interval(), [pa.MonthDayNano([14, 3, 4_500_000_000]), pa.MonthDayNano([0, 0, 0])], None, "INTERVAL", ["P1Y2M3DT4.5S", "PT0S"]),
    "duration": (pa.duration("ms"), [timedelta(hours=1), timedelta(milliseconds=5)], pa.month_day_nano_interval(), "INTERVAL", ["PT1H", "PT0.005S"]),
    "list": (pa.list_(pa.int32()), [[1, None, 3], []], None, "ARRAY", [[1, None, 3], []]),
    "large_list": (pa.large_list(pa.string()), [["a"], [None]], pa.list_(pa.string()), "ARRAY", [["a"], [None]]),
    "fixed_list": (pa.list_(pa.float64(), 2), [[1.0, 2.0], [None, 4.0]], pa.list_(pa.float64()), "ARRAY", [[1.0, 2.0], [None, 4.0]]),
    "list_of_lists": (pa.list_(pa.list_(pa.string())), [[["a"], None], [[]]], None, "ARRAY", [[["a"], None], [[]]]),
    "struct": (pa.struct({"a": pa.int32(), "b": pa.string()}), [{"a": 1, "b": "x"}, {"a": None, "b": None}], None, "JSON", [{"a": 1, "b": "x"}, {"a": None, "b": None}]),
    "map": (pa.map_(pa.string(), pa.int32()), [[("one", 1), ("none", None)], []], None, "JSON", [{"one": 1, "none": None}, {}]),
    "deep": (pa.list_(pa.struct({"x": pa.list_(pa.date32())})), [[{"x": [date(2026, 1, 31)]}], [None]], None, "JSON|ARRAY", [[{"x": ["2026-01-31T00:00:00.000Z"]}], [None]]),
    "uuid": (pa.uuid(), UUIDS, pa.string(), "UUID", [str(UUID(bytes=value)) for value in UUIDS]),
    "json": (pa.json_(), ['{"a":[1,null]}', '"text"'], pa.string(), "JSON", [{"a": [1, None]}, "text"]),
}


def array(name):
    """Two values with a NULL between them."""
    kind, [first, last], *_ = TYPES[name]
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array([first, None, last], kind.storage_type))
    if pa.types.is_float16(kind):
        import numpy as np

        return pa.array([np.float16(first), None, np.float16(last)], kind)
    return pa.array([first, None, last], kind)


def every_type():
    return pa.table({name: array(name) for name in TYPES})


def storage(column):
    """Without what an extension type adds: pyarrow makes objects of its own of those."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def expected_values(name):
    kind, [first, last], *_ = TYPES[name]
    if name == "uuid":
        first, last = (str(UUID(bytes=value)) for value in (first, last))
    if name == "duration":
        first, last = pa.MonthDayNano([0, 0, 3_600_000_000_000]), pa.MonthDayNano([0, 0, 5_000_000])
    if name == "timestamp_zoned":
        first, last = first.astimezone(UTC), last.astimezone(UTC)
    return [first, None, last]


def check(table):
    """Names, types and values of a table that came back."""
    equal(table.column_names, list(TYPES))
    wrong = []
    for name, (kind, _, out, *_) in TYPES.items():
        column = storage(table[name])
        if column.type != (out or kind):
            wrong.append(f"{name}: type {column.type}, not {out or kind}")
        values, expected = column.to_pylist(), expected_values(name)
        if name == "float16":
            expected = [value if value is None else float(value) for value in expected]
        if values != expected:
            wrong.append(f"{name}: {values!r}, not {expected!r}")
    assert not wrong, "\n" + "\n".join(wrong)


def check_exec(answer):
    equal([column["name"] for column in answer["columns"]], list(TYPES))
    wrong = []
    for number, (name, (_, _, _, kind, [first, last])) in enumerate(TYPES.items()):
        told = answer["columns"][number]["type"]
        if told not in kind.split("|"):
            wrong.append(f"{name}: type {told}, not {kind}")
        values = [row[number] for row in answer["dataset"]]
        if values != [first, None, last]:
            wrong.append(f"{name}: {values!r}, not {[first, None, last]!r}")
    assert not wrong, "\n" + "\n".join(wrong)


def held(server):
    """The handle of a frame of every type, put by pyarrow."""
    if not hasattr(server, "every_type"):
        server.every_type = server.fresh("every_type")
        server.put(server.every_type, every_type())
    return server.every_type


def by_adbc(server, sql):
    with server.adbc() as connection, connection.cursor() as cursor:
        return cursor.execute(sql).fetch_arrow_table()


@case("in by pyarrow, out by pyarrow")
def _(server):
    check(server.get(held(server)))


@case("in by pyarrow, out by pyarrow as SQL")
def _(server):
    check(server.get(f"SELECT * FROM {held(server)}"))


@case("in by pyarrow, out by ADBC")
def _(server):
    check(by_adbc(server, f"SELECT * FROM {held(server)}"))


@case("in by pyarrow, out by GET /exec")
def _(server):
    check_exec(server.exec(handle=held(server)))


@case("in by pyarrow, out by GET /exec as SQL")
def _(server):
    check_exec(server.exec(query=f"SELECT * FROM {held(server)}", engine="local"))


@case("in by pyarrow, out by polars")
def _(server):
    # polars has no type for an interval of months and days.
    columns = ", ".join(f'"{name}"' for name in TYPES if name not in ("interval", "duration"))
    with server.adbc() as connection:
        frame = pl.read_database(f"SELECT {columns} FROM {held(server)}", connection)
    direct = pl.from_arrow(server.get(f"SELECT {columns} FROM {held(server)}"))
    assert frame.equals(direct)
    equal(frame["int64"].to_list(), [-(2**63), None, 2**63 - 1])
    equal(frame["decimal128"].to_list(), expected_values("decimal128"))


@case("in by pyarrow, out by pandas")
def _(server):
    with server.adbc() as connection:
        frame = pd.read_sql(f"SELECT * FROM {held(server)}", connection, dtype_backend="pyarrow")
    equal(frame.columns.tolist(), list(TYPES))
    equal(frame["int64"].dropna().tolist(), [-(2**63), 2**63 - 1])
    equal(frame["utf8"].dropna().tolist(), expected_values("utf8")[::2])
    assert frame.iloc[1].isna().all()


@case("in by ADBC, out by pyarrow and by GET /exec")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        equal(cursor.adbc_ingest("ingested", every_type()), 3)
    check(server.get("ingested"))
    check_exec(server.exec(handle="ingested"))


@case("in by an append to itself, out twice")
def _(server):
    server.put("twice", every_type())
    server.put("twice", every_type(), mode="append")
    back = server.get("twice")
    check(back.slice(0, 3))
    check(back.slice(3))


@case("in by CREATE TABLE AS, out by pyarrow")
def _(server):
    with server.adbc() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE copied AS SELECT * FROM {held(server)}")
        cursor.execute(f"INSERT INTO copied SELECT * FROM {held(server)}")
    check(server.get("copied").slice(3))


@case("in as a parameter, out as a value")
def _(server):
    wrong = []
    with server.adbc() as connection:
        for name, (kind, _, out, *_) in TYPES.items():
            with connection.cursor() as cursor:
                try:
                    batch = pa.record_batch({"value": array(name)})
                    column = storage(cursor.execute("SELECT ? AS value", batch).fetch_arrow_table()["value"])
                    values = column.to_pylist()
                    if values != expected_values(name):
                        wrong.append(f"{name}: {values!r}, not {expected_values(name)!r}")
                except Exception as error:
                    wrong.append(f"{name}: {error}")
    assert not wrong, "\n" + "\n".join(wrong)


@case("a frame of every type and no rows keeps every type")
def _(server):
    empty = every_type().slice(0, 0)
    server.put("no_rows", empty)
    back = server.get("no_rows")
    equal(back.num_rows, 0)
    full = server.get(held(server))
    equal(back.schema, full.schema)
    equal(by_adbc(server, "SELECT * FROM no_rows").schema, full.schema)
    equal(server.exec(handle="no_rows")["dataset"], [])


@case("the schema that is told before equals that of the rows")
def _(server):
    import pyarrow.flight as flight

    full = server.get(held(server))
    with server.flight() as client:
        equal(client.get_schema(flight.FlightDescriptor.for_path(held(server))).schema, full.schema)
        [listed] = [info for info in client.list_flights(held(server).encode())]
        equal(listed.schema, full.schema)
    with server.adbc() as connection:
        told = connection.adbc_get_table_schema(held(server))
    equal([field.type for field in told], [field.type for field in full.schema])


@case("a frame of NULLs alone keeps its types")
def _(server):
    nulls = pa.table({name: pa.array([None, None], kind) for name, (kind, *_) in TYPES.items()})
    server.put("nulls", nulls)
    back = server.get("nulls")
    equal(back.schema, server.get(held(server)).schema)
    equal([back[name].null_count for name in TYPES], [2] * len(TYPES))


@case("NaN and negative zero stay what they are")
def _(server):
    server.put("odd_floats", pa.table({"x": [math.nan, -0.0, None]}))
    nan, zero, none = server.get("odd_floats")["x"].to_pylist()
    assert math.isnan(nan) and math.copysign(1, zero) == -1 and none is None


@case("columns keep their names, also those that repeat or differ only in case")
def _(server):
    names = ["a", "A", "a", "", "with space", "select", "ü🦆", 'quote"']
    server.put("names", pa.Table.from_arrays([pa.array([n]) for n in range(len(names))], names=names))
    back = server.get("names")
    equal(back.column_names, names)
    equal([column.to_pylist() for column in back.columns], [[n] for n in range(len(names))])


@case("types that only SQL has come out as their nearest kin")
def _(server):
    sql = """SELECT 170141183460469231731687303715884105727::HUGEINT // 10 AS huge, sum(range) AS total,
                    'x'::ENUM('x', 'y') AS enum, '101'::BIT AS bits, [1, 2]::INTEGER[2] AS fixed,
                    TIMETZ '12:00:00+02' AS timetz FROM range(4)"""
    back = by_adbc(server, sql)
    kinds = {field.name: field.type for field in back.schema}
    equal((kinds["huge"], kinds["total"]), (pa.decimal128(38, 0), pa.decimal128(38, 0)))
    equal(kinds["enum"], pa.string())
    row = back.to_pylist()[0]
    equal((row["huge"], row["total"], row["enum"], row["fixed"]), (Decimal(2**127 // 10), Decimal(6), "x", [1, 2]))


@case("a union comes out with the member of each row")
def _(server):
    sql = "SELECT u FROM (VALUES (union_value(n := 1)::UNION(n INTEGER, t VARCHAR)), ('x'::UNION(n INTEGER, t VARCHAR)), (NULL)) v(u)"
    back = by_adbc(server, sql)
    assert pa.types.is_union(back["u"].type) and back["u"].type.mode == "sparse", back["u"].type
    equal(back["u"].to_pylist(), [1, "x", None])


@case("a type that cannot be held is refused with the name of its column")
def _(server):
    too_wide = pa.table({"wide": pa.array([Decimal("1" * 50)], pa.decimal256(60, 0))})
    with fails("wide"):
        server.put("refused", too_wide)
    negative = pa.table({"back": pa.array([pa.MonthDayNano([-1, 0, 0])])})
    with fails("back"):
        server.put("refused", negative)
    equal(json.loads(json.dumps(server.exec(query="SELECT 1 AS n", engine="local")))["dataset"], [[1]])
