"""Frames of every library, to the server and back."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest

import framehold

ROWS = [{"n": 1, "t": "x"}, {"n": 2, "t": None}, {"n": 3, "t": "grün 😀"}]
TABLE = pa.Table.from_pylist(ROWS)


class WithStream:
    """What any other library has."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


class WithArray:
    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        return TABLE.to_batches()[0].__arrow_c_array__(requested_schema)


SOURCES: dict[str, Callable[[], Any]] = {
    "a table of pyarrow": lambda: TABLE,
    "a record batch": lambda: TABLE.to_batches()[0],
    "a reader of record batches": lambda: TABLE.to_reader(max_chunksize=1),
    "a DataFrame of polars": lambda: polars.DataFrame(ROWS),
    "a DataFrame of pandas": lambda: pandas.DataFrame(ROWS),
    "a relation of DuckDB": lambda: duckdb.sql(
        "SELECT * FROM TABLE_ ORDER BY n".replace("TABLE_", "relation"), connection=RELATIONS
    ),
    "anything with __arrow_c_stream__": WithStream,
    "anything with __arrow_c_array__": WithArray,
    "columns by name": lambda: {"n": [1, 2, 3], "t": ["x", None, "grün 😀"]},
    "rows as dicts": lambda: ROWS,
    "a generator of batches": lambda: (batch for batch in TABLE.to_batches(max_chunksize=1)),
    "a generator of rows": lambda: ([row] for row in ROWS),
    "a generator of DataFrames": lambda: (
        polars.DataFrame(ROWS[at : at + 1], schema={"n": polars.Int64, "t": polars.String}) for at in range(3)
    ),
}
RELATIONS = duckdb.connect()
RELATIONS.execute("CREATE TABLE relation(n BIGINT, t VARCHAR)")
RELATIONS.executemany("INSERT INTO relation VALUES (?, ?)", [(row["n"], row["t"]) for row in ROWS])


@pytest.mark.parametrize("source", SOURCES)
def test_put_takes_any_source(server: framehold.Connection, name: str, source: str) -> None:
    kept = server.put(name, SOURCES[source]())
    assert (kept.handle, kept.version, kept.rows) == (name, 1, 3)
    assert server.get(name).to_pylist() == ROWS


def test_a_result_is_any_frame(server: framehold.Connection, name: str) -> None:
    server.put(name, TABLE)
    result = server.get(name)
    assert result.to_arrow().equals(TABLE)
    assert result.to_polars().to_dicts() == ROWS
    assert polars.DataFrame(result).to_dicts() == ROWS
    assert pa.table(result).equals(TABLE)
    assert result.to_pandas()["n"].tolist() == [1, 2, 3]
    assert RELATIONS.from_arrow(pa.table(result)).fetchall() == [(1, "x"), (2, None), (3, "grün 😀")]
    assert [batch.num_rows for batch in result] == [3]
    assert (len(result), result.columns, result["n"], result.schema.names) == (3, ["n", "t"], [1, 2, 3], ["n", "t"])
    with pytest.raises(KeyError, match="no column 'm'"):
        result["m"]


def test_the_server_makes_a_handle_where_none_is_given(server: framehold.Connection) -> None:
    kept = server.put(None, TABLE)
    assert server.get(kept.handle).to_pylist() == ROWS


def test_a_stream_is_read_once_as_rows_come(server: framehold.Connection, name: str) -> None:
    table = pa.table({"n": list(range(500_000))})
    server.put(name, table)
    with server.get(name, stream=True) as stream:
        assert stream.columns == ["n"]
        assert sum(batch.num_rows for batch in stream) == 500_000
        with pytest.raises(ValueError, match="read already"):
            iter(stream)
    assert server.get(name, stream=True).to_arrow().equals(table)
    assert polars.DataFrame(server.sql(f"SELECT n FROM {name}", stream=True)).height == 500_000
    # Left before its end, it does not disturb later requests.
    with server.get(name, stream=True) as stream:
        next(iter(stream))
    assert len(server.get(name, rows=(0, 5))) == 5


def test_a_frame_is_copied_from_stream_to_put(server: framehold.Connection, fresh: Callable[[], str]) -> None:
    first, second = fresh(), fresh()
    server.put(first, pa.table({"n": list(range(300_000))}))
    assert server.put(second, server.get(first, stream=True)).rows == 300_000
    assert server.get(second).to_arrow().equals(server.get(first).to_arrow())


