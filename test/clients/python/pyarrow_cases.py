"""Plain Arrow Flight, by pyarrow."""

import datetime
import decimal
import io
import json
import random
import threading
import time
import urllib.request

import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.flight as flight
import pyarrow.parquet as parquet
from framehold_cases import case, equal, fails, within


def rows(start, stop):
    numbers = range(start, stop)
    return pa.table({"id": pa.array(numbers, pa.int64()), "text": pa.array([f"row {n}" for n in numbers], pa.string())})


def path(*parts):
    return flight.FlightDescriptor.for_path(*parts)


def command(**request):
    return flight.FlightDescriptor.for_command(json.dumps(request).encode())


def handles(client, criteria=b""):
    return sorted(info.descriptor.path[-1].decode() for info in client.list_flights(criteria))


def act(client, kind, body):
    text = body if isinstance(body, str) else json.dumps(body)
    return [result.body.to_pybytes() for result in client.do_action(flight.Action(kind, text.encode()))]


@case("a client that waits for the server finds it")
def _(server):
    with server.flight() as client:
        client.wait_for_available(timeout=5)


@case("a handshake with name and password gives a bearer token, which calls may carry")
def _(server):
    with server.flight() as client:
        name, value = client.authenticate_basic_token(b"somebody", b"secret")
        equal(name, b"authorization")
        assert value.startswith(b"Bearer ") and len(value) > len("Bearer "), value
        options = flight.FlightCallOptions(headers=[(name, value)])
        list(client.list_flights(options=options))


@case("a table comes back as it was put")
def _(server):
    handle, table = server.fresh(), rows(0, 10_000)
    server.put(handle, table)
    equal(server.get(handle), table)


@case("a put is answered with handle, rows, bytes and version")
def _(server):
    handle = server.fresh()
    answer = server.put(handle, rows(0, 10))
    equal({key: answer[key] for key in ("handle", "rows", "version")}, {"handle": handle, "rows": 10, "version": 1})
    assert answer["bytes"] > 0, answer


def flat_columns(count):
    """Every type that is written to Parquet as it comes, with nulls; the values of row n follow from n."""
    numbers = range(count)

    def column(type, value):
        return pa.array([None if n % 11 == 3 else value(n) for n in numbers], type)

    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "flag": column(pa.bool_(), lambda n: n % 3 == 0),
            "tiny": column(pa.int8(), lambda n: n % 256 - 128),
            "huge": column(pa.uint64(), lambda n: n * 2**46),
            "below": column(pa.int64(), lambda n: n - count),
            "float": column(pa.float32(), lambda n: n / 8),
            "double": column(pa.float64(), lambda n: n / 7),
            "money": column(pa.decimal128(18, 4), lambda n: decimal.Decimal(n) / 10000),
            "wide": column(pa.decimal128(38, 2), lambda n: -decimal.Decimal(n) * 10**20),
            "text": column(pa.string(), lambda n: f"text {n % 100}"),
            "own": column(pa.string(), lambda n: f"nobody else has {n}"),
            "bytes": column(pa.binary(), lambda n: bytes([n % 256, 0])),
            "day": column(pa.date32(), lambda n: datetime.date(1960, 1, 1) + datetime.timedelta(days=n % 40_000)),
            "time": column(pa.time64("us"), lambda n: datetime.time(n % 24, n % 60, 1, n)),
            "at": column(pa.timestamp("us"), lambda n: datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=n)),
            "nanos": column(pa.timestamp("ns"), lambda n: n * 10**9 + 1),
        }
    )


