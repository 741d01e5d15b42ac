"""What GET /exp writes, read back by pandas, polars, pyarrow and Python's own csv module."""

import csv
import io
import json
import math
import random
import urllib.error
import urllib.parse
import urllib.request

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from framehold_cases import case, equal

ROWS = 3000
LETTERS = ["a", "é", "😀", ",", ";", '"', "'", "\n", "\r", "\t", " ", "=", "-", "0"]


def text(dice, empty=True):
    return "".join(dice.choice(LETTERS) for _ in range(dice.randint(0 if empty else 1, 6)))


def table():
    """Everything that must not be lost: quotes, line breaks, NULL beside empty text, 64-bit numbers, all doubles."""
    dice = random.Random(7)
    some = lambda make: [None if dice.random() < 0.1 else make() for _ in range(ROWS)]  # noqa: E731
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "long": pa.array(some(lambda: dice.randint(-(2**63), 2**63 - 1)), pa.int64()),
            "text": pa.array(some(lambda: text(dice)), pa.string()),
            "double": pa.array(
                some(lambda: dice.choice([dice.random(), dice.uniform(-1e300, 1e300), 1e-300, 0.1, -0.0, 1e15])),
                pa.float64(),
            ),
            "single": pa.array(some(lambda: dice.random() * 10 ** dice.randint(-20, 20)), pa.float32()),
            "yes": pa.array(some(lambda: dice.random() < 0.5), pa.bool_()),
            "day": pa.array(some(lambda: dice.randint(-100_000, 100_000)), pa.int32()).cast(pa.date32()),
            "at": pa.array(some(lambda: dice.randint(-(10**15), 10**16)), pa.int64()).cast(pa.timestamp("us", "UTC")),
        }
    )


def export(server, accept=None, **parameters):
    query = urllib.parse.urlencode(parameters)
    request = urllib.request.Request(f"{server.http}/exp?{query}", headers={"accept-encoding": accept or "identity"})
    with urllib.request.urlopen(request, timeout=15) as answer:
        return answer.read()


def held(server):
    handle = server.fresh("csv")
    rows = table()
    server.put(handle, rows)
    return handle, rows


@case("pandas reads the rows back equal")
def _(server):
    handle, rows = held(server)
    back = pd.read_csv(
        f"{server.http}/exp?handle={handle}",
        dtype={"long": "Int64", "single": "float32", "yes": "boolean", "text": "string"},
        parse_dates=["day", "at"],
        date_format="ISO8601",
        float_precision="round_trip",
        # pandas cannot tell empty text from none: it reads both as missing.
        keep_default_na=False,
        na_values={name: [""] for name in rows.column_names},
    )
    equal(list(back.columns), rows.column_names)
    for name in rows.column_names:
        wanted = rows[name].to_pylist()
        found = back[name].tolist()
        for want, have in zip(wanted, found, strict=True):
            if want is None or want == "":
                assert pd.isna(have), f"{name}: {have!r} where {want!r} was"
            elif name in ("day", "at"):
                equal(pd.Timestamp(have), pd.Timestamp(want))
            else:
                equal(have, want)


@case("polars reads the rows back equal, and tells empty text from none")
def _(server):
    handle, rows = held(server)
    schema = {
        "id": pl.Int64,
        "long": pl.Int64,
        "text": pl.String,
        "double": pl.Float64,
        "single": pl.Float32,
        "yes": pl.Boolean,
        "day": pl.Date,
        "at": pl.Datetime("us", "UTC"),
    }
    as_read = {**schema, "at": pl.String}
    back = pl.read_csv(io.BytesIO(export(server, handle=handle)), schema=as_read)
    back = back.with_columns(pl.col("at").str.to_datetime("%Y-%m-%dT%H:%M:%S%.6fZ", time_zone="UTC"))
    wanted = pl.from_arrow(rows).with_columns(pl.col("at").cast(schema["at"]))
    for name in rows.column_names:
        for want, have in zip(wanted[name].to_list(), back[name].to_list(), strict=True):
            equal((name, have), (name, want))


@case("pyarrow reads the rows back equal, and tells empty text from none")
def _(server):
    handle, rows = held(server)
    convert = pa.csv.ConvertOptions(
        column_types={**{field.name: field.type for field in rows.schema}, "at": pa.timestamp("us", "UTC")},
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    back = pa.csv.read_csv(
        io.BytesIO(export(server, handle=handle)),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=convert,
    )
    equal(back.schema.names, rows.schema.names)
    for name in rows.column_names:
        assert back[name].equals(rows[name]), name


@case("Python's csv module reads the text back equal, with any delimiter, coded or not")
def _(server):
    import gzip

    handle, rows = held(server)
    wanted = [value or "" for value in rows["text"].to_pylist()]
    for parameters, delimiter in (
        ({}, ","),
        ({"delimiter": ";"}, ";"),
        ({"delimiter": "|"}, "|"),
        ({"fmt": "tsv"}, "\t"),
    ):
        plain = export(server, handle=handle, **parameters)
        equal(gzip.decompress(export(server, accept="gzip", handle=handle, **parameters)), plain)
        lines = list(csv.reader(io.StringIO(plain.decode(), newline=""), delimiter=delimiter))
        equal(lines[0], rows.column_names)
        equal([line[2] for line in lines[1:]], wanted)


@case("NaN and both infinities read back")
def _(server):
    sql = "SELECT unnest(['NaN'::DOUBLE, 'Infinity'::DOUBLE, '-Infinity'::DOUBLE, NULL]) AS f, 1 AS n"
    body = export(server, query=sql, engine="local")
    equal(body, b"f,n\r\nNaN,1\r\nInfinity,1\r\n-Infinity,1\r\n,1\r\n")
    back = pd.read_csv(io.BytesIO(body))["f"].tolist()
    assert math.isnan(back[0])
    equal(back[1:3], [math.inf, -math.inf])
    back = pl.read_csv(io.BytesIO(body), schema_overrides={"f": pl.Float64})["f"].to_list()
    assert math.isnan(back[0])
    equal(back[1:], [math.inf, -math.inf, None])


@case("NDJSON reads back in pandas, polars and Python's json module")
def _(server):
    handle, rows = held(server)
    body = export(server, handle=handle, fmt="ndjson", cols="id,long,text,double,yes")
    wanted = rows.select(["id", "long", "text", "double", "yes"]).to_pylist()
    equal([json.loads(line) for line in body.decode().split("\n")[:-1]], wanted)
    equal(pl.read_ndjson(io.BytesIO(body), infer_schema_length=None).to_dicts(), wanted)
    equal(pd.read_json(io.BytesIO(body), lines=True, dtype=False)["id"].tolist(), rows["id"].to_pylist())


@case("an Arrow export is the table, and a Parquet export too")
def _(server):
    handle, rows = held(server)
    with pa.ipc.open_stream(export(server, handle=handle, fmt="arrow")) as stream:
        back = stream.read_all()
    for name in rows.column_names:
        assert back[name].combine_chunks().equals(rows[name].combine_chunks()), name
    for parameters in ({}, {"cols": ",".join(reversed(rows.column_names))}, {"compression_codec": "gzip"}):
        back = pa.parquet.read_table(io.BytesIO(export(server, handle=handle, fmt="parquet", **parameters)))
        for name in rows.column_names:
            assert back[name].cast(rows[name].type).equals(rows[name]), name
    back = pl.read_parquet(io.BytesIO(export(server, query=f"SELECT * FROM {handle}", engine="local", fmt="parquet")))
    equal(back["text"].to_list(), rows["text"].to_pylist())
