"""What clients of Python do with TLS and tokens: how they connect, read and write, and what they say when they may not."""

import base64
import contextlib
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
import warnings

import adbc_driver_flightsql.dbapi as flight_sql
import pandas
import polars
import pyarrow as pa
from adbc_driver_manager import dbapi
from framehold_cases import case, equal, fails
from pyarrow import flight

ANSWER = b"SELECT 42 AS n"
REFUSED = {
    "secret": "neither a token of this server nor a JWT",
    "fh_000000000000000000000000000000000000": "mistyped or cut",
}


def refused(server):
    """Wrong passwords, each with what the server says of it."""
    return {**REFUSED, server.file("revoked-token"): "unknown or revoked"}


# pyarrow.flight


def arrow_flight(server, **options):
    return flight.FlightClient(f"grpc+tls://{server.grpc}", tls_root_certs=server.file("ca.crt"), **options)


def bearer(token):
    return flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {token}".encode())])


def answer(client, options=None):
    return client.do_get(flight.Ticket(ANSWER), options).read_all().to_pylist()


def put(client, handle, options=None):
    table = pa.table({"n": [1, 2, 3]})
    writer, results = client.do_put(flight.FlightDescriptor.for_path(handle), table.schema, options)
    with writer:
        writer.write_table(table)
        writer.done_writing()
        return json.loads(results.read().to_pybytes())["rows"]


@case("pyarrow: authenticate_basic_token gives the token for all further calls")
def _(server):
    with arrow_flight(server) as client:
        pair = client.authenticate_basic_token("anyone", server.file("token"))
        equal(pair, (b"authorization", f"Bearer {server.file('token')}".encode()))
        options = flight.FlightCallOptions(headers=[pair])
        equal(answer(client, options), [{"n": 42}])
        handle = server.fresh()
        equal(put(client, handle, options), 3)
        equal(client.do_get(flight.Ticket(handle.encode()), options).read_all().num_rows, 3)


@case("pyarrow: a Bearer header is enough, as DuckDB's Airport sends it, with a token or a JWT")
def _(server):
    with arrow_flight(server) as client:
        for name in ("token", "jwt"):
            options = bearer(server.file(name))
            handle = server.fresh()
            equal(put(client, handle, options), 3)
            descriptor = flight.FlightDescriptor.for_path(handle)
            [endpoint] = client.get_flight_info(descriptor, options).endpoints
            equal(client.do_get(endpoint.ticket, options).read_all().num_rows, 3)
            assert handle in [info.descriptor.path[-1].decode() for info in client.list_flights(b"", options)]


class OldLogin(flight.ClientAuthHandler):
    """Takes its token from the messages of the Handshake, and sends it as `auth-token-bin` with every call."""

    def __init__(self):
        super().__init__()
        self.token = b""

    def authenticate(self, outgoing, incoming):
        outgoing.write(b"")
        self.token = incoming.read()

    def get_token(self):
        return self.token


@case("pyarrow: the old authenticate works where its Handshake has the token in a header, or a client certificate")
def _(server):
    with arrow_flight(server) as client:
        client.authenticate(OldLogin(), bearer(server.file("token")))
        equal(answer(client), [{"n": 42}])
        with fails("no credentials were sent", error=flight.FlightUnauthenticatedError):
            client.authenticate(OldLogin())
    with arrow_flight(server, cert_chain=server.file("client.crt"), private_key=server.file("client.key")) as client:
        client.authenticate(OldLogin())
        equal(answer(client), [{"n": 42}])
        equal(put(client, server.fresh()), 3)


@case("pyarrow: a client certificate needs no token")
def _(server):
    with arrow_flight(server, cert_chain=server.file("client.crt"), private_key=server.file("client.key")) as client:
        equal(answer(client), [{"n": 42}])
        equal(put(client, server.fresh()), 3)


@case("pyarrow: a wrong or revoked token is FlightUnauthenticatedError, with the reason")
def _(server):
    with arrow_flight(server) as client:
        for password, reason in refused(server).items():
            with fails(reason, error=flight.FlightUnauthenticatedError):
                client.authenticate_basic_token("anyone", password)
            with fails(reason, error=flight.FlightUnauthenticatedError):
                answer(client, bearer(password))
        with fails("no credentials were sent", error=flight.FlightUnauthenticatedError):
            answer(client)


@case("pyarrow: a token that may only read is FlightUnauthorizedError for a put, with the missing role")
def _(server):
    with arrow_flight(server) as client:
        options = bearer(server.file("read-token"))
        equal(answer(client, options), [{"n": 42}])
        with fails("needs the role write", error=flight.FlightUnauthorizedError):
            put(client, server.fresh(), options)