@case("the Parquet file of a new frame reads back in pyarrow and polars, whole and by its statistics")
def _(server):
    handle, table = server.fresh(), flat_columns(150_000)
    server.put(handle, table)
    with urllib.request.urlopen(f"{server.http}/exp?handle={handle}&fmt=parquet") as answer:
        file = answer.read()
    equal(parquet.read_table(io.BytesIO(file)), table)
    found = polars.read_parquet(io.BytesIO(file))
    for name in ("id", "huge", "double", "text", "own", "day", "at"):
        equal(found[name].to_list(), table[name].to_pylist())
    in_the_middle = table["at"][70_000].as_py()
    for filters in (
        [("id", "=", 149_999)],
        [("huge", ">", pa.scalar(149_990 * 2**46, pa.uint64()))],
        [("below", "<", -149_995)],
        [("at", "=", in_the_middle)],
    ):
        rows_found = parquet.read_table(io.BytesIO(file), filters=filters)
        assert 0 < rows_found.num_rows < 20, (filters, rows_found.num_rows)
    statistics = parquet.ParquetFile(io.BytesIO(file)).metadata.row_group(1).column(0).statistics
    equal((statistics.min, statistics.max, statistics.null_count), (65_536, 131_071, 0))


@case("the path of a put may begin with frames")
def _(server):
    handle = server.fresh()
    with server.flight() as client:
        writer, _ = client.do_put(path("frames", handle), rows(0, 3).schema)
        with writer:
            writer.write_table(rows(0, 3))
    equal(server.get(handle), rows(0, 3))


@case("batches of a put keep their order")
def _(server):
    handle = server.fresh()
    batches = [rows(n * 100, n * 100 + 100).to_batches()[0] for n in range(50)]
    table = pa.Table.from_batches(batches)
    server.put(handle, table)
    equal(server.get(handle)["id"].to_pylist(), list(range(5000)))


@case("an empty table comes back with its schema and without rows")
def _(server):
    handle, table = server.fresh(), rows(0, 0)
    equal(server.put(handle, table)["rows"], 0)
    back = server.get(handle)
    equal((back.schema, back.num_rows), (table.schema, 0))


@case("a handle that is taken is not overwritten unless that is asked for")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 3))
    with fails(handle, "exists|taken"):
        server.put(handle, rows(0, 4))
    equal(server.get(handle), rows(0, 3))
    equal(server.put(handle, rows(0, 5), mode="overwrite")["version"], 2)
    equal(server.get(handle), rows(0, 5))


@case("an append adds its rows behind the others")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 3))
    server.put(handle, rows(3, 7), mode="append")
    equal(server.get(handle).combine_chunks(), rows(0, 7).combine_chunks())


@case("an append of other columns is refused by the name of the column")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 3))
    with fails("txt|text"):
        server.put(handle, rows(3, 7).rename_columns(["id", "txt"]), mode="append")
    equal(server.get(handle), rows(0, 3))


@case("the mode may be said in the metadata of a message of its own before the rows")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 3))
    with server.flight() as client:
        writer, _ = client.do_put(path(handle), rows(0, 1).schema)
        with writer:
            writer.write_metadata(json.dumps({"mode": "append"}).encode())
            writer.write_table(rows(3, 5))
    equal(server.get(handle).combine_chunks(), rows(0, 5))


@case("an append answers each batch, with those behind it already on their way")
def _(server):
    handle = server.fresh()
    command = json.dumps({"handle": handle, "mode": "append", "ack": "batch"}).encode()
    with server.flight() as client:
        writer, results = client.do_put(flight.FlightDescriptor.for_command(command), rows(0, 1).schema)
        with writer:
            for n in range(20):
                writer.write_batch(rows(n * 10, n * 10 + 10).to_batches()[0])
            acks = [json.loads(results.read().to_pybytes()) for _ in range(20)]
            equal([(ack["seq"], ack["rows"]) for ack in acks], [(n, 10) for n in range(20)])
            equal(server.get(handle)["id"].to_pylist(), list(range(200)))
            writer.write_batch(rows(200, 203).to_batches()[0])
            equal(json.loads(results.read().to_pybytes())["rows"], 3)
            writer.done_writing()
            equal(results.read(), None)
    equal(server.get(handle)["id"].to_pylist(), list(range(203)))


