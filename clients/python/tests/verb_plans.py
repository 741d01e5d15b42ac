"""Queries of verbs as plain values: what clients/verbs.json has, and the same in the verbs of the package and of Polars.

``python verb_plans.py`` writes that file anew. clients/README.md describes it.
"""

from __future__ import annotations

import datetime as dt
import json
import operator
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import framehold
from framehold import col, count, lit

FILE = Path(__file__).parents[2] / "verbs.json"
SEED = 28
ROWS = 300
ODD = 'odd "name {}"'
MOMENTS = [dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(2024, 2, 29, 12, 30), dt.datetime(2026, 1, 31)]
POOLS: dict[str, list[Any]] = {
    "n": [None, 0, 1, -1, 7, 1_000_000],
    "small": [None, -5, 0, 3],
    "f": [None, 0.0, 0.5, -1.5, 1e6, 12.25],
    "s": [None, "", "a", "A", "ab", "ä", "😀", "it's", '"', "a%b", "a_b", "!", "\\"],
    "b": [None, True, False],
    "t": [None, *MOMENTS],
    ODD: [None, 1, 2],
}
TYPES = {"n": pl.Int64, "small": pl.Int16, "f": pl.Float64, "s": pl.String, "b": pl.Boolean, "t": pl.Datetime("us")}
SCHEMA = {**TYPES, ODD: pl.Int64, "row": pl.Int64}
COLUMNS = {"verbs_left": list(SCHEMA), "verbs_right": ["n", "s", "row", "f"]}

Expression = list[Any]
Verb = list[Any]
Plan = dict[str, Any]


def random_frames() -> dict[str, pl.DataFrame]:
    frames = {}
    for handle, rows in (("verbs_left", ROWS), ("verbs_right", 40)):
        chance = random.Random(f"{SEED} {handle}")
        columns = {name: chance.choices(pool, k=rows) for name, pool in POOLS.items()}
        frames[handle] = pl.DataFrame({**columns, "row": range(rows)}, schema=SCHEMA).select(COLUMNS[handle])
    return frames


# In the verbs of the package

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "and": operator.and_, "or": operator.or_, "not": operator.invert,
}  # fmt: skip


def value_of(value: Any) -> Any:
    return dt.datetime.fromisoformat(value["timestamp"]) if isinstance(value, dict) else value


