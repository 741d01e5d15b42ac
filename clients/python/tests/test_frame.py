"""The verbs give what Polars gives of the same rows."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import reduce
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from verb_plans import FILE, file_text, frame_of, polars_of, random_frames

import framehold
from framehold import col, count, lit

PLANS = json.loads(FILE.read_text(encoding="utf-8"))["plans"]
ROWS = random_frames()


@pytest.fixture(scope="module")
def frames(url: str) -> Iterator[dict[str, framehold.Frame]]:
    with framehold.connect(url) as server:
        for handle, rows in ROWS.items():
            server.put(handle, rows, mode="overwrite")
        yield {handle: server.frame(handle) for handle in ROWS}


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers of one type, and decimals that are whole numbers."""
    wide = [name for name, kind in frame.schema.items() if kind.is_integer() or kind.is_decimal()]
    return frame.with_columns(pl.col(wide).cast(pl.Float64)) if wide else frame


def test_the_file_of_plans_has_the_sql_that_the_verbs_make() -> None:
    assert FILE.read_text(encoding="utf-8") == file_text(), "python verb_plans.py writes clients/verbs.json"


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: "-".join(verb for verb, *_ in plan["verbs"]))
def test_verbs_give_the_rows_of_polars(frames: dict[str, framehold.Frame], plan: dict[str, Any]) -> None:
    ours = frame_of(plan, frames)
    # The optimiser of polars 2.0 takes x == x for true, also where x is NULL.
    expected = plain(polars_of(plan, ROWS).collect(optimizations=pl.QueryOptFlags.none()))
    result = plain(ours.collect().to_polars())
    assert result.columns == expected.columns == ours.columns
    if not plan["ordered"]:
        # Floats last: they may differ in their last digits.
        by = sorted(result.columns, key=lambda name: result.schema[name].is_float())
        result, expected = result.sort(by), expected.sort(by)
    try:
        assert_frame_equal(result, expected, rel_tol=1e-9)
    except AssertionError as error:
        raise AssertionError(f"{ours.sql()}\n{error}") from error


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