@case("the mode may be said in the metadata of the first batch")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 3))
    with server.flight() as client:
        writer, _ = client.do_put(path(handle), rows(0, 1).schema)
        with writer:
            writer.write_with_metadata(rows(7, 9).to_batches()[0], json.dumps({"mode": "overwrite"}).encode())
    equal(server.get(handle), rows(7, 9))


@case("the mode may be said in the metadata of the first batch also where dictionaries come before it")
def _(server):
    handle = server.fresh()
    table = pa.table({"id": [1, 2, 3], "side": pa.array(["buy", "sell", "buy"]).dictionary_encode()})
    server.put(handle, table)
    with server.flight() as client:
        writer, _ = client.do_put(path(handle), table.schema)
        with writer:
            writer.write_with_metadata(table.to_batches()[0], json.dumps({"mode": "append"}).encode())
            writer.done_writing()
    equal(server.get(handle)["side"].to_pylist(), ["buy", "sell", "buy"] * 2)


@case("a mode that is none is refused with those that are")
def _(server):
    with fails("upsert", "create", "append", "overwrite"):
        server.put(server.fresh(), rows(0, 1), mode="upsert")


@case("a handle of a wrong form is refused with its name")
def _(server):
    with fails("no spaces"):
        server.put("no spaces", rows(0, 1))


def wait_until_gone(server, handle):
    """A read would renew the frame, a look at the list does not."""
    with server.flight() as client:
        while handle in handles(client):
            time.sleep(0.1)


@case("a frame with a time to live ends after it, and says so")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 1), ttl="1s")
    wait_until_gone(server, handle)
    with fails(handle, "expired|gone"):
        server.get(handle)


@case("a renewal gives a frame another time to live")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 1), ttl="1h")
    with server.flight() as client:
        act(client, "framehold.renew", {"handle": handle, "ttl": "1s"})
    wait_until_gone(server, handle)


@case("flights are listed, all of them or those of a prefix")
def _(server):
    names = [server.fresh("listed") for _ in range(3)]
    for handle in names:
        server.put(handle, rows(0, 1))
    other = server.fresh("other")
    server.put(other, rows(0, 1))
    with server.flight() as client:
        equal(handles(client, b"listed"), sorted(names))
        assert {*names, other} <= set(handles(client))
        equal(handles(client, b"no_such_prefix"), [])


@case("the info of a flight tells schema, rows and a ticket that gives the rows")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 12))
    with server.flight() as client:
        for descriptor in (path(handle), path("frames", handle), command(handle=handle)):
            info = client.get_flight_info(descriptor)
            equal(info.schema, rows(0, 1).schema)
            equal(info.total_records, 12)
            equal(len(info.endpoints), 1)
            equal(client.do_get(info.endpoints[0].ticket).read_all(), rows(0, 12))


@case("the schema of a flight is told alone")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 1))
    with server.flight() as client:
        equal(client.get_schema(path(handle)).schema, rows(0, 1).schema)


@case("a ticket may ask for some columns, in its own order")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 5).append_column("third", pa.array([True] * 5)))
    back = server.get({"handle": handle, "columns": ["third", "id"]})
    equal(back.column_names, ["third", "id"])
    equal(back["id"].to_pylist(), [0, 1, 2, 3, 4])
    with fails("idd", "did you mean .?id"):
        server.get({"handle": handle, "columns": ["idd"]})


@case("a ticket may ask for a range of rows")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 300_000))
    for start, stop in ((0, 10), (5, 5), (122_870, 122_890), (299_990, 300_000), (299_990, 400_000)):
        back = server.get({"handle": handle, "columns": ["id"], "from": start, "to": stop})
        equal(back["id"].to_pylist(), list(range(start, min(stop, 300_000))))
    equal(server.get({"handle": handle, "from": 299_999}).num_rows, 1)


@case("the same request as a command gives the schema of what it asks for")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 5))
    with server.flight() as client:
        request = command(**{"handle": handle, "columns": ["text"], "from": 1, "to": 3})
        info = client.get_flight_info(request)
        equal(info.schema, rows(0, 1).select(["text"]).schema)
        equal(client.do_get(info.endpoints[0].ticket).read_all(), rows(1, 3).select(["text"]))


