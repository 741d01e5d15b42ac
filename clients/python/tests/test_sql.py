"""Statements, their parameters and what they give."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

import numpy
import pandas
import pyarrow as pa
import pytest

import framehold

PARAMETERS = [
    None, True, 0, -1, 2**31, 2**63 - 1, -(2**63), 2**100, 0.0, 1.0, -1.5e300, float("inf"), "", "it's; -- \"quoted\" 😀", b"", b"\x00\xff",
    Decimal("1.50"), Decimal("-0.005"), Decimal("12E3"), dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 12, 30, 0, 123456),
    dt.time(23, 59, 59, 1), UUID(int=7), [1, 2, None], ["a", "it's"], [],
]  # fmt: skip


@pytest.mark.parametrize("value", PARAMETERS, ids=repr)
def test_a_value_is_bound_as_what_it_is(server: framehold.Connection, value: object) -> None:
    text = "SELECT ? AS value" if value != [] else "SELECT CAST(? AS INT[]) AS value"
    came = server.sql(text, [value])["value"][0]
    assert came == (str(value) if isinstance(value, UUID) else value)
    if isinstance(value, (bool, float, Decimal)):
        assert type(came) is type(value)


def test_values_with_a_zone_nanoseconds_and_of_numpy_are_bound(server: framehold.Connection) -> None:
    zoned = dt.datetime(2026, 1, 31, 12, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))
    values = [
        zoned,
        pandas.Timestamp("2026-01-31 12:00:00.000000001"),
        numpy.int16(7),
        numpy.float64(0.5),
        pandas.NaT,
        float("nan"),
    ]
    text = (
        "SELECT ?::TIMESTAMPTZ AS a, ?::TIMESTAMP_NS::VARCHAR AS b, ?+0 AS c, ?+0 AS d, ? IS NULL AS e, isnan(?) AS f"
    )
    row = server.sql(text, values).to_pylist()[0]
    assert row["a"] == zoned
    assert (row["b"], row["c"], row["d"], row["e"], row["f"]) == ("2026-01-31 12:00:00.000000001", 7, 0.5, True, True)
    assert server.sql(
        "SELECT ?::TIMESTAMP + ? AS at", [dt.datetime(2026, 1, 1), dt.timedelta(days=-1, microseconds=5)]
    )["at"] == [dt.datetime(2025, 12, 31, 0, 0, 0, 5)]
    assert server.sql("SELECT list_sum(?)::BIGINT AS n", [numpy.array([1, 2, 3])])["n"] == [6]


def test_what_is_no_parameter_is_refused_with_its_type(server: framehold.Connection) -> None:
    with pytest.raises(TypeError, match=r"a builtins\.object cannot be a parameter"):
        server.sql("SELECT ?", [object()])
    with pytest.raises(TypeError, match="goes into a list"):
        server.sql("SELECT ?", "text")
    with pytest.raises(ValueError, match="more than 38 digits"):
        server.sql("SELECT ?", [Decimal("1" * 39)])


def test_parameters_are_values_and_never_sql(server: framehold.Connection, name: str) -> None:
    server.put(name, {"t": ["a", "b"]})
    for hostile in ("' OR 1=1 --", "a'; DROP TABLE x; --", '"', "\\", "$1", "?"):
        assert server.sql(f"SELECT * FROM {name} WHERE t = $t", {"t": hostile}).to_pylist() == []


def test_a_statement_without_rows_gives_its_count(server: framehold.Connection, name: str) -> None:
    created = server.sql(f"CREATE TABLE {name} (n BIGINT)")
    assert (len(created), created.updated) == (0, None)
    inserted = server.sql(f"INSERT INTO {name} SELECT range FROM range(1000)")
    assert (inserted.updated, repr(inserted)) == (1000, "<framehold.Result: 1,000 rows changed>")
    assert server.sql(f"DELETE FROM {name} WHERE n < 10 RETURNING n").to_arrow().num_rows == 10


def test_the_engine_that_ran_is_told_where_one_is_named(server: framehold.Connection) -> None:
    result = server.sql("SELECT 1", engine="local")
    assert result.engine == "local"
    assert result.engine_reason


def test_a_result_may_be_longer_than_memory_pieces(server: framehold.Connection) -> None:
    result = server.sql("SELECT range AS n, repeat('x', 50) AS t FROM range(300000)")
    assert len(result) == 300_000
    assert len(list(result)) > 1


def test_a_statement_that_takes_too_long_ends(server: framehold.Connection) -> None:
    with pytest.raises(framehold.errors.SqlTimeoutError):
        server.sql("SELECT count(*) FROM range(1000000000) a, range(1000000000) b", timeout=0.3)


def test_queries_lists_a_statement_and_cancel_stops_it(server: framehold.Connection) -> None:
    mark = f"mark_{time.time_ns()}"
    failures: list[BaseException] = []

    def run() -> None:
        try:
            server.sql(f"SELECT count(*) AS {mark} FROM range(1000000000) a, range(1000000000) b")
        except framehold.FrameholdError as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 15
    while not (found := [query for query in server.queries() if mark in query.sql]):
        assert time.monotonic() < deadline
    assert found[0].engine == "local"
    server.cancel(found[0].id)
    thread.join(15)
    assert isinstance(failures[0], framehold.errors.SqlCancelledError)


def test_keep_gives_what_put_gives(server: framehold.Connection, fresh: Callable[[], str]) -> None:
    name = fresh()
    kept = server.sql("SELECT range AS n FROM range(10)", keep=name, ttl=60)
    assert (kept.handle, kept.version, kept.rows) == (name, 1, 10)
    assert server.info(name).ttl == 60


def test_names_of_columns_come_as_they_are(server: framehold.Connection, name: str) -> None:
    names = ["a b", "x,y", 'q"q', "ß", "select", "back\\slash", "'"]
    server.put(name, pa.table([pa.array([at]) for at in range(len(names))], names=names))
    assert server.get(name).columns == names
    for at, column in enumerate(names):
        assert server.get(name, [column]).to_pylist() == [{column: at}]
