"""Rows that are added exactly once."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator

import polars
import pyarrow as pa
import pytest
from proxy import CuttingProxy

import framehold


def test_each_write_is_durable_and_acknowledged(server: framehold.Connection, name: str) -> None:
    with server.append(name) as ticks:
        for n in range(5):
            ack = ticks.write(pa.table({"n": [n, n]}))
            assert ack is not None
            assert (ack.seq, ack.rows, ack.version, ack.repeated) == (n, 2, n + 1, False)
            assert len(server.get(name)) == 2 * (n + 1)


def test_write_takes_rows_frames_and_streams(server: framehold.Connection, name: str) -> None:
    with server.append(name) as ticks:
        ticks.write({"n": 1, "t": "a"})
        ticks.write([{"n": 2}, {"t": "c", "n": 3}])
        ticks.write({"n": [4], "t": ["d"]})
        ticks.write(polars.DataFrame({"n": [5], "t": ["e"]}))
        ack = ticks.write(pa.table({"n": [6, 7], "t": ["f", None]}).to_reader(max_chunksize=1))
        assert ack is not None
        assert (ack.seq, ack.rows) == (5, 1)
        ticks.write({"n": n, "t": "g"} for n in (8, 9))
    assert server.get(name)["n"] == list(range(1, 10))
    assert server.get(name)["t"] == ["a", None, "c", "d", "e", "f", None, "g", "g"]


def test_rows_take_the_types_of_the_frame(server: framehold.Connection, name: str) -> None:
    schema = pa.schema({"small": pa.int16(), "at": pa.timestamp("us"), "price": pa.float64()})
    server.put(name, schema.empty_table())
    with server.append(name) as ticks:
        ticks.write({"small": 1, "price": 2})
        ticks.write([{"small": None, "at": None, "price": None}])
        with pytest.raises(ValueError, match="no column 'prise'"):
            ticks.write({"prise": 1})
        with pytest.raises((pa.ArrowInvalid, OverflowError)):
            ticks.write({"small": 70_000})
        with pytest.raises(framehold.errors.SchemaMismatchError):
            ticks.write(pa.table({"other": [1]}))
        ack = ticks.write({"small": 3})
        assert ack is not None
        assert ack.seq == 2
    assert server.get(name)["small"] == [1, None, 3]


def test_small_writes_are_collected_where_a_buffer_is_asked_for(server: framehold.Connection, name: str) -> None:
    with server.append(name, buffer_rows=100) as ticks:
        acks = [ticks.write({"n": n}) for n in range(250)]
        assert [at for at, ack in enumerate(acks) if ack is not None] == [99, 199]
        assert len(server.get(name)) == 200
        ack = ticks.flush()
        assert ack is not None
        assert (ack.rows, ack.seq) == (50, 2)
        assert ticks.flush() is None
        ticks.write({"n": 250})
        # A long write goes behind the waiting ones.
        ticks.write({"n": list(range(251, 451))})
        ticks.write({"n": 451})
    assert server.get(name)["n"] == list(range(452))


def test_an_error_in_the_block_leaves_out_what_is_buffered(server: framehold.Connection, name: str) -> None:
    with pytest.raises(RuntimeError), server.append(name, buffer_rows=10) as ticks:
        ticks.write([{"n": n} for n in range(10)])
        ticks.write({"n": 10})
        raise RuntimeError
    assert len(server.get(name)) == 10
    with pytest.raises(ValueError, match="closed"):
        ticks.write({"n": 1})


def test_a_lost_answer_adds_no_rows_twice(server: framehold.Connection, url: str, name: str) -> None:
    with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as broken, broken.append(name) as ticks:
        ticks.write(pa.table({"n": [0]}))
        proxy.cut_answers = 2
        ack = ticks.write(pa.table({"n": [1, 2]}))
        assert ack is not None
        assert (ack.seq, ack.rows, ack.repeated, proxy.cuts) == (1, 2, True, 2)
        proxy.cut_requests = 1
        ack = ticks.write(pa.table({"n": [3] * 100_000}))
        assert ack is not None
        assert (ack.seq, ack.repeated, proxy.cuts) == (2, False, 3)
    assert server.get(name)["n"][:4] == [0, 1, 2, 3]
    assert len(server.get(name)) == 100_003


def test_an_answer_that_is_cut_at_any_byte_adds_no_rows_twice(
    server: framehold.Connection, url: str, name: str
) -> None:
    rows = 0
    with CuttingProxy(url) as proxy:
        while proxy.cuts == rows:
            with framehold.connect(proxy.url) as broken, broken.append(name) as ticks:
                proxy.cut_after = 1 + 13 * rows
                ack = ticks.write(pa.table({"n": [rows]}))
                assert ack is not None
                assert (ack.seq, ack.repeated) == (0, proxy.cuts > rows)
            rows += 1
    assert rows > 20
    assert server.get(name)["n"] == list(range(rows))


def test_no_row_is_lost_or_doubled_while_connections_are_cut_at_any_time(
    server: framehold.Connection, url: str, name: str
) -> None:
    with CuttingProxy(url) as proxy, framehold.connect(proxy.url) as broken:
        done = threading.Event()

        def cut() -> None:
            chance = random.Random(28)
            while not done.wait(chance.uniform(0.005, 0.1)):
                proxy.cut_all()

        cutter = threading.Thread(target=cut)
        cutter.start()
        try:
            with broken.append(name) as ticks:
                for n in range(40):
                    ticks.write({"n": n})
        finally:
            done.set()
            cutter.join()
    assert server.get(name)["n"] == list(range(40))


def test_rows_whose_write_failed_wait_for_flush(server: framehold.Connection, url: str, name: str) -> None:
    proxy = CuttingProxy(url)
    with framehold.connect(proxy.url) as broken:
        ticks = broken.append(name, retry_seconds=0.2)
        ticks.write({"n": 0})
        proxy.stop()
        start = time.monotonic()
        with pytest.raises((framehold.errors.UnreachableError, framehold.errors.BrokenConnectionError)):
            ticks.write({"n": 1})
        assert time.monotonic() - start < 5
        with pytest.raises(ValueError, match="flush"):
            ticks.write({"n": 2})
        # The server is at another address by now.
        ticks._connection = server
        ack = ticks.flush()
        assert ack is not None
        assert (ack.seq, ack.rows) == (1, 1)
        ticks.write({"n": 2})
        ticks.close()
    assert server.get(name)["n"] == [0, 1, 2]


def test_a_later_epoch_shuts_out_an_earlier_appender(server: framehold.Connection, name: str) -> None:
    with (
        server.append(name, producer="feed", epoch=1) as earlier,
        server.append(name, producer="feed", epoch=2) as later,
    ):
        earlier.write({"n": 1})
        later.write({"n": 2})
        with pytest.raises(framehold.errors.ProducerFencedError):
            earlier.write({"n": 3})
    assert server.get(name)["n"] == [1, 2]


def test_a_generator_that_fails_keeps_what_was_acknowledged(
    server: framehold.Connection, fresh: Callable[[], str]
) -> None:
    name = fresh()

    def rows() -> Iterator[dict[str, int]]:
        yield {"n": 1}
        raise RuntimeError("the feed is broken")

    with pytest.raises(RuntimeError, match="the feed is broken"), server.append(name) as ticks:
        ticks.write(rows())
    assert server.get(name)["n"] == [1]