def test_rows_are_a_slice_a_range_or_a_pair(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": list(range(10))})
    for rows in (slice(2, 4), range(2, 4), (2, 4)):
        assert server.get(name, rows=rows)["n"] == [2, 3]
    assert server.get(name, rows=slice(8, None))["n"] == [8, 9]
    assert server.get(name, rows=slice(None, 2))["n"] == [0, 1]
    assert server.get(name, rows=(0, 0))["n"] == []
    for rows in (slice(0, 10, 2), slice(-2, None), (3, -1)):
        with pytest.raises(ValueError, match="rows is"):
            server.get(name, rows=rows)


def test_thousands_of_columns_can_be_chosen(server: framehold.Connection, name: str) -> None:
    names = [f"a column with a long name {n}" for n in range(1000)]
    server.put(name, {column: [at] for at, column in enumerate(names)})
    chosen = names[::-2]
    result = server.get(name, chosen, rows=(0, 1))
    assert result.columns == chosen
    assert result[names[999]] == [999]


def test_every_type_comes_back(server: framehold.Connection, name: str) -> None:
    berlin = dt.timezone(dt.timedelta(hours=1))
    table = pa.table(
        {
            "int8": pa.array([-128, None], pa.int8()),
            "uint64": pa.array([2**64 - 1, None], pa.uint64()),
            "float32": pa.array([float("nan"), -0.0], pa.float32()),
            "float64": pa.array([float("inf"), 5e-324]),
            "decimal": pa.array([Decimal("-1.50"), None], pa.decimal128(38, 2)),
            "binary": pa.array([b"\0\xff", b""]),
            "date": pa.array([dt.date(1, 1, 1), None]),
            "time": pa.array([dt.time(23, 59, 59, 999_999), None], pa.time64("us")),
            "zoned": pa.array([dt.datetime(2026, 1, 31, 12, tzinfo=berlin), None], pa.timestamp("us", "UTC")),
            "nanoseconds": pa.array([1, None], pa.timestamp("ns")),
            "list": pa.array([[1, None], None], pa.list_(pa.int64())),
            "struct": pa.array([{"a": 1, "b": "x"}, None], pa.struct({"a": pa.int64(), "b": pa.string()})),
            "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        }
    )
    server.put(name, table)
    came = server.get(name).to_arrow()
    assert came.drop_columns(["float32"]).to_pylist() == table.drop_columns(["float32"]).to_pylist()
    assert str(came["float32"].to_pylist()) == "[nan, -0.0]"


def test_polars_types_come_back(server: framehold.Connection, name: str) -> None:
    frame = polars.DataFrame(
        {
            "category": polars.Series(["a", "b", None], dtype=polars.Categorical),
            "enum": polars.Series(["x", "y", None], dtype=polars.Enum(["x", "y"])),
            "milliseconds": polars.Series([dt.datetime(2026, 1, 31), None, None], dtype=polars.Datetime("ms")),
            "unsigned": polars.Series([255, None, 0], dtype=polars.UInt8),
            "lists": [["a", "long text that does not fit into a view"], [], None],
        }
    )
    server.put(name, frame)
    came = server.get(name).to_polars()
    assert came["category"].to_list() == ["a", "b", None]
    assert came["enum"].to_list() == ["x", "y", None]
    assert came["milliseconds"].to_list() == frame["milliseconds"].to_list()
    assert came["unsigned"].dtype == polars.UInt8
    assert came["lists"].to_list() == frame["lists"].to_list()


def test_an_index_of_pandas_is_a_column_where_it_has_a_name(
    server: framehold.Connection, fresh: Callable[[], str]
) -> None:
    days = pandas.DatetimeIndex(["2026-01-01", "2026-01-02"], name="day")
    named, filtered = fresh(), fresh()
    server.put(named, pandas.DataFrame({"price": [1.0, 2.0]}, index=days))
    assert server.get(named).columns == ["day", "price"]
    levels = pandas.DataFrame({"a": [1], "b": [2], "c": [3], "d": [4]}).set_index(["d", "b"])
    server.put(named, levels, mode="overwrite")
    assert server.get(named).columns == ["d", "b", "a", "c"]
    frame = pandas.DataFrame({"n": [1, 2, 3]})
    server.put(filtered, frame[frame["n"] > 1])
    assert server.get(filtered).to_pylist() == [{"n": 2}, {"n": 3}]
    with pytest.raises(ValueError, match="index has no name"):
        server.put(fresh(), pandas.DataFrame({"price": [1.0, 2.0]}, index=days.rename(None)))


def test_whole_numbers_with_null_are_exact_in_pandas(server: framehold.Connection, name: str) -> None:
    frame = pandas.DataFrame(
        {
            "n": pandas.array([2**53 + 1, None, -(2**63)], "Int64"),
            "u": pandas.array([2**64 - 1, None, 0], "UInt64"),
            "small": pandas.array([1, None, 3], "Int8"),
            "whole": pandas.Series([2**53 + 1, 0, 1], dtype="int64"),
        }
    )
    server.put(name, frame)
    came = server.get(name).to_pandas()
    pandas.testing.assert_frame_equal(came, frame)
    assert str(server.get(name).to_pandas(types_mapper=None)["n"].dtype) == "float64"


def test_columns_of_the_same_name_all_come(server: framehold.Connection) -> None:
    result = server.sql("SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a_1")
    assert result.to_pylist() == [{"a": 1, "a_2": 2, "b": 3, "a_1": 4}]
    assert result.to_polars().columns == ["a", "a_2", "b", "a_1"]


def test_a_value_that_python_cannot_hold_is_told_with_its_column(server: framehold.Connection) -> None:
    result = server.sql("SELECT 1 AS n, DATE '-0044-03-15' AS ides")
    readers: list[Callable[[], object]] = [result.to_pandas, result.to_pylist, lambda: result["ides"]]
    for read in readers:
        with pytest.raises(framehold.errors.UnsupportedTypeError, match='column "ides" has a value') as raised:
            read()
        assert "::VARCHAR" in (raised.value.hint or "")
    assert result["n"] == [1]
    assert "-0044" in repr(result)


def test_one_long_batch_is_sent_in_parts(server: framehold.Connection, name: str) -> None:
    numbers = pa.array(range(4_000_000), pa.int64())
    assert server.put(name, pa.record_batch({"n": numbers, "m": numbers})).rows == 4_000_000
    assert server.sql(f"SELECT sum(n)::BIGINT AS total FROM {name}")["total"] == [7_999_998_000_000]


def test_what_is_refused_early_is_told_in_the_midst_of_sending(server: framehold.Connection, name: str) -> None:
    server.put(name, TABLE)

    def endless() -> Iterator[pa.Table]:
        while True:
            yield pa.table({"n": list(range(10_000))})

    start = time.monotonic()
    with pytest.raises(framehold.errors.HandleExistsError) as raised:
        server.put(name, endless())
    assert raised.value.hint is not None
    assert time.monotonic() - start < 10


def test_an_iterable_that_fails_leaves_nothing(server: framehold.Connection, name: str) -> None:
    def failing() -> Iterator[pa.Table]:
        yield TABLE
        raise RuntimeError("the source is broken")

    with pytest.raises(RuntimeError, match="the source is broken"):
        server.put(name, failing())
    with pytest.raises(framehold.errors.HandleNotFoundError):
        server.get(name)


def test_what_holds_no_rows_is_refused_with_its_type(server: framehold.Connection, name: str) -> None:
    for wrong in (7, "text", b"bytes", object(), None):
        with pytest.raises(TypeError, match="cannot be sent"):
            server.put(name, wrong)  # type: ignore[arg-type]
    for query in (polars.LazyFrame({"n": [1]}), server.frame(name)):
        with pytest.raises(TypeError, match=r"has not run.*\.collect\(\)"):
            server.put(name, query)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="single column"):
        server.put(name, polars.Series([1, 2]))
    with pytest.raises(ValueError, match="empty"):
        server.put(name, [].__iter__())
    with pytest.raises(ValueError, match="mode is 'replace'"):
        server.put(name, TABLE, mode="replace")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="list of names"):
        server.get(name, columns="n")


def test_a_frame_without_rows_keeps_its_columns(server: framehold.Connection, fresh: Callable[[], str]) -> None:
    for empty in (
        TABLE.slice(0, 0),
        polars.DataFrame(ROWS).clear(),
        pandas.DataFrame({"n": pandas.Series([], dtype="int64")}),
    ):
        name = fresh()
        assert server.put(name, empty).rows == 0
        assert server.get(name).columns[0] == "n"


def test_threads_share_a_connection(server: framehold.Connection, name: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server.put(name, {"n": list(range(1000))})
    with ThreadPoolExecutor(12) as threads:
        sums = list(threads.map(lambda at: sum(server.get(name, rows=(at, at + 100))["n"]), range(60)))
    assert sums == [sum(range(at, at + 100)) for at in range(60)]
