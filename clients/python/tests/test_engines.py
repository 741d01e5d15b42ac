"""The verbs on a cluster: the same rows as on the engine local."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from test_frame import condition, frame_of, number, plain, verb

import framehold
from framehold import col, count

ENGINE = os.environ.get("FRAMEHOLD_TEST_ENGINE", "")
pytestmark = pytest.mark.skipif(ENGINE == "", reason="there is no cluster")


@pytest.fixture(scope="module")
def frames(url: str) -> Iterator[list[framehold.Frame]]:
    with framehold.connect(url) as server:
        rows = [frame_of("left"), frame_of("right").head(40).select("n", "s", "row", "f")]
        yield [server.frame(server.put(None, each).handle) for each in rows]


def same(query: framehold.Frame) -> None:
    here, there = (plain(query.collect(engine=engine).to_polars()) for engine in ("local", ENGINE))
    by = sorted(here.columns, key=lambda name: here.schema[name].is_float())
    try:
        assert here.columns == there.columns
        assert_frame_equal(there.sort(by), here.sort(by), rel_tol=1e-9, check_dtypes=False)
    except AssertionError as error:
        raise AssertionError(f"{query.sql()}\n{error}") from error


@pytest.mark.parametrize("seed", range(2))
def test_any_chain_of_verbs_gives_the_same_rows(frames: list[framehold.Frame], seed: int) -> None:
    chance = random.Random(f"engine {seed}")
    for _ in range(8):
        query = frames[0]
        for _ in range(chance.randint(1, 3)):
            query, _ = verb(chance, query, pl.LazyFrame())
        same(query)


def test_groups_and_joins_give_the_same_rows(frames: list[framehold.Frame]) -> None:
    chance = random.Random("engine groups")
    left, right = frames
    aggregates: list[Any] = [
        col("n").sum(),
        col("f").mean(),
        col("t").max(),
        col("s").n_unique(),
        col("row").std(),
        count(),
    ]
    for _ in range(4):
        (p, _), (a, _) = condition(chance), number(chance)
        same(left.filter(p).group_by("b", key=a).agg(chance.sample(aggregates, 4)))
    for how in ("inner", "left", "semi", "anti"):
        same(left.join(right, ["n", "s"], how=how))  # type: ignore[arg-type]


def test_rows_are_kept_by_the_cluster(frames: list[framehold.Frame], url: str, name: str) -> None:
    kept = frames[0].filter(col("n") > 0).keep(name, engine=ENGINE)
    with framehold.connect(url) as server:
        assert len(server.get(name)) == kept.rows == len(frames[0].filter(col("n") > 0).collect())
