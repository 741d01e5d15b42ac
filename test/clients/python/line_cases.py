"""Line protocol, as QuestDB's and InfluxDB's own clients write it."""

import datetime
import json
import urllib.request

import pandas as pd
from framehold_cases import case, equal
from influxdb_client import InfluxDBClient, Point, WritePrecision
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException
from questdb.ingress import IngressError, Sender, TimestampMicros, TimestampNanos

AT = 1_763_424_000_000_000_001


def rows(server, handle):
    with urllib.request.urlopen(f"{server.http}/exec?handle={handle}&fmt=json", timeout=15) as answer:
        found = json.load(answer)
    return {column["name"]: column["type"] for column in found["columns"]}, found["dataset"]


def sender(server):
    address = server.http.removeprefix("http://")
    return Sender.from_conf(f"http::addr={address};retry_timeout=0;")


@case("questdb writes rows of every type")
def _(server):
    handle = server.fresh("questdb")
    with sender(server) as quest:
        columns = {"price": 0.1 + 0.2, "n": -(2**62), "ok": True, "note": 'a "b" \\ \n日本', "at": TimestampMicros(5)}
        quest.row(handle, symbols={"sym": "B T=C,x\\y"}, columns=columns, at=TimestampNanos(AT))
        quest.row(handle, symbols={"sym": "only"}, at=TimestampNanos(AT + 1))
    types, found = rows(server, handle)
    wanted = {"sym": "VARCHAR", "price": "DOUBLE", "n": "LONG", "ok": "BOOLEAN", "note": "VARCHAR", "at": "TIMESTAMP"}
    equal(types, {**wanted, "timestamp": "TIMESTAMP_NS"})
    note = 'a "b" \\ \n日本'
    first = ["B T=C,x\\y", 0.1 + 0.2, -(2**62), True, note, "1970-01-01T00:00:00.000005Z"]
    equal(found[0], [*first, "2025-11-18T00:00:00.000000001Z"])
    equal(found[1], ["only", None, None, None, None, None, "2025-11-18T00:00:00.000000002Z"])


@case("questdb writes a pandas frame")
def _(server):
    handle = server.fresh("frame")
    times = pd.date_range("2025-11-18", periods=1000, freq="s", unit="ns")
    frame = pd.DataFrame({"sym": pd.Categorical(["a", "b"] * 500), "px": [n / 7 for n in range(1000)], "ts": times})
    with sender(server) as quest:
        quest.dataframe(frame, table_name=handle, symbols=["sym"], at="ts")
    _, found = rows(server, handle)
    equal([row[1] for row in found], [n / 7 for n in range(1000)])


@case("questdb tells of the line that is wrong")
def _(server):
    handle = server.fresh("wrong")
    with sender(server) as quest:
        quest.row(handle, columns={"a": 1}, at=TimestampNanos(AT))
    try:
        with sender(server) as quest:
            quest.row(handle, columns={"a": 2}, at=TimestampNanos(AT))
            quest.row(handle, columns={"a": "text"}, at=TimestampNanos(AT))
    except IngressError as error:
        assert "line 2" in str(error) and "VARCHAR" in str(error), str(error)
    else:
        raise AssertionError("it was taken")
    equal(len(rows(server, handle)[1]), 1)


@case("influxdb-client writes points, and tells of the line that is wrong")
def _(server):
    handle = server.fresh("influx")
    with InfluxDBClient(url=server.http, token="any", org="o", enable_gzip=True) as client:
        api = client.write_api(write_options=SYNCHRONOUS)
        point = Point(handle).tag("host", "a b,c=d").field("f", 1.5).field("n", 3).field("s", 'x "y" \\z').field("b", False)
        api.write(bucket="b", record=[point.time(AT, WritePrecision.NS)])
        later = datetime.datetime(2025, 11, 18, tzinfo=datetime.timezone.utc)
        api.write(bucket="b", record=Point(handle).field("f", 2.0).time(later, WritePrecision.S), write_precision="s")
        try:
            api.write(bucket="b", record=[f"{handle} f=1", f"{handle} f=t"])
        except ApiException as error:
            equal((error.status, json.loads(error.body)["line"]), (400, 2))
        else:
            raise AssertionError("it was taken")
    types, found = rows(server, handle)
    equal(sorted(types), ["b", "f", "host", "n", "s", "timestamp"])
    by_name = [dict(zip(types, row, strict=True)) for row in found]
    first = {"host": "a b,c=d", "f": 1.5, "n": 3, "s": 'x "y" \\z', "b": False}
    equal(by_name[0], {**first, "timestamp": "2025-11-18T00:00:00.000000001Z"})
    equal([by_name[1]["f"], by_name[1]["timestamp"]], [2.0, "2025-11-18T00:00:00.000000000Z"])
    equal(len(found), 2)
