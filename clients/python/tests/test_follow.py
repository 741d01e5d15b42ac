"""Rows as they come."""

from __future__ import annotations

import asyncio
import threading
import time

import pyarrow as pa
import pytest
from proxy import CuttingProxy

import framehold
from framehold._verbs.follow import _next_limit


def numbers(batch: pa.RecordBatch) -> list[int]:
    return [int(n) for n in batch.column("n").to_pylist()]


def append(server: framehold.Connection, name: str, first: int, last: int) -> None:
    with server.append(name) as ticks:
        for n in range(first, last):
            ticks.write(pa.table({"n": [n]}))


def test_rows_that_are_there_come_first_and_then_those_that_are_added(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [0, 1, 2]})
    with server.follow(name) as follower:
        assert numbers(next(follower)) == [0, 1, 2]
        assert follower.next_row == 3
        writer = threading.Thread(target=append, args=(server, name, 3, 10))
        writer.start()
        found: list[int] = []
        while len(found) < 7:
            found += numbers(next(follower))
        writer.join()
        assert (found, follower.next_row) == (list(range(3, 10)), 10)


def test_a_follower_goes_on_where_another_one_was(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": list(range(10))})
    with server.follow(name, start=8) as first:
        assert numbers(next(first)) == [8, 9]
    append(server, name, 10, 12)
    with server.follow(name, start=first.next_row, lineage=first.lineage) as second:
        assert numbers(next(second)) == [10, 11]
    server.put(name, {"n": list(range(20))}, mode="overwrite")
    with pytest.raises(framehold.errors.HandleGoneError), server.follow(name, start=12, lineage=first.lineage) as third:
        next(third)


@pytest.mark.parametrize("where", [None, "n % 2 = 1"])
def test_a_follower_that_ends_after_any_batch_can_be_gone_on_from(
    server: framehold.Connection, name: str, where: str | None
) -> None:
    append(server, name, 0, 9)
    found: list[int] = []
    position: int | str = 0
    while position != 9:
        with server.follow(name, start=position, where=where) as follower:  # type: ignore[arg-type]
            found += numbers(next(follower))
            position = follower.next_row
    assert found == ([1, 3, 5, 7] if where else list(range(9)))


def test_the_end_is_where_the_frame_was_when_following_began(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [0]})
    with server.follow(name, "end") as follower:
        assert follower.next_row == 1
        append(server, name, 1, 2)
        assert numbers(next(follower)) == [1]
    with pytest.raises(framehold.errors.HandleNotFoundError):
        server.follow(f"{name}_no", "end")


def test_columns_and_where_choose_what_comes(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": list(range(10)), "t": ["a", "b"] * 5})
    with server.follow(name, columns=["n"], where="t = 'b' AND n > 4") as follower:
        batch = next(follower)
        assert (batch.schema.names, numbers(batch), follower.next_row) == (["n"], [5, 7, 9], 10)


def test_a_broken_connection_is_taken_up_without_loss_or_doubles(
    server: framehold.Connection, url: str, name: str
) -> None:
    server.put(name, {"n": [0]})
    with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as broken, broken.follow(name) as follower:
        done = threading.Event()

        def cut() -> None:
            while not done.wait(0.02):
                proxy.cut_all()

        cutter = threading.Thread(target=cut)
        writer = threading.Thread(target=append, args=(server, name, 1, 60))
        cutter.start()
        writer.start()
        found: list[int] = []
        while len(found) < 60:
            found += numbers(next(follower))
        done.set()
        cutter.join()
        writer.join()
    assert found == list(range(60))


@pytest.mark.parametrize(("where", "wanted"), [(None, 300_000), ("n % 1000 = 0", 300)])
def test_a_follower_that_is_far_behind_catches_up_in_few_answers(
    server: framehold.Connection, url: str, name: str, where: str | None, wanted: int
) -> None:
    server.sql(f"CREATE TABLE {name} AS SELECT range AS n FROM range(300_000)")
    with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as counted:
        with counted.follow(name, where=where) as follower:
            rows = 0
            while follower.next_row != 300_000:
                rows += next(follower).num_rows
        assert rows == wanted
        assert proxy.asked < 6


def test_answers_of_wide_rows_have_few_of_them() -> None:
    assert _next_limit(100, 1_000) == 10_000
    assert _next_limit(1_000_000, 1_000) == 1_000_000
    assert _next_limit(10_000, 320 * 1024 * 1024) == 1_000
    assert _next_limit(1, 10**9) == 1


def test_an_answer_that_is_cut_in_its_midst_is_asked_for_again(
    server: framehold.Connection, url: str, name: str
) -> None:
    server.put(name, {"n": list(range(5000))})
    with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as broken, broken.follow(name) as follower:
        proxy.cut_after = 20_000
        assert numbers(next(follower)) == list(range(5000))
        assert proxy.cuts == 1


def test_a_frame_that_is_dropped_ends_a_follower_that_waits(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [0]})
    with server.follow(name) as follower:
        next(follower)
        threading.Timer(0.2, server.drop, [name]).start()
        with pytest.raises(framehold.errors.HandleGoneError):
            next(follower)


def test_close_ends_a_follower_that_waits_in_another_thread(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [0]})
    follower = server.follow(name)
    next(follower)
    threading.Timer(0.2, follower.close).start()
    start = time.monotonic()
    assert list(follower) == []
    assert time.monotonic() - start < 10


def test_async_for_gives_the_same_rows(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [0]})

    async def follow() -> list[int]:
        found: list[int] = []
        writer = asyncio.get_running_loop().run_in_executor(None, append, server, name, 1, 20)
        async with server.follow(name) as follower:
            async for batch in follower:
                found += numbers(batch)
                if len(found) == 20:
                    break
        await writer
        return found

    assert asyncio.run(follow()) == list(range(20))


def test_many_async_followers_wait_at_once(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [0]})

    async def all_of_them() -> list[list[int]]:
        followers = [server.follow(name, "end") for _ in range(30)]
        waiting = [asyncio.ensure_future(anext(follower)) for follower in followers]
        await asyncio.get_running_loop().run_in_executor(None, append, server, name, 1, 2)
        return [numbers(batch) for batch in await asyncio.gather(*waiting)]

    assert asyncio.run(all_of_them()) == [[1]] * 30


def test_a_wait_that_is_cancelled_loses_no_rows(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [0]})

    async def follow() -> list[int]:
        async with server.follow(name) as follower:
            found = numbers(await anext(follower))
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(anext(follower), 0.2)
            await asyncio.get_running_loop().run_in_executor(None, append, server, name, 1, 3)
            while len(found) < 3:
                found += numbers(await asyncio.wait_for(anext(follower), 20))
        return found

    assert asyncio.run(follow()) == [0, 1, 2]


def test_errors_of_the_first_request_are_raised(server: framehold.Connection, name: str) -> None:
    with pytest.raises(framehold.errors.HandleNotFoundError):
        next(server.follow(name))
    for start in (-1, "begin", 1.5):
        with pytest.raises(ValueError, match="start is"):
            server.follow(name, start)  # type: ignore[arg-type]
