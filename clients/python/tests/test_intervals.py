"""Intervals, which polars and pandas have as durations."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pandas
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import framehold
from framehold._rows.convert import with_durations
from framehold.errors import UnsupportedTypeError

LENGTHS = [dt.timedelta(0), dt.timedelta(milliseconds=1), None, dt.timedelta(days=1, hours=3), dt.timedelta(days=49)]
FRAME = pl.DataFrame(
    {"length": pl.Series(LENGTHS, dtype=pl.Duration("us")), "n": pl.Series(range(5), dtype=pl.Int64)},
)
MONTHS = "SELECT 1 AS n, INTERVAL '1 month' AS \"a b\""


def test_a_duration_comes_back_as_it_was_put(server: framehold.Connection, fresh: Callable[[], str]) -> None:
    for frame in (FRAME, FRAME.to_pandas(), FRAME.with_columns(pl.col("length").cast(pl.Duration("ms")))):
        name = fresh()
        server.put(name, frame)
        result = server.get(name)
        assert_frame_equal(result.to_polars(), FRAME)
        assert_frame_equal(server.scan(name).collect(), FRAME)
        assert server.get(name, stream=True).to_polars()["length"].to_list() == LENGTHS
        came = result.to_pandas()["length"]
        assert came.dtype.kind == "m"
        assert [None if pandas.isna(value) else value.to_pytimedelta() for value in came] == LENGTHS


def test_a_time_difference_of_sql_is_a_duration(server: framehold.Connection) -> None:
    result = server.sql(
        "SELECT TIMESTAMP '2026-01-05 12:00' - TIMESTAMP '2026-01-01' AS span, INTERVAL (-5) MINUTE AS past, NULL::INTERVAL AS none"
    )
    spans = {"span": dt.timedelta(days=4, hours=12), "past": dt.timedelta(minutes=-5), "none": None}
    assert result.to_polars().to_dicts() == [spans]
    assert result.to_pandas()["span"][0] == spans["span"]


def test_a_column_with_months_is_refused_by_its_name(server: framehold.Connection) -> None:
    result = server.sql(MONTHS)
    for convert in (result.to_polars, result.to_pandas):
        with pytest.raises(UnsupportedTypeError, match='column "a b" has intervals with months') as raised:
            convert()
        assert "columns=" in (raised.value.hint or "")
    assert result["n"] == [1]
    as_text = server.sql(f'SELECT n, "a b"::VARCHAR AS "a b" FROM ({MONTHS})')
    assert as_text.to_polars().to_dicts() == [{"n": 1, "a b": "1 month"}]


def test_a_scan_gives_the_other_columns(server: framehold.Connection, name: str) -> None:
    server.sql(MONTHS, keep=name)
    scanned = server.scan(name)
    assert scanned.collect_schema()["a b"] == pl.Duration("us")
    assert scanned.select("n").collect()["n"].to_list() == [1]
    assert scanned.select(pl.len()).collect().item() == 1
    for query in (scanned, scanned.select("a b"), scanned.filter(pl.col("a b") > dt.timedelta(1)).select("n")):
        with pytest.raises(UnsupportedTypeError, match='column "a b" has intervals with months'):
            query.collect()


def test_intervals_within_lists_are_refused_by_their_column(
    server: framehold.Connection, fresh: Callable[[], str]
) -> None:
    query = "SELECT 1 AS n, [INTERVAL '1 hour'] AS l, {'a': [INTERVAL '1 hour']} AS s, MAP {'k': INTERVAL '1 hour'} AS m"
    for column in ("l", "s", "m"):
        result = server.sql(f"SELECT n, {column} FROM ({query})")
        with pytest.raises(UnsupportedTypeError, match=f'column "{column}" has intervals inside'):
            result.to_polars()
    view = fresh()
    server.sql(f"CREATE VIEW {view} AS {query}")
    assert server.scan(view).select("n").collect()["n"].to_list() == [1]
    with pytest.raises(UnsupportedTypeError, match='column "l" has intervals inside'):
        server.scan(view).select("l").collect()


def test_parts_of_a_column_are_converted_and_too_long_ones_are_refused() -> None:
    values = [(0, 1, 5000), None, (0, -2, -1000), (0, 0, 0)]
    table = pa.table({"d": pa.array(values, pa.month_day_nano_interval())})
    day = dt.timedelta(1)
    micro = dt.timedelta(microseconds=1)
    expected = [day + 5 * micro, None, -2 * day - micro, dt.timedelta(0)]
    for start in range(5):
        assert with_durations(table.slice(start))["d"].to_pylist() == expected[start:]
    two = pa.concat_tables([table.slice(1, 2), table.slice(0, 1)])
    assert with_durations(two)["d"].to_pylist() == [*expected[1:3], expected[0]]
    long = pa.table({"d": pa.array([(0, 2**31 - 1, 0)], pa.month_day_nano_interval())})
    with pytest.raises(UnsupportedTypeError, match="too long"):
        with_durations(long)