@case("pyarrow: an unknown authority, of the server or of the client, is FlightUnavailableError")
def _(server):
    with flight.FlightClient(f"grpc+tls://{server.grpc}") as client:
        with fails("certificate verify failed", error=flight.FlightUnavailableError):
            answer(client, bearer(server.file("token")))
    stranger = {"cert_chain": server.file("stranger.crt"), "private_key": server.file("stranger.key")}
    with arrow_flight(server, **stranger) as client, fails("closed|reset", error=flight.FlightUnavailableError):
        answer(client, bearer(server.file("token")))


@case("pyarrow: without TLS there is no connection")
def _(server):
    with flight.FlightClient(f"grpc://{server.grpc}") as client, fails(error=flight.FlightUnavailableError):
        answer(client, bearer(server.file("token")))


# ADBC

AUTHORIZATION = "adbc.flight.sql.authorization_header"
TLS = "adbc.flight.sql.client_option."


def adbc(server, options, authority="ca.crt"):
    roots = {f"{TLS}tls_root_certs": server.file(authority)} if authority else {}
    return flight_sql.connect(f"grpc+tls://{server.grpc}", db_kwargs={**roots, **options}, autocommit=True)


def login(password):
    return {"username": "anyone", "password": password}


def client_certificate(server, name="client"):
    return {
        f"{TLS}mtls_cert_chain": server.file(f"{name}.crt"),
        f"{TLS}mtls_private_key": server.file(f"{name}.key"),
    }


def ask(connection, sql):
    with connection.cursor() as cursor:
        return cursor.execute(sql).fetchall()


def ingest_and_read(server, connection):
    handle = server.fresh()
    with connection.cursor() as cursor:
        equal(cursor.adbc_ingest(handle, pa.table({"n": [1, 2, 3]})), 3)
    equal(ask(connection, f"SELECT sum(n)::BIGINT FROM {handle}"), [(6,)])


