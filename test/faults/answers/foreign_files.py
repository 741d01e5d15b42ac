"""Writes the rows of each Arrow stream in a folder as Parquet, as other programs do, and tells which columns it wrote.

pyarrow leaves NaN out of the statistics, as Parquet asks, and makes bloom filters where it is told to; DuckDB 2 makes
them by itself.
"""

import json
import pathlib
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ROWS_OF_A_GROUP = 130


def by_pyarrow(table, path, with_filters):
    options = {}
    if with_filters:
        options["bloom_filter_options"] = {
            field.name: {"ndv": 400, "fpp": 0.01}
            for field in table.schema
            if not pa.types.is_nested(field.type) and not pa.types.is_boolean(field.type)
        }
    pq.write_table(table, path, row_group_size=ROWS_OF_A_GROUP, **options)


def by_duckdb(table, path):
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("given", table)
        connection.execute(f"COPY given TO '{path}' (FORMAT parquet)")


def writable(table, write, path):
    """The table without the columns that this program cannot write, such as intervals."""
    try:
        write(table, path)
        return table
    except Exception:
        kept = []
        for name in table.column_names:
            try:
                write(table.select([name]), path)
                kept.append(name)
            except Exception:
                pass
        table = table.select(kept)
        write(table, path)
        return table


def main():
    folder = pathlib.Path(sys.argv[1])
    writers = {
        "pyarrow": lambda table, path: by_pyarrow(table, path, False),
        "pyarrow_filters": lambda table, path: by_pyarrow(table, path, True),
        "duckdb2": by_duckdb,
    }
    written = {}
    for source in sorted(folder.glob("*.arrow")):
        with pa.ipc.open_stream(source) as reader:
            table = reader.read_all()
        for name, write in writers.items():
            path = folder / f"{source.stem}_{name}.parquet"
            written[path.stem] = writable(table, write, path).column_names
    json.dump(written, sys.stdout)


main()
