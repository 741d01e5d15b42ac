"""The verbs give what Polars gives of the same rows."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import reduce
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import framehold
from framehold import col, count, lit

SEED = 28
ROWS = 300
NUMBERS = {"n": [None, 0, 1, -1, 7, 1_000_000], "small": [None, -5, 0, 3], "f": [None, 0.0, 0.5, -1.5, 1e6, 12.25]}
OTHERS: dict[str, list[Any]] = {
    "s": [None, "", "a", "A", "ab", "ä", "😀", "it's", '"', "a%b", "a_b", "!", "\\"],
    "b": [None, True, False],
    "t": [None, dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(2024, 2, 29, 12, 30), dt.datetime(2026, 1, 31)],
    'odd "name {}"': [None, 1, 2],
}
SCHEMA = {
    "n": pl.Int64,
    "small": pl.Int16,
    "f": pl.Float64,
    "s": pl.String,
    "b": pl.Boolean,
    "t": pl.Datetime("us"),
    'odd "name {}"': pl.Int64,
}
Both = tuple[framehold.Frame, pl.LazyFrame]


def frame_of(seed: object) -> pl.DataFrame:
    chance = random.Random(f"{SEED} {seed}")
    columns = {name: chance.choices(pool, k=ROWS) for name, pool in {**NUMBERS, **OTHERS}.items()}
    return pl.DataFrame({**columns, "row": range(ROWS)}, schema={**SCHEMA, "row": pl.Int64})


@pytest.fixture(scope="module")
def both(url: str) -> Iterator[tuple[Both, Both]]:
    with framehold.connect(url) as server:
        frames = [frame_of("left"), frame_of("right").head(40).select("n", "s", "row", "f")]
        names = [server.put(None, each).handle for each in frames]
        yield (server.frame(names[0]), frames[0].lazy()), (server.frame(names[1]), frames[1].lazy())


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers of one type, and decimals that are whole numbers."""
    wide = [name for name, kind in frame.schema.items() if kind.is_integer() or kind.is_decimal()]
    return frame.with_columns(pl.col(wide).cast(pl.Float64)) if wide else frame


def same(ours: framehold.Frame, theirs: pl.LazyFrame, ordered: bool = False) -> None:
    # The optimiser of polars 2.0 takes x == x for true, also where x is NULL.
    expected = plain(theirs.collect(optimizations=pl.QueryOptFlags.none()))
    result = plain(ours.collect().to_polars())
    assert result.columns == expected.columns == ours.columns, str(ours.sql())
    if not ordered:
        # Floats last: they may differ in their last digits.
        by = sorted(result.columns, key=lambda name: result.schema[name].is_float())
        result, expected = result.sort(by), expected.sort(by)
    try:
        assert_frame_equal(result, expected, rel_tol=1e-9)
    except AssertionError as error:
        raise AssertionError(f"{ours.sql()}\n{error}") from error


def number(chance: random.Random, depth: int = 2) -> tuple[framehold.Expr, pl.Expr]:
    if depth == 0 or chance.random() < 0.4:
        name = chance.choice([*NUMBERS, 'odd "name {}"'])
        return (col(name), pl.col(name).cast(pl.Int64) if name == "small" else pl.col(name))
    (a, x), (b, y) = number(chance, depth - 1), number(chance, depth - 1)
    value = chance.choice([0, 1, 2.5, -3])
    return chance.choice(
        [
            lambda: (a + b, x + y),
            lambda: (a - b, x - y),
            lambda: (a * value, x * value),
            lambda: (value - a, value - x),
            lambda: (a / 4, x / 4),
            lambda: (-a, -x),
            lambda: (a.abs(), x.abs()),
            lambda: (a.fill_null(9), x.fill_null(9)),
            lambda: (col("s").length(), pl.col("s").str.len_chars().cast(pl.Int64)),
            lambda: (col("t").year(), pl.col("t").dt.year().cast(pl.Int64)),
            lambda: (col("t").month() + col("t").day(), (pl.col("t").dt.month().cast(pl.Int64) + pl.col("t").dt.day())),
            lambda: (
                col("t").hour() * 60 + col("t").minute(),
                pl.col("t").dt.hour().cast(pl.Int64) * 60 + pl.col("t").dt.minute(),
            ),
        ]
    )()