@case("a ticket may be SQL over frames")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 1000))
    equal(server.get(f"SELECT max(id) AS top FROM {handle}").to_pylist(), [{"top": 999}])
    equal(server.get(f"SELECT id FROM framehold.frames.{handle} WHERE id < 3 ORDER BY id")["id"].to_pylist(), [0, 1, 2])


@case("a handle that never was is not found")
def _(server):
    with fails("nobody_knows_this", error=KeyError):
        server.get("nobody_knows_this")
    with server.flight() as client, fails("nobody_knows_this", error=KeyError):
        client.get_flight_info(path("nobody_knows_this"))


@case("SQL with a mistake says what is wrong")
def _(server):
    with fails("no_such_table"):
        server.get("SELECT * FROM no_such_table")


@case("SQL in a ticket cannot change anything")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 1))
    for sql in (f"DROP TABLE {handle}", "COPY (SELECT 1) TO '/tmp/x.csv'", "SELECT * FROM read_csv('/etc/passwd')"):
        with fails("."):
            server.get(sql)
    equal(server.get(handle), rows(0, 1))


@case("the actions are listed, each with what it does")
def _(server):
    with server.flight() as client:
        actions = {action.type: action.description for action in client.list_actions()}
    assert {"framehold.drop", "framehold.renew"} <= set(actions), actions
    assert all(actions.values()), actions


@case("a dropped frame is gone, which is not the same as never there")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 1))
    with server.flight() as client:
        act(client, "framehold.drop", handle)
        assert handle not in handles(client)
        with fails(handle, "dropped|gone"):
            server.get(handle)
        with fails("nobody_here"):
            act(client, "framehold.drop", "nobody_here")
        with fails("framehold.nonsense|unknown action"):
            act(client, "framehold.nonsense", "")


@case("a result of many megabytes arrives whole")
def _(server):
    handle = server.fresh()
    table = pa.table({"id": pa.array(range(2_000_000), pa.int64()), "fraction": pa.array([0.5] * 2_000_000)})
    server.put(handle, table)
    back = server.get(handle)
    assert back.nbytes > 30_000_000, back.nbytes
    equal(back["id"].combine_chunks(), table["id"].combine_chunks())


@case("a single value of more than 4 MiB is held and given")
def _(server):
    handle, table = server.fresh(), pa.table({"text": ["ä" * 3_000_000, "short"]})
    server.put(handle, table)
    equal(server.get(handle), table)


@case("a reader that gives up does not disturb others")
def _(server):
    handle = server.fresh()
    server.put(handle, rows(0, 500_000))
    with server.flight() as client:
        for _ in range(5):
            reader = client.do_get(flight.Ticket(handle.encode()))
            reader.read_chunk()
            reader.cancel()
        equal(client.do_get(flight.Ticket(handle.encode())).read_all().num_rows, 500_000)


@case("a query that takes too long ends at the caller's deadline, and its engine is free again")
def _(server):
    slow = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range + b.range = 7"
    with server.flight() as client, within(5):
        with fails(".", error=flight.FlightTimedOutError):
            client.do_get(flight.Ticket(slow.encode()), flight.FlightCallOptions(timeout=0.5)).read_all()
        equal(server.get("SELECT 42 AS n").to_pylist(), [{"n": 42}])


@case("an upload that breaks off leaves nothing")
def _(server):
    handle = server.fresh()
    with server.flight() as client:
        writer, results = client.do_put(path(handle), rows(0, 1).schema, flight.FlightCallOptions(timeout=0.5))
        writer.write_table(rows(0, 1000))
        with fails(".", error=flight.FlightTimedOutError):
            results.read()
            writer.close()
    with fails(handle, "not found|no frame|unknown", error=KeyError):
        server.get(handle)
    server.put(handle, rows(0, 1))


