"""The rows that an UPDATE of a frame writes, written by DuckDB's COPY in this process."""

import time

import duckdb

from ask_loop import serve

opened = {}


def open(files, set, where, threads, memory_gb):
    """`files`: the parts of the frame. `set`: the new values, as the list of a REPLACE, of the rows that fit `where`."""
    connection = duckdb.connect(config={"threads": threads, "memory_limit": f"{memory_gb}GB"})
    rewritten = [path for path in files if connection.execute(matches(path, where)).fetchone()[0] > 0]
    rows = f"SELECT * REPLACE ({set}) FROM read_parquet({rewritten})"
    kept = [path for path in files if path not in rewritten]
    opened.update(connection=connection, rows=rows, kept=kept)
    return {
        "parts": len(files),
        "partsWritten": len(rewritten),
        "rowsWritten": connection.execute(f"SELECT count(*) FROM read_parquet({rewritten})").fetchone()[0],
        "rowsChanged": connection.execute(f"SELECT count(*) FROM read_parquet({files}) WHERE {where}").fetchone()[0],
    }


def matches(path, where):
    return f"SELECT count(*) FROM read_parquet('{path}') WHERE {where}"


def copy(path, level):
    """The seconds in which the rewritten parts are one file, with the changed rows in it."""
    started = time.perf_counter()
    opened["connection"].execute(
        f"COPY ({opened['rows']}) TO '{path}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level})"
    )
    return {"seconds": time.perf_counter() - started}


def check(path, checksum):
    """Of what `copy` wrote together with the parts that hold no changed row."""
    return opened["connection"].execute(f"SELECT {checksum} FROM read_parquet({[path, *opened['kept']]})").fetchone()


serve({"open": open, "copy": copy, "check": check})
