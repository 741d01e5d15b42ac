"""Sends rows by one flush of QuestDB's client over HTTP."""

import time

from questdb.ingress import Sender, TimestampNanos

from ask_loop import serve

symbols = ["AAPL", "MSFT", "GOOG", "AMZN", "NVDA"]
first_ns = 1_700_000_000_000_000_000


def flush(host, port, table, rows):
    """Only the flush is timed: the rows are in the client's buffer before."""
    with Sender.from_conf(f"http::addr={host}:{port};auto_flush=off;") as sender:
        for n in range(rows):
            sender.row(
                table,
                symbols={"symbol": symbols[n % 5]},
                columns={"price": 100 + (n % 977) / 8, "size": n % 50 + 1},
                at=TimestampNanos(first_ns + n * 1000),
            )
        started = time.perf_counter()
        sender.flush()
        return {"seconds": time.perf_counter() - started}


serve({"flush": flush})
