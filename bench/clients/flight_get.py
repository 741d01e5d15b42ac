"""Reads a whole table: by DoGet of a bare ticket, by SQL through ADBC, or a file by DuckDB in this process."""

import ctypes
import time
from contextlib import contextmanager

import adbc_driver_flightsql.dbapi as flight_sql
import duckdb
import pyarrow as pa
import pyarrow.dataset as dataset
import pyarrow.flight as flight
import pyarrow.parquet as parquet

from ask_loop import serve
from checksums import checksums

flight_clients = {}
adbc_connections = {}
duckdb_connection = duckdb.connect(config={"threads": 2, "memory_limit": "4GB"})


@contextmanager
def reader_of(uri=None, ticket=None, sql=None, authorization=None, ca=None, path=None):
    """A stream of record batches. Connections are kept: opening one is not what is measured."""
    if path is not None:
        yield duckdb_connection.execute(f"FROM '{path}'").to_arrow_reader(65_536)
        return
    if sql is None:
        client = flight_clients.get(uri) or flight_clients.setdefault(uri, flight.connect(uri, tls_root_certs=ca))
        headers = [] if authorization is None else [(b"authorization", authorization.encode())]
        yield client.do_get(flight.Ticket(ticket.encode()), flight.FlightCallOptions(headers=headers)).to_reader()
        return
    connection = adbc_connections.get(uri) or adbc_connections.setdefault(uri, flight_sql.connect(uri, autocommit=True))
    with connection.cursor() as cursor:
        cursor.execute(sql)
        yield cursor.fetch_record_batch()


def drain(**source):
    """Every batch is decoded, counted and let go, so that the client's memory is not part of the figure."""
    rows = bytes_ = batches = 0
    started = time.perf_counter()
    cpu_started = time.process_time()
    with reader_of(**source) as reader:
        for batch in reader:
            rows += batch.num_rows
            bytes_ += batch.nbytes
            batches += 1
    seconds = time.perf_counter() - started
    client_cpu_seconds = time.process_time() - cpu_started
    return {
        "seconds": seconds,
        "rows": rows,
        "bytes": bytes_,
        "batches": batches,
        "clientCpuSeconds": client_cpu_seconds,
    }


def check(**source):
    with reader_of(**source) as reader:
        return {**checksums(reader), "types": [str(field.type) for field in reader.schema]}


def check_file(path):
    return checksums(dataset.dataset(path))


def copy_plain(path, copy):
    """The same rows as a Parquet file that does not ask its readers to make string views."""
    duckdb.sql(f"COPY (FROM '{path}') TO '{copy}' (FORMAT parquet)")


def copy_outside(path, copy):
    """The same rows as other programs write them: zstd, row groups of 1,048,576."""
    parquet.write_table(parquet.read_table(path), copy, compression="zstd", row_group_size=1_048_576)


def keep_memory():
    """
    glibc would give what a batch took back to the system and take it anew for the next one, in some processes for each batch
    and in others for none: up to a page fault for every 4 KiB, which take as long as all the rest.
    """
    trim_threshold, mmap_threshold, arena_max = -1, -3, -8
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    for option, value in {trim_threshold: 2**31 - 1, mmap_threshold: 32 * 1024 * 1024, arena_max: 1}.items():
        mallopt(option, value)


keep_memory()
pa.set_cpu_count(2)
serve({"drain": drain, "check": check, "check_file": check_file, "copy_plain": copy_plain, "copy_outside": copy_outside})
