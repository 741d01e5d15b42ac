"""Sends a CSV that is larger than any memory, a piece at a time, and reads one back the same way."""

import http.client
import time

from ask_loop import serve

block_rows = 20_000
piece_bytes = 1 << 20
header = b"id,timestamp,symbol,price,note\n"


def send(host, port, handle, total_bytes):
    """Rows whose ids go on from one block to the next; the rest of a row repeats."""
    connection = http.client.HTTPConnection(host, port)
    started = time.perf_counter()
    sent = {"bytes": 0, "rows": 0}

    def pieces():
        yield header
        while sent["bytes"] < total_bytes:
            first = sent["rows"]
            block = b"".join(
                b"%d,2026-01-31T12:%02d:%02d.%06dZ,S%d,%d.25,row of a long file that nobody holds whole\n"
                % (row, row // 60 % 60, row % 60, row % 1_000_000, row % 97, row % 10_007)
                for row in range(first, first + block_rows)
            )
            sent["bytes"] += len(block)
            sent["rows"] += block_rows
            yield block

    connection.request("POST", f"/imp?name={handle}&format=csv&fmt=json", pieces(), encode_chunked=True)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"/imp answered {answer.status}: {body[:300]}")
    return {**sent, "seconds": time.perf_counter() - started}


def receive(host, port, handle):
    connection = http.client.HTTPConnection(host, port)
    started = time.perf_counter()
    connection.request("GET", f"/exp?handle={handle}&fmt=csv")
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"/exp answered {answer.status}: {answer.read(300)}")
    buffer = bytearray(piece_bytes)
    count = lines = 0
    while got := answer.readinto(buffer):
        count += got
        lines += buffer.count(b"\n", 0, got)
    return {"bytes": count, "rows": lines - 1, "seconds": time.perf_counter() - started}


serve({"send": send, "receive": receive})
