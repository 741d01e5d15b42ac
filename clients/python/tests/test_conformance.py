"""The cases of clients/conformance.json, which all clients run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conformance import from_table, plain, to_param, to_table

import framehold

CASES = json.loads(
    (Path(__file__).parents[2] / "conformance.json").read_text(encoding="utf-8").replace("<h>", f"py{os.getpid()}_")
)


class Operations:
    def __init__(self, server: framehold.Connection) -> None:
        self._server = server

    def run(self, op: str, args: dict[str, Any]) -> Any:
        own = getattr(self, op, None)
        return plain(own(**args) if own is not None else getattr(self._server, op)(**args))

    def put(self, name: str, data: dict[str, Any], **options: Any) -> Any:
        return self._server.put(name, to_table(data), **options)

    def get(self, name: str, columns: list[str] | None = None, rows: list[int | None] | None = None) -> Any:
        return from_table(self._server.get(name, columns, None if rows is None else (rows[0], rows[1])).to_arrow())

    def sql(self, text: str, params: Any = None, **options: Any) -> Any:
        values = (
            {name: to_param(value) for name, value in params.items()} if isinstance(params, dict) else to_param(params)
        )
        result = self._server.sql(text, values, **options)
        if isinstance(result, framehold.Kept):
            return result
        return {**from_table(result.to_arrow()), "updated": result.updated}

    def append(self, name: str, writes: list[Any], **options: Any) -> Any:
        with self._server.append(name, **options) as appender:
            return [appender.write(to_table(write)) for write in writes]

    def follow(self, name: str, count: int, **options: Any) -> Any:
        with self._server.follow(name, **options) as follower:
            batches = [next(follower)]
            while sum(batch.num_rows for batch in batches) < count:
                batches.append(next(follower))
            return {**from_table(pa.Table.from_batches(batches)), "next_row": follower.next_row}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_client_conforms(server: framehold.Connection, case: dict[str, Any]) -> None:
    operations = Operations(server)
    for step in case["steps"]:
        shown = f"{step['op']} {json.dumps(step['args'])}"
        try:
            actual = operations.run(step["op"], step["args"])
        except framehold.FrameholdError as error:
            expected = step.get("error")
            assert expected is not None, f"{shown}: {error!r}"
            assert {name: getattr(error, name) for name in expected} == expected, shown
            continue
        assert "error" not in step, f"{shown} is not refused, and answers {actual}"
        if "answer" in step:
            check(step["answer"], actual, shown)


def check(expected: Any, actual: Any, path: str) -> None:
    if isinstance(expected, dict) and expected.keys() == {"is"}:
        kinds = {"text": str, "number": (int, float), "null": type(None)}
        assert isinstance(actual, kinds[expected["is"]]), path
    elif isinstance(expected, dict):
        for name, value in expected.items():
            check(value, actual[name], f"{path}.{name}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), f"{path}: {actual}"
        for at, value in enumerate(expected):
            check(value, actual[at], f"{path}[{at}]")
    else:
        assert actual == expected, path
