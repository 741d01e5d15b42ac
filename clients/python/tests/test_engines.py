"""The verbs on a cluster: the same rows as on the engine local."""

from __future__ import annotations

import os
from typing import Any

import pytest
from polars.testing import assert_frame_equal
from test_frame import PLANS, frames, plain
from verb_plans import frame_of

import framehold
from framehold import col

ENGINE = os.environ.get("FRAMEHOLD_TEST_ENGINE", "")
#: Each second plan, each third …
EVERY = int(os.environ.get("FRAMEHOLD_TEST_EVERY", "9"))
pytestmark = pytest.mark.skipif(ENGINE == "", reason="there is no cluster")
__all__ = ["frames"]

#: Some of each kind. On a cluster the first rows of a frame are any, and a division by zero, of which Polars makes NaN, fails.
SOME = [plan for plan in PLANS if plan["verbs"][0][0] != "limit" and "/ CAST(count(*)" not in plan["sql"]][::EVERY]


@pytest.mark.parametrize("plan", SOME, ids=lambda plan: "-".join(verb for verb, *_ in plan["verbs"]))
def test_verbs_give_the_same_rows(frames: dict[str, framehold.Frame], plan: dict[str, Any]) -> None:
    query = frame_of(plan, frames)
    here, there = (plain(query.collect(engine=engine).to_polars()) for engine in ("local", ENGINE))
    assert here.columns == there.columns
    if not plan["ordered"]:
        by = sorted(here.columns, key=lambda name: here.schema[name].is_float())
        here, there = here.sort(by), there.sort(by)
    try:
        assert_frame_equal(there, here, rel_tol=1e-9, check_dtypes=False)
    except AssertionError as error:
        raise AssertionError(f"{query.sql()}\n{error}") from error


def test_rows_are_kept_by_the_cluster(frames: dict[str, framehold.Frame], url: str, name: str) -> None:
    query = frames["verbs_left"].filter(col("n") > 0)
    kept = query.keep(name, engine=ENGINE)
    with framehold.connect(url) as server:
        assert len(server.get(name)) == kept.rows == len(query.collect())