def expression_of(expression: Any, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """``["gt", ["col", "n"], 1]``; what is no list is a value. What ``functions`` has not is a method of its first operand."""
    if not isinstance(expression, list):
        return value_of(expression)
    name, *given = expression
    if name == "is_in":
        return functions[name](expression_of(given[0], functions), [value_of(value) for value in given[1]])
    operands = [expression_of(each, functions) for each in given]
    made = functions.get(name) or OPERATORS.get(name)
    return made(*operands) if made is not None else getattr(operands[0], name)(*operands[1:])


OURS: dict[str, Callable[..., Any]] = {
    "col": col,
    "lit": lit,
    "count": lambda *of: of[0].count() if of else count(),
    "is_in": lambda column, values: column.is_in(values),
}


# In Polars

THEIRS: dict[str, Callable[..., Any]] = {
    "col": lambda name: pl.col(name).cast(pl.Int64) if name == "small" else pl.col(name),
    "lit": pl.lit,
    "count": lambda *of: of[0].count() if of else pl.len().alias("count"),
    "is_in": lambda column, values: column.is_in([value for value in values if value is not None]),
    "length": lambda text: text.str.len_chars().cast(pl.Int64),
    "starts_with": lambda text, part: text.str.starts_with(part),
    "ends_with": lambda text, part: text.str.ends_with(part),
    "contains": lambda text, part: text.str.contains(part, literal=True),
    **{
        part: lambda moment, part=part: getattr(moment.dt, part)().cast(pl.Int64)
        for part in ("year", "month", "day", "hour", "minute")
    },
}


# Both


def frame_of(plan: Plan, frames: Mapping[str, framehold.Frame]) -> framehold.Frame:
    return _query(plan, frames, OURS)


def polars_of(plan: Plan, frames: Mapping[str, pl.DataFrame]) -> pl.LazyFrame:
    return _query(plan, {handle: frame.lazy() for handle, frame in frames.items()}, THEIRS)


def _query(plan: Plan, frames: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Polars has the same verbs but for ``unique``."""

    def made(expressions: list[Any]) -> list[Any]:
        return [expression_of(["col", each] if isinstance(each, str) else each, functions) for each in expressions]

    query = frames[plan["frame"]]
    for verb, *given in plan["verbs"]:
        if verb in ("filter", "select", "with_columns"):
            query = getattr(query, verb)(*made(given))
        elif verb == "group_by":
            query = query.group_by(made(given[0])).agg(*made(given[1]))
        elif verb == "join":
            query = query.join(_query(given[0], frames, functions), on=given[1], how=given[2])
        elif verb == "sort":
            query = query.sort(made(given[0]), descending=given[1], nulls_last=given[2])
        elif verb == "distinct" and functions is THEIRS:
            query = query.unique()
        else:
            query = getattr(query, verb)(*given)
    return query


# Plans by chance


def column(name: str) -> Expression:
    return ["col", name]


def number(chance: random.Random, depth: int = 2) -> Expression:
    if depth == 0 or chance.random() < 0.4:
        return column(chance.choice(["n", "small", "f", ODD]))
    a, b = number(chance, depth - 1), number(chance, depth - 1)
    value = chance.choice([0, 1, 2.5, -3])
    moment = column("t")
    return chance.choice(
        [
            ["add", a, b], ["sub", a, b], ["mul", a, value], ["sub", value, a], ["div", a, 4], ["neg", a], ["abs", a],
            ["fill_null", a, 9], ["length", column("s")], ["year", moment],
            ["add", ["month", moment], ["day", moment]], ["add", ["mul", ["hour", moment], 60], ["minute", moment]],
        ]
    )  # fmt: skip


def condition(chance: random.Random, depth: int = 2) -> Expression:
    if depth == 0 or chance.random() < 0.4:
        a, b = number(chance, 1), number(chance, 1)
        text, s = chance.choice(POOLS["s"][1:]), column("s")
        moment = {"timestamp": chance.choice(MOMENTS).isoformat()}
        return chance.choice(
            [
                ["gt", a, b], ["le", a, b], ["eq", a, b], ["ne", a, 1], ["eq", s, text], ["lt", s, text],
                ["starts_with", s, text], ["ends_with", s, text], ["contains", s, text], ["ge", column("t"), moment],
                ["is_null", a], ["is_not_null", a], ["is_in", column("n"), chance.sample(POOLS["n"], 3)],
                ["is_in", column("n"), []], ["is_between", a, -1, 5], column("b"),
            ]
        )  # fmt: skip
    a, b = condition(chance, depth - 1), condition(chance, depth - 1)
    return chance.choice([["and", a, b], ["or", a, b], ["not", a]])


ROW_ORDER: Verb = ["sort", ["row"], [False], False]


def chain(chance: random.Random) -> Plan:
    verbs: list[Verb] = []
    for _ in range(chance.randint(1, 4)):
        name, new, where = chance.choice(["n", "f", "new"]), number(chance), condition(chance)
        verbs += chance.choice(
            [
                [["filter", where]],
                [["filter", where, column("b")]],
                [["with_columns", ["alias", new, name]]],
                [["with_columns", ["alias", where, "flag"]]],
                [ROW_ORDER, ["limit", chance.randint(0, 200)]],
                [["distinct"]],
            ]
        )
    return {"frame": "verbs_left", "verbs": [*verbs, ROW_ORDER], "ordered": True}


def aggregates(chance: random.Random) -> list[Expression]:
    n, f = column("n"), column("f")
    return chance.sample(
        [
            ["sum", n], ["alias", ["mean", number(chance)], "mean"], ["alias", ["min", f], "low"],
            ["alias", ["max", column("t")], "last"], ["alias", ["n_unique", n], "kinds"],
            ["alias", ["count", f], "values"], ["count"], ["alias", ["div", ["sum", n], ["count"]], "share"],
            ["alias", ["std", column("row")], "std"], ["alias", ["var", column("row")], "var"],
        ],
        4,
    )  # fmt: skip


def grouped(chance: random.Random) -> list[Plan]:
    filtered: Verb = ["filter", condition(chance)]
    keys = chance.sample(["s", "small", "b"], chance.randint(1, 2))
    chosen, right = aggregates(chance), {"frame": "verbs_right", "verbs": []}
    found: list[list[Verb]] = [[filtered, ["group_by", keys, chosen]], [filtered, ["select", *chosen]]]
    for how in ("inner", "left", "semi", "anti"):
        found.append([filtered, ["join", right, chance.choice([["n"], ["s"], ["n", "s"]]), how]])
    return [{"frame": "verbs_left", "verbs": verbs, "ordered": False} for verbs in found]


def chosen_plans() -> list[Plan]:
    """What chance seldom makes: orders that go through other verbs, limits of limits, names and values with quotes."""
    found: list[list[Verb]] = []
    for down in (False, True):
        for last in (False, True):
            ordered: Verb = ["sort", ["f", "row"], [down, False], last]
            found += [[ordered], [ordered, ["select", "row", ["alias", column("n"), "f"]], ["limit", 20]]]
    descending: Verb = ["sort", ["row"], [True], False]
    right: Plan = {"frame": "verbs_right", "verbs": [["filter", ["gt", column("row"), 5]]]}
    total = ["alias", ["sum", column("row_right")], "total"]
    found += [
        [descending, ["limit", 50], ["filter", ["gt", column("n"), 0]]],
        [["limit", 10], ["limit", 20], ROW_ORDER],
        [["filter", column("b")], ["join", right, ["s"], "inner"], ["group_by", ["s"], [total]], ["sort", ["s"], [False], True]],
    ]  # fmt: skip
    unordered: list[list[Verb]] = [
        [["select", "s", "b"], ["distinct"]],
        [["group_by", [["alias", ["gt", ["div", column("row"), 100], 1], "late"]], [["count"]]]],
        [["select", ["alias", column(ODD), 'a"b'], ["alias", ["lit", "?"], "text"], ["alias", ["add", column("row"), 1], "next"]]],
        [["filter", ["eq", column("s"), "it's"], ["ne", column("s"), "x'; DROP TABLE y; --"]]],
    ]  # fmt: skip
    return [
        {"frame": "verbs_left", "verbs": verbs, "ordered": is_ordered}
        for all_verbs, is_ordered in ((found, True), (unordered, False))
        for verbs in all_verbs
    ]


def random_plans() -> list[Plan]:
    plans = chosen_plans() + [chain(random.Random(f"{SEED} chain {seed}")) for seed in range(60)]
    return plans + [plan for seed in range(10) for plan in grouped(random.Random(f"{SEED} group {seed}"))]


# The file


def value_text(value: Any) -> Any:
    return {"timestamp": value.isoformat()} if isinstance(value, dt.datetime) else value


def file_text() -> str:
    """One plan a line, with the SQL that it becomes."""
    with framehold.connect("http://127.0.0.1:1") as nowhere:
        frames = {handle: nowhere.frame(handle) for handle in COLUMNS}
        for handle, frame in frames.items():
            # No server can be asked for them.
            frame._names = COLUMNS[handle]
        lines = []
        for plan in random_plans():
            sql, params = frame_of(plan, frames).sql()
            line = {**plan, "sql": sql, "params": list(map(value_text, params))}
            lines.append(json.dumps(line, ensure_ascii=False))
    columns = json.dumps(COLUMNS, ensure_ascii=False)
    return f'{{"columns": {columns},\n"plans": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    FILE.write_text(file_text(), encoding="utf-8")
