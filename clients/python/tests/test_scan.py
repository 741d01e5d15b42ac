"""A scan gives what Polars gives of the same rows, whatever is pushed to the server."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import polars as pl
import pytest
from polars import col
from polars.testing import assert_frame_equal

import framehold

UTC = dt.timezone.utc
POOLS: dict[str, tuple[Any, list[Any]]] = {
    "i": (pl.Int64, [None, 0, 1, -1, 2, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]),
    "small": (pl.Int16, [None, -32768, -1, 0, 1, 32767]),
    "u": (pl.UInt64, [None, 0, 1, 2**63, 2**64 - 1]),
    "f": (pl.Float64, [None, float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 0.1, 1.0, 1e300, 5e-324, 2.0**53]),
    "f32": (pl.Float32, [None, float("nan"), float("inf"), 0.0, 0.1, 1.5, -1.5]),
    "s": (pl.String, [None, "", "a", "A", "b", "ä", "😀", "a\nb", "it's", '"', "\\", "%", "a ", " a", "zz"]),
    "b": (pl.Boolean, [None, True, False]),
    "d": (pl.Date, [None, dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2026, 1, 31), dt.date(9999, 12, 31)]),
    "t": (pl.Datetime("us"), [None, dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2026, 1, 31, 12), dt.datetime(9999, 12, 31)]),
    "z": (pl.Datetime("us", "UTC"), [None, dt.datetime(1970, 1, 1, tzinfo=UTC), dt.datetime(2026, 1, 31, 12, tzinfo=UTC)]),
    "n": (pl.Datetime("ns"), [None, dt.datetime(1970, 1, 1), dt.datetime(2026, 1, 31, 12, 0, 0, 1)]),
    'odd "name"': (pl.Int64, [None, 1, 2]),
}  # fmt: skip
ROWS = 400
SEED = 28


def frame_of(chance: random.Random, rows: int = ROWS) -> pl.DataFrame:
    series = [pl.Series(name, chance.choices(pool, k=rows), dtype=dtype) for name, (dtype, pool) in POOLS.items()]
    return pl.DataFrame([*series, pl.Series("row", range(rows), dtype=pl.Int64)])


@pytest.fixture(scope="module")
def frames(url: str) -> Iterator[tuple[framehold.Connection, str, pl.DataFrame]]:
    frame = frame_of(random.Random(SEED))
    with framehold.connect(url) as server:
        kept = server.put(None, frame)
        yield server, kept.handle, frame


def a_comparison(chance: random.Random) -> pl.Expr:
    name = chance.choice(list(POOLS))
    dtype, pool = POOLS[name]
    value = pl.lit(chance.choice(pool), dtype)
    operators: list[Callable[[pl.Expr, pl.Expr], pl.Expr]] = [
        lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b,
        lambda a, b: b < a, lambda a, b: a.eq_missing(b), lambda a, b: a.ne_missing(b),
    ]  # fmt: skip
    if name == "b" and chance.random() < 0.5:
        return col(name)
    if dtype in (pl.Int64, pl.Int16, pl.Float64) and chance.random() < 0.2:
        return chance.choice(operators)(col(name), pl.lit(chance.choice([0, 1, 0.5, 1.0, -1, 2.0**53, 10**6])))
    return chance.choice(operators)(col(name), value)


def a_test(chance: random.Random) -> pl.Expr:
    name = chance.choice(list(POOLS))
    dtype, pool = POOLS[name]
    some = chance.sample(pool, min(len(pool), 3))
    bounds = [pl.lit(value, dtype) for value in chance.sample(pool[1:], 2)]
    tests = [
        lambda: col(name).is_null(),
        lambda: col(name).is_not_null(),
        lambda: col(name).is_in(pl.Series(some, dtype=dtype).implode()),
        lambda: col(name).is_in(some),
        lambda: col(name).is_between(*bounds, closed=chance.choice(["both", "left", "right", "none"])),
        lambda: col("f").is_nan(),
        lambda: col("f").is_not_nan(),
        lambda: col("f").is_finite(),
        lambda: col("s").str.starts_with("a"),
        lambda: col("s").str.to_uppercase() == "A",
        lambda: col("i") > col("small"),
        lambda: (col("small") + 1) > 0,
        lambda: col("small").cast(pl.Float64) > 0.5,
    ]
    if name == "b" or dtype == pl.Boolean:
        tests = tests[:2]
    return chance.choice(tests)()


def a_predicate(chance: random.Random, depth: int = 3) -> pl.Expr:
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice([a_comparison, a_comparison, a_test])(chance)
    if kind < 0.45:
        return ~a_predicate(chance, depth - 1)
    parts = [a_predicate(chance, depth - 1) for _ in range(chance.randint(2, 3))]
    return reduce(
        chance.choice([lambda a, b: a & b, lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b]), parts
    )


@pytest.mark.parametrize("seed", range(4))
def test_any_predicate_gives_the_rows_that_polars_gives(
    frames: tuple[framehold.Connection, str, pl.DataFrame], seed: int
) -> None:
    server, name, frame = frames
    chance = random.Random(f"{SEED}-{seed}")
    scanned, pushed = server.scan(name), 0
    for _ in range(50):
        predicate = a_predicate(chance)
        try:
            expected = frame.filter(predicate)
        except pl.exceptions.PolarsError:
            continue  # what Polars itself refuses
        plan = framehold.explain(scanned.filter(predicate))
        pushed += plan[0].where is not None
        assert_frame_equal(scanned.filter(predicate).collect(), expected, check_exact=True), (str(predicate), str(plan))
    assert pushed > 10


def test_every_simple_comparison_is_pushed_and_right(frames: tuple[framehold.Connection, str, pl.DataFrame]) -> None:
    server, name, frame = frames
    scanned = server.scan(name)
    for column, value in itertools.chain.from_iterable(
        ((c, v) for v in POOLS[c][1][1:]) for c in ("i", "f", "s", "d", "z")
    ):
        literal = pl.lit(value, POOLS[column][0])
        for predicate in (col(column) > literal, ~(col(column) >= literal)):
            assert_frame_equal(scanned.filter(predicate).collect(), frame.filter(predicate), check_exact=True)
    # NaN and infinity stand in no JSON.
    for value in ("1", "it's", dt.date(2026, 1, 31)):
        column = {int: "i", str: "s", dt.date: "d"}[type(value)]
        assert framehold.explain(scanned.filter(col(column) > value))[0].filtered_here is None


def test_columns_and_first_rows_are_pushed(frames: tuple[framehold.Connection, str, pl.DataFrame]) -> None:
    server, name, frame = frames
    scanned = server.scan(name)
    queries = [
        lambda of: of.select("s", "i").head(5),
        lambda of: of.head(7).filter(col("i") > 0),
        lambda of: of.filter(col("i") > 0).head(7).select("row"),
        lambda of: of.slice(10, 20).select("f", "row"),
        lambda of: of.tail(3),
        lambda of: of.select(pl.len()),
        lambda of: of.filter(col("b")).select(pl.len()),
        lambda of: of.group_by("small").agg(col("row").sum()).sort("small"),
        lambda of: (
            of.filter(col("s") == "a").join(of.filter(col("b")), on="small", how="inner").sort("row", "row_right")
        ),
        lambda of: of.with_columns(twice=col("row") * 2).filter(col("twice") > 100).select("row"),
        lambda of: of.filter(pl.lit(False)),
    ]
    for query in queries:
        assert_frame_equal(query(scanned).collect(), query(frame.lazy()).collect(), check_exact=True)
        assert_frame_equal(
            query(scanned).collect(engine="streaming"), query(frame.lazy()).collect(), check_row_order=False
        )
    [pushed] = framehold.explain(queries[0](scanned))
    assert (sorted(pushed.columns or ()), pushed.rows, pushed.where) == (["i", "s"], 5, None)


def test_explain_tells_what_is_pushed_and_what_is_not(frames: tuple[framehold.Connection, str, pl.DataFrame]) -> None:
    server, name, _ = frames
    query = (
        server.scan(name)
        .filter((col("i") > 5) & (col("s").str.len_bytes() > 1) & col("d").is_in([dt.date(2026, 1, 31)]))
        .select("row")
    )
    [pushed] = framehold.explain(query)
    assert pushed.where is not None
    assert sorted(pushed.where.split(" AND ")) == ['"d" IN (?)', '"i" > ?']
    assert pushed.filtered_here is not None
    text = str(framehold.explain(query))
    assert re.search(rf"^scan {name}: .*\n  predicate pushed: .* with .*\n  filtered in Polars: .*$", text)
    assert str(framehold.explain(server.scan(name).head(3))) == f"scan {name}: all columns\n  rows pushed: the first 3"


def test_names_that_differ_only_in_case_are_filtered_here(server: framehold.Connection, name: str) -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "A": [3, 2, 1]})
    server.put(name, frame)
    assert_frame_equal(server.scan(name).filter(col("A") > 1).collect(), frame.filter(col("A") > 1))


def test_a_view_and_a_declared_type_are_scanned(server: framehold.Connection, fresh: Callable[[], str]) -> None:
    table, view = fresh(), fresh()
    server.sql(f"CREATE TABLE {table} (mood ENUM('sad', 'happy'), n INT[2], h HUGEINT)")
    server.sql(f"INSERT INTO {table} VALUES ('sad', [1, 2], 5), ('happy', [3, 4], 6), (NULL, NULL, NULL)")
    assert server.scan(table).filter(col("mood") == "happy").select("n").collect().to_dicts() == [{"n": [3, 4]}]
    server.sql(f"CREATE VIEW {view} AS SELECT mood, n[1] AS first FROM {table}")
    assert server.scan(view).filter(col("first") > 1).collect().to_dicts() == [{"mood": "happy", "first": 3}]


def test_a_frame_that_is_not_there_is_told_by_scan(server: framehold.Connection, name: str) -> None:
    with pytest.raises(framehold.errors.HandleNotFoundError):
        server.scan(name)


def test_a_long_frame_is_scanned_in_batches(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": list(range(300_000))})
    scanned = server.scan(name)
    assert scanned.select(col("n").sum()).collect().item() == sum(range(300_000))
    assert scanned.filter(col("n") >= 299_998).collect()["n"].to_list() == [299_998, 299_999]
    assert scanned.head(1_000_000).collect().height == 300_000