def condition(chance: random.Random, depth: int = 2) -> tuple[framehold.Expr, pl.Expr]:
    if depth == 0 or chance.random() < 0.4:
        (a, x), (b, y) = number(chance, 1), number(chance, 1)
        text = chance.choice([value for value in OTHERS["s"] if value is not None])
        moment = chance.choice(OTHERS["t"][1:])
        some = chance.sample(NUMBERS["n"], 3)
        return chance.choice(
            [
                lambda: (a > b, x > y), lambda: (a <= b, x <= y), lambda: (a == b, x == y), lambda: (a != 1, x != 1),
                lambda: (col("s") == text, pl.col("s") == text), lambda: (col("s") < text, pl.col("s") < text),
                lambda: (col("s").starts_with(text), pl.col("s").str.starts_with(text)),
                lambda: (col("s").ends_with(text), pl.col("s").str.ends_with(text)),
                lambda: (col("s").contains(text), pl.col("s").str.contains(text, literal=True)),
                lambda: (col("t") >= moment, pl.col("t") >= moment),
                lambda: (a.is_null(), x.is_null()), lambda: (a.is_not_null(), x.is_not_null()),
                lambda: (col("n").is_in(some), pl.col("n").is_in([value for value in some if value is not None])),
                lambda: (col("n").is_in([]), pl.col("n").is_in([])),
                lambda: (a.is_between(-1, 5), x.is_between(-1, 5)), lambda: (col("b"), pl.col("b")),
            ]
        )()  # fmt: skip
    (a, x), (b, y) = condition(chance, depth - 1), condition(chance, depth - 1)
    return chance.choice([lambda: (a & b, x & y), lambda: (a | b, x | y), lambda: (~a, ~x)])()


def verb(chance: random.Random, ours: framehold.Frame, theirs: pl.LazyFrame) -> Both:
    (a, x), (p, q) = number(chance), condition(chance)
    name = chance.choice(["n", "f", "new"])
    return chance.choice(
        [
            lambda: (ours.filter(p), theirs.filter(q)),
            lambda: (ours.filter(p), theirs.filter(q)),
            lambda: (ours.with_columns(a.alias(name)), theirs.with_columns(x.alias(name))),
            lambda: (ours.with_columns(flag=p), theirs.with_columns(flag=q)),
            lambda: (ours.sort("row").limit(chance.randint(0, 200)), None),
            lambda: (ours.distinct(), theirs.unique()),
        ]
    )()


@pytest.mark.parametrize("seed", range(4))
def test_any_chain_of_verbs_gives_the_rows_of_polars(both: tuple[Both, Both], seed: int) -> None:
    chance = random.Random(f"{SEED} chain {seed}")
    for _ in range(15):
        ours, theirs = both[0]
        for _ in range(chance.randint(1, 4)):
            ours_next, theirs_next = verb(chance, ours, theirs)
            if theirs_next is None:
                limit = int(str(ours_next.sql().text).rsplit("LIMIT ", 1)[1])
                theirs_next = theirs.sort("row").limit(limit)
            ours, theirs = ours_next, theirs_next
        same(ours.sort("row"), theirs.sort("row"), ordered=True)


@pytest.mark.parametrize("seed", range(3))
def test_groups_and_joins_give_the_rows_of_polars(both: tuple[Both, Both], seed: int) -> None:
    chance = random.Random(f"{SEED} group {seed}")
    (left, pleft), (right, pright) = both
    for _ in range(10):
        (p, q), (a, x) = condition(chance), number(chance)
        ours, theirs = left.filter(p), pleft.filter(q)
        keys = chance.sample(["s", "small", "b"], chance.randint(1, 2))
        aggregates = [
            (col("n").sum(), pl.col("n").sum()),
            (a.mean().alias("mean"), x.mean().alias("mean")),
            (col("f").min().alias("low"), pl.col("f").min().alias("low")),
            (col("t").max().alias("last"), pl.col("t").max().alias("last")),
            (col("n").n_unique().alias("kinds"), pl.col("n").n_unique().alias("kinds")),
            (col("f").count().alias("values"), pl.col("f").count().alias("values")),
            (count(), pl.len().alias("count")),
            ((col("n").sum() / count()).alias("share"), (pl.col("n").sum() / pl.len()).alias("share")),
            (col("row").std().alias("std"), pl.col("row").std().alias("std")),
        ]
        chosen = chance.sample(aggregates, 4)
        same(ours.group_by(keys).agg(*(o for o, _ in chosen)), theirs.group_by(keys).agg(*(t for _, t in chosen)))
        same(ours.select([o for o, _ in chosen]), theirs.select([t for _, t in chosen]))
        for how in ("inner", "left", "semi", "anti"):
            on = chance.choice([["n"], ["s"], ["n", "s"]])
            kept = left.filter(p).join(right, on, how=how)  # type: ignore[arg-type]
            same(kept, theirs.join(pright, on=on, how=how))  # type: ignore[arg-type]
        joined = ours.join(right, "s").group_by("s").agg(total=col("row_right").sum()).sort("s", nulls_last=True)
        expected = (
            theirs.join(pright, on="s").group_by("s").agg(total=pl.col("row_right").sum()).sort("s", nulls_last=True)
        )
        same(joined, expected, ordered=True)


