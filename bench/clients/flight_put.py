"""Puts a table that it holds in memory, by DoPut, and waits for the acknowledgement."""

import time

import pyarrow as pa
import pyarrow.flight as flight
import pyarrow.parquet as parquet

from ask_loop import serve
from checksums import checksums

batch_rows = 65_536
held = {}
clients = {}


def load(path):
    """The rows, in batches whose memory is their own: slices of larger ones cost the client a copy."""
    plain = [
        pa.record_batch([plain_text(column) for column in batch.columns], names=batch.schema.names)
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=batch_rows)
    ]
    held["table"] = pa.Table.from_batches(plain)
    return {**checksums(held["table"]), "bytes": held["table"].nbytes}


def plain_text(column):
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def put(uri, handle):
    client = client_of(uri)
    table = held["table"]
    cpu_started = time.process_time()
    started = time.perf_counter()
    writer, metadata = client.do_put(flight.FlightDescriptor.for_path(handle), table.schema)
    writer.write_table(table)
    writer.done_writing()
    acknowledged = metadata.read()
    writer.close()
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "rows": table.num_rows,
        "acknowledgementBytes": 0 if acknowledged is None else acknowledged.size,
        "clientCpuSeconds": time.process_time() - cpu_started,
    }


def check(uri, handle):
    return checksums(client_of(uri).do_get(flight.Ticket(handle.encode())).to_reader())


def drop(uri, handle):
    """Framehold's action; the frame would otherwise stay on the disk until the end of the run."""
    list(client_of(uri).do_action(flight.Action("framehold.drop", handle.encode())))


def client_of(uri):
    return clients.get(uri) or clients.setdefault(uri, flight.connect(uri))


serve({"load": load, "put": put, "check": check, "drop": drop})
