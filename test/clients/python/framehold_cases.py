"""What the case programs share: the register of cases and the server that they talk to."""

import contextlib
import json
import re
import time
import urllib.parse
import urllib.request

CASES = {}


def case(name):
    """Registers a function as the case of this name, which is a sentence that is true."""

    def register(function):
        CASES[name] = function
        return function

    return register


class Server:
    def __init__(self, grpc, http, folder=None):
        self.grpc = grpc
        self.http = http
        self.folder = folder
        self._count = 0

    def file(self, name):
        """What a client of a server with TLS has: certificates, keys and tokens."""
        with open(f"{self.folder}/{name}", encoding="ascii") as file:
            return file.read().rstrip("\n")

    @property
    def location(self):
        return f"grpc://{self.grpc}"

    def fresh(self, prefix="frame"):
        """A handle that no other case uses."""
        self._count += 1
        return f"{prefix}_{self._count}"

    def flight(self):
        import pyarrow.flight

        return pyarrow.flight.FlightClient(self.location)

    def adbc(self, **options):
        import adbc_driver_flightsql.dbapi

        return adbc_driver_flightsql.dbapi.connect(self.location, **options)

    def put(self, handle, table, **mode):
        """Holds a table through plain Flight, and gives what the server says of it."""
        import pyarrow.flight as flight

        headers = [(f"framehold-{key}".encode(), str(value).encode()) for key, value in mode.items()]
        with self.flight() as client:
            descriptor = flight.FlightDescriptor.for_path(handle)
            options = flight.FlightCallOptions(headers=headers)
            writer, results = client.do_put(descriptor, table.schema, options)
            with writer:
                writer.write_table(table)
                writer.done_writing()
                answer = None
                while (message := results.read()) is not None:
                    answer = json.loads(message.to_pybytes())
        return answer

    def get(self, ticket):
        """The table that a ticket stands for: a handle, SQL or a request as JSON."""
        import pyarrow.flight as flight

        text = ticket if isinstance(ticket, str) else json.dumps(ticket)
        with self.flight() as client:
            return client.do_get(flight.Ticket(text.encode())).read_all()

    def exec(self, **parameters):
        """What GET /exec answers."""
        query = urllib.parse.urlencode({"fmt": "json", **parameters})
        with urllib.request.urlopen(f"{self.http}/exec?{query}", timeout=15) as answer:
            return json.loads(answer.read())


@contextlib.contextmanager
def fails(*patterns, error=Exception):
    """The block must raise this error with a text in which every pattern is found."""
    try:
        yield
    except error as raised:
        for pattern in patterns:
            assert re.search(pattern, str(raised), re.IGNORECASE), f"no /{pattern}/ in {type(raised).__name__}: {raised}"
        return
    raise AssertionError(f"nothing failed, where {error.__name__} {patterns} should have been raised")


@contextlib.contextmanager
def within(seconds):
    start = time.monotonic()
    yield
    took = time.monotonic() - start
    assert took < seconds, f"took {took:.1f} s, not {seconds} s at most"


def equal(actual, expected):
    """As an assertion that shows both sides."""
    if actual != expected:
        raise AssertionError(f"\nexpected {expected!r}\nactual   {actual!r}")