@case("ADBC: user and password, a password alone, a Bearer header and a client certificate, each without a warning")
def _(server):
    token = server.file("token")
    ways = [
        login(token),
        login(server.file("jwt")),
        {"password": token},
        {AUTHORIZATION: f"Bearer {token}"},
        client_certificate(server),
        {**client_certificate(server), **login(token)},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for options in ways:
            with adbc(server, options) as connection:
                equal(ask(connection, "SELECT 42"), [(42,)])
        with adbc(server, ways[0]) as connection:
            ingest_and_read(server, connection)
        with adbc(server, ways[4]) as connection:
            ingest_and_read(server, connection)


@case("ADBC: an address that begins with flightsql:// is TLS")
def _(server):
    options = {f"{TLS}tls_root_certs": server.file("ca.crt"), **login(server.file("token"))}
    with flight_sql.connect(f"flightsql://{server.grpc}", db_kwargs=options, autocommit=True) as connection:
        equal(ask(connection, "SELECT 42"), [(42,)])


@case("ADBC: the connect with a wrong or revoked password is UNAUTHENTICATED, with the reason")
def _(server):
    for password, reason in refused(server).items():
        with fails("^UNAUTHENTICATED", reason, error=dbapi.ProgrammingError), adbc(server, login(password)):
            pass


@case("ADBC: a wrong Bearer header connects, and the first statement is UNAUTHENTICATED")
def _(server):
    for password, reason in refused(server).items():
        with adbc(server, {AUTHORIZATION: f"Bearer {password}"}) as connection:
            with fails("^UNAUTHENTICATED", reason, error=dbapi.ProgrammingError):
                ask(connection, "SELECT 42")
    # Go shows no certificate that the server would not take.
    with adbc(server, client_certificate(server, "stranger")) as connection:
        with fails("^UNAUTHENTICATED", "no credentials were sent", error=dbapi.ProgrammingError):
            ask(connection, "SELECT 42")


@case("ADBC: a token that may only read is UNAUTHORIZED for an ingest, with the missing role")
def _(server):
    with adbc(server, login(server.file("read-token"))) as connection, connection.cursor() as cursor:
        with fails("UNAUTHORIZED", "needs the role write", error=dbapi.ProgrammingError):
            cursor.adbc_ingest(server.fresh(), pa.table({"n": [1]}))


@case("ADBC: no error shows the token, in its text or its details")
def _(server):
    for options in (login(server.file("read-token")), {AUTHORIZATION: f"Bearer {server.file('read-token')}"}):
        with adbc(server, options) as connection, connection.cursor() as cursor:
            try:
                cursor.adbc_ingest(server.fresh(), pa.table({"n": [1]}))
            except dbapi.Error as error:
                assert "fh_" not in f"{error} {error.details}", error.details
            else:
                raise AssertionError("a reader has written")


@case("ADBC: an unknown authority is IO, with the reason")
def _(server):
    with fails("^IO", "unknown authority", error=dbapi.OperationalError):
        with adbc(server, login(server.file("token")), authority=None):
            pass


# polars and pandas


@case("polars reads and writes over a connection with TLS and a token")
def _(server):
    handle = server.fresh()
    with adbc(server, login(server.file("token"))) as connection:
        polars.DataFrame({"n": [1, 2, 3]}).write_database(handle, connection, engine="adbc")
        frame = polars.read_database(f"SELECT sum(n)::BIGINT AS total FROM {handle}", connection)
    equal(frame.to_dicts(), [{"total": 6}])


@case("polars tells of a revoked token, and of a missing role")
def _(server):
    with adbc(server, {AUTHORIZATION: f"Bearer {server.file('revoked-token')}"}) as connection:
        with fails("UNAUTHENTICATED", "unknown or revoked"):
            polars.read_database("SELECT 42", connection)
    with adbc(server, login(server.file("read-token"))) as connection:
        with fails("UNAUTHORIZED", "needs the role write"):
            polars.DataFrame({"n": [1]}).write_database(server.fresh(), connection, engine="adbc")


@case("pandas reads and writes over a connection with TLS and a token")
def _(server):
    handle = server.fresh()
    with adbc(server, client_certificate(server)) as connection:
        pandas.DataFrame({"n": [1, 2, 3]}).to_sql(handle, connection, index=False)
        frame = pandas.read_sql(f"SELECT sum(n)::BIGINT AS total FROM {handle}", connection)
    equal(frame.to_dict("records"), [{"total": 6}])


@case("pandas tells of a revoked token, and of a missing role")
def _(server):
    with adbc(server, {AUTHORIZATION: f"Bearer {server.file('revoked-token')}"}) as connection:
        with fails("UNAUTHENTICATED", "unknown or revoked"):
            pandas.read_sql("SELECT 42", connection)
    with adbc(server, login(server.file("read-token"))) as connection:
        try:
            pandas.DataFrame({"n": [1]}).to_sql(server.fresh(), connection, index=False)
        except pandas.errors.DatabaseError as error:
            assert "needs the role write" in str(error.__cause__), error.__cause__
        else:
            raise AssertionError("a reader has written")


# HTTP as QuestDB's users have it in Python: Basic or Bearer on /exec, /imp and /exp


def basic(password):
    return "Basic " + base64.b64encode(f"admin:{password}".encode()).decode()


def http(server, path, authorization, body=None, context=None, **query):
    url = f"{server.http}{path}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, body, {"Authorization": authorization} if authorization else {})
    if body is not None:
        request.add_header("Content-Type", "multipart/form-data; boundary=limit")
    context = context or ssl.create_default_context(cadata=server.file("ca.crt"))
    with urllib.request.urlopen(request, timeout=10, context=context) as response:
        return response.read().decode()


def upload(text):
    head = '--limit\r\nContent-Disposition: form-data; name="data"; filename="data.csv"\r\n\r\n'
    return f"{head}{text}\r\n--limit--\r\n".encode()


@contextlib.contextmanager
def is_refused(status, *texts):
    try:
        yield
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        equal(error.code, status)
        for part in texts:
            assert part in text, text
        if status == 401:
            assert error.headers["WWW-Authenticate"].startswith('Bearer realm="framehold"'), error.headers
    else:
        raise AssertionError(f"nothing was refused, where {status} should have come")


@case("HTTP: /imp, /exec and /exp take Basic and Bearer, as QuestDB's do")
def _(server):
    for authorization in (basic(server.file("token")), f"Bearer {server.file('token')}"):
        handle = server.fresh()
        http(server, "/imp", authorization, upload("n,text\n1,a\n2,b\n"), name=handle, fmt="json")
        sql = {"query": f"SELECT * FROM {handle}", "engine": "local"}
        equal(json.loads(http(server, "/exec", authorization, fmt="json", **sql))["dataset"], [[1, "a"], [2, "b"]])
        equal(http(server, "/exp", authorization, **sql), "n,text\r\n1,a\r\n2,b\r\n")


@case("HTTP: wrong and revoked credentials are 401, a missing role is 403, an unknown authority fails before")
def _(server):
    for password, reason in refused(server).items():
        for authorization in (basic(password), f"Bearer {password}"):
            with is_refused(401, reason):
                http(server, "/exec", authorization, query="SELECT 1", engine="local")
            with is_refused(401, reason):
                http(server, "/imp", authorization, upload("n\n1\n"), name=server.fresh())
    with is_refused(401, "no credentials were sent"):
        http(server, "/exec", None, query="SELECT 1")
    with is_refused(403, "needs the role write"):
        http(server, "/imp", basic(server.file("read-token")), upload("n\n1\n"), name=server.fresh())
    with fails("certificate verify failed", error=urllib.error.URLError):
        http(server, "/exec", basic(server.file("token")), context=ssl.create_default_context(), query="SELECT 1")