def test_sort_puts_nulls_first_or_last_and_keeps_its_order_through_select_and_limit(both: tuple[Both, Both]) -> None:
    ours, theirs = both[0]
    for down, last in ((False, False), (True, False), (False, True), (True, True)):
        by = {"descending": [down, False], "nulls_last": last}
        same(ours.sort("f", "row", **by), theirs.sort("f", "row", **by), ordered=True)  # type: ignore[arg-type]
        mine = ours.sort("f", "row", **by).select("row", f=col("n")).limit(20)  # type: ignore[arg-type]
        same(mine, theirs.sort("f", "row", **by).select("row", f=pl.col("n")).limit(20), ordered=True)  # type: ignore[arg-type]
    same(
        ours.sort("row", descending=True).limit(50).filter(col("n") > 0),
        theirs.sort("row", descending=True).limit(50).filter(pl.col("n") > 0),
        ordered=True,
    )
    same(ours.limit(10).limit(20), theirs.limit(10).limit(20))
    same(ours.select("s", "b").distinct(), theirs.select("s", "b").unique())
    same(ours.group_by(col("row") / 100 > 1).agg(n=count()), theirs.group_by(pl.col("row") / 100 > 1).agg(n=pl.len()))


def test_values_are_bound_and_names_are_quoted(server: framehold.Connection, name: str) -> None:
    hostile = "x'; DROP TABLE y; --"
    server.put(name, {'a"b': [hostile, "?"], "select": [1, 2]})
    query = server.frame(name).filter(col('a"b') == hostile).select("select", text=lit("?"))
    assert query.sql().text == f'SELECT t."select" AS "select", ? AS "text" FROM "{name}" AS t WHERE (t."a""b" = ?)'
    assert query.sql().params == ["?", hostile]
    assert str(query.sql()).endswith(f"-- with '?', {hostile!r}")
    assert query.collect().to_pylist() == [{"select": 1, "text": "?"}]
    assert server.sql(*query.sql()).to_pylist() == [{"select": 1, "text": "?"}]


def test_keep_makes_a_frame(server: framehold.Connection, fresh: Callable[[], str]) -> None:
    first, second = fresh(), fresh()
    server.put(first, {"symbol": ["a", "b", "a"], "price": [1.0, 2.0, 3.0]})
    totals = server.frame(first).group_by("symbol").agg(col("price").sum()).sort("symbol")
    kept = totals.keep(second, ttl="1h")
    assert (kept.handle, kept.rows) == (second, 2)
    assert server.get(second).to_pylist() == [{"symbol": "a", "price": 4.0}, {"symbol": "b", "price": 2.0}]


def test_types_beyond_the_plain_are_compared(server: framehold.Connection, name: str) -> None:
    day = dt.date(2026, 1, 31)
    server.put(name, {"d": [day, None], "m": [Decimal("1.50"), Decimal("2.50")], "x": [b"\0", None]})
    frame = server.frame(name)
    assert frame.filter(col("d") == day, col("m") > Decimal("1.25"), col("x") == b"\0").collect()["d"] == [day]
    assert frame.select(col("m").sum()).collect()["m"] == [Decimal("4.00")]


def test_mistakes_are_told(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [1]})
    frame = server.frame(name)
    mistakes: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (TypeError, "write & for and", lambda: frame.filter((col("n") > 1) and (col("n") < 3))),
        (TypeError, r"use is_null\(\)", lambda: frame.filter(col("n") == None)),  # noqa: E711
        (ValueError, "filter takes no aggregate", lambda: frame.filter(col("n").sum() > 1)),
        (ValueError, "is no aggregate", lambda: frame.group_by("n").agg("n")),
        (ValueError, "aggregate of an aggregate", lambda: col("n").sum().max()),
        (ValueError, "two columns are named 'n'", lambda: frame.select("n", col("n") + 1)),
        (ValueError, "limit is -1", lambda: frame.limit(-1)),
        (ValueError, "how is 'outer'", lambda: frame.join(frame, "n", how="outer")),  # type: ignore[arg-type]
        (ValueError, "same connection", lambda: frame.join(7, "n")),  # type: ignore[arg-type]
        (TypeError, "name of a column", lambda: frame.select(7)),  # type: ignore[arg-type]
        (ValueError, "no columns", lambda: frame.select()),
        (framehold.errors.SqlError, "did you mean", lambda: frame.filter(col("nn") > 1).collect()),
        (framehold.errors.HandleNotFoundError, "no frame", lambda: server.frame(f"{name}_no").columns),
    ]
    for kind, text, mistake in mistakes:
        with pytest.raises(kind, match=text):
            mistake()


def test_a_reduced_condition_is_one_statement(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": list(range(100))})
    condition = reduce(lambda a, b: a | b, (col("n") == n for n in range(0, 100, 2)))
    assert len(server.frame(name).filter(condition).collect()) == 50
