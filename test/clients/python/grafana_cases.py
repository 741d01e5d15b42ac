"""What Grafana's Flight SQL plugin does: one Handshake as Go's client makes it, then the same token with every call."""

import base64

import grpc
from framehold_cases import case, equal, fails
from google.protobuf.any_pb2 import Any
from pyarrow import flight

QUERY = "SELECT 42 AS n"
HANDSHAKE = "/arrow.flight.protocol.FlightService/Handshake"
COMMAND = "type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"


class DataSource:
    """Lives as long as Grafana does."""

    def __init__(self, server, password):
        self.client = connect(server, server.grpc)
        self.token = shake_hands(server, password)

    def query(self, client=None):
        client = client or self.client
        options = flight.FlightCallOptions(headers=[(b"authorization", self.token.encode())])
        statement = QUERY.encode()
        command = Any(type_url=COMMAND, value=bytes([0x0A, len(statement)]) + statement).SerializeToString()
        info = client.get_flight_info(flight.FlightDescriptor.for_command(command), options)
        tables = [client.do_get(endpoint.ticket, options).read_all() for endpoint in info.endpoints]
        return [row for table in tables for row in table.to_pylist()]


def connect(server, address):
    return flight.FlightClient(f"grpc+tls://{address}", tls_root_certs=server.file("ca.crt"))


def shake_hands(server, password):
    """No message at all, base64 without padding, and the token from the headers, else from the trailers."""
    login = base64.b64encode(f"grafana:{password}".encode()).decode()
    assert login.endswith("="), "the test needs a login that would be padded"
    authority = grpc.ssl_channel_credentials(server.file("ca.crt").encode())
    with grpc.secure_channel(server.grpc, authority) as channel:
        metadata = [("authorization", f"Basic {login.rstrip('=')}")]
        call = channel.stream_stream(HANDSHAKE)(iter(()), metadata=metadata, timeout=10)
        equal(list(call), [])
        given = [*call.initial_metadata(), *call.trailing_metadata()]
    return next(value for key, value in given if key == "authorization" and value)


SOURCES = {}


@case("two data sources shake hands once each, and query")
def _(server):
    for name in ("token", "day-token"):
        SOURCES[name] = DataSource(server, server.file(name))
        equal(SOURCES[name].query(), [{"n": 42}])


@case("the token without an end is good for a query")
def _(server):
    equal(SOURCES["token"].query(), [{"n": 42}])


@case("the token of a day has ended")
def _(server):
    with fails("the token expired at", error=flight.FlightUnauthenticatedError):
        SOURCES["day-token"].query()


@case("another server of the directory takes the token")
def _(server):
    with connect(server, server.file("other-server")) as client:
        equal(SOURCES["token"].query(client), [{"n": 42}])


@case("the token is refused")
def _(server):
    with fails("unknown or revoked", error=flight.FlightUnauthenticatedError):
        SOURCES["token"].query()
    with connect(server, server.file("other-server")) as client:
        with fails("unknown or revoked", error=flight.FlightUnauthenticatedError):
            SOURCES["token"].query(client)