@case("many clients at once get what is theirs")
def _(server):
    names = [server.fresh() for _ in range(8)]
    failures = []

    def work(number, handle):
        try:
            table = rows(number * 1000, number * 1000 + 20_000)
            server.put(handle, table)
            for _ in range(5):
                equal(server.get(handle).combine_chunks(), table.combine_chunks())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=item) for item in enumerate(names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def many_kinds():
    """What compresses well, what does not, nothing at all, nulls, dictionaries and nested values."""
    dice = random.Random(11)
    count = 70_000
    numbers = [dice.getrandbits(63) for _ in range(count)]
    return pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "noise": pa.array(numbers, pa.int64()),
            "text": pa.array([None if n % 7 == 0 else f"row {n % 50} " * (n % 9) for n in numbers], pa.string()),
            "nothing": pa.array([None] * count, pa.float64()),
            "same": pa.array(["same"] * count, pa.string()),
            "list": pa.array([[n % 5] * (n % 4) for n in numbers], pa.list_(pa.int32())),
            "kind": pa.array([f"kind {n % 3}" for n in numbers]).dictionary_encode(),
        }
    )


def plain(table):
    return table.set_column(table.column_names.index("kind"), "kind", table["kind"].cast(pa.string()))


@case("compressed batches are unpacked")
def _(server):
    sent = many_kinds()
    for compression in ("lz4", "zstd"):
        options = flight.FlightCallOptions(write_options=pa.ipc.IpcWriteOptions(compression=compression))
        handle = server.fresh()
        with server.flight() as client:
            writer, _ = client.do_put(path(handle), sent.schema, options)
            with writer:
                writer.write_table(sent, max_chunksize=30_000)
            received = client.do_get(flight.Ticket(handle)).read_all()
        equal(received.combine_chunks(), plain(sent).combine_chunks())


@case("a Feather file is taken as pyarrow and pandas write it, compressed")
def _(server):
    sent = many_kinds()
    for compression in ("lz4", "zstd", "uncompressed"):
        file = io.BytesIO()
        feather.write_feather(sent, file, compression=compression)
        handle = server.fresh()
        request = urllib.request.Request(f"{server.http}/imp?name={handle}&fmt=json", data=file.getvalue(), method="POST")
        with urllib.request.urlopen(request, timeout=15) as answer:
            equal(json.load(answer)["rowsImported"], sent.num_rows)
        with server.flight() as client:
            received = client.do_get(flight.Ticket(handle)).read_all()
        equal(received.combine_chunks(), plain(sent).combine_chunks())


@case("headers that are not ours do not disturb, also long ones")
def _(server):
    headers = [(b"x-trace", b"a" * 30_000)]
    with server.flight() as client:
        list(client.list_flights(options=flight.FlightCallOptions(headers=headers)))


@case("a frame is followed as it grows, and taken up again where the stream broke off")
def _(server):
    def follow(client, **more):
        ticket = json.dumps({"handle": handle, "follow": True, **more})
        return client.do_get(flight.Ticket(ticket.encode()))

    def take(reader, count):
        taken = []
        while len(taken) < count:
            chunk = reader.read_chunk()
            taken += chunk.data.column("id").to_pylist()
        return taken, json.loads(chunk.app_metadata.to_pybytes())["next"]

    def add(client, start, stop):
        writer, _ = client.do_put(command(handle=handle, mode="append"), rows(start, stop).schema)
        with writer:
            writer.write_table(rows(start, stop))

    handle = server.fresh()
    with server.flight() as client:
        add(client, 0, 3)
        reader = follow(client)
        equal(take(reader, 3), ([0, 1, 2], 3))
        add(client, 3, 5)
        taken, mark = take(reader, 2)
        equal((taken, mark), ([3, 4], 5))
        reader.cancel()
        add(client, 5, 6)
        reader = follow(client, **{"from": mark, "columns": ["id"]})
        equal(take(reader, 1), ([5], 6))
        reader.cancel()
