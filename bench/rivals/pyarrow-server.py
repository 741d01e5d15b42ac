"""
Arrow's own Flight server in C++, with tables in memory. `python pyarrow-server.py <name>=<Parquet file> …`
With TLS where the environment has TLS_CERT_FILE and TLS_KEY_FILE.
"""

import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.flight as flight
import pyarrow.parquet as parquet

batch_rows = 65_536


def load(path):
    """Text as plain Utf8, as our server sends it, in batches whose memory is their own: slices would cost a copy to send."""
    batches = [
        pa.record_batch([plain_text(column) for column in batch.columns], names=batch.schema.names)
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=batch_rows)
    ]
    return pa.Table.from_batches(batches)


def plain_text(column):
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


class Server(flight.FlightServerBase):
    def __init__(self, tables):
        files = [os.environ.get(name) for name in ("TLS_CERT_FILE", "TLS_KEY_FILE")]
        if None in files:
            super().__init__("grpc://127.0.0.1:0")
        else:
            super().__init__("grpc+tls://127.0.0.1:0", tls_certificates=[tuple(Path(file).read_bytes() for file in files)])
        self.tables = tables

    def do_get(self, context, ticket):
        # Sent by C++ from here on: Python is not in the way.
        return flight.RecordBatchStream(self.tables[ticket.ticket])

    def do_put(self, context, descriptor, reader, writer):
        self.tables[descriptor.path[0]] = reader.read_all()
        writer.write(b"{}")

    def do_action(self, context, action):
        if action.type == "framehold.drop":
            del self.tables[action.body.to_pybytes()]
        return []


tables = {name.encode(): load(path) for name, path in (argument.split("=", 1) for argument in sys.argv[1:])}
tables[b"select 1"] = pa.table({"1": pa.array([1], pa.int32())})
server = Server(tables)
print(f"listening on {server.port}", flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
server.serve()
