"""Imports trades that it holds as CSV by /imp, QuestDB's or ours, and waits until SQL shows all rows."""

import http.client
import json
import tempfile
import time
from urllib.parse import quote, urlencode

import duckdb

from ask_loop import serve
from checksums import checksums

boundary = "----framehold-bench"
readable_seconds = 300
# QuestDB does not look at them.
for_ours = "fmt=json&engine=local"
for_exp = "fmt=csv&engine=local"
held = {}


def load(path, schema):
    """`schema`: as /imp takes it. The whole multipart body is made here, so that sending is all that remains."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        connection = duckdb.connect()
        connection.execute(
            f"COPY (SELECT * REPLACE (strftime(timestamp, '%Y-%m-%dT%H:%M:%S.%fZ') AS timestamp) FROM '{path}') "
            f"TO '{file.name}' (FORMAT csv, HEADER)"
        )
        held["rows"] = connection.execute(f"SELECT count(*) FROM '{path}'").fetchone()[0]
        csv = open(file.name, "rb").read()
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="schema"\r\n\r\n{json.dumps(schema)}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="data"; filename="trades.csv"\r\n\r\n'
    )
    held["body"] = head.encode() + csv + f"\r\n--{boundary}--\r\n".encode()
    return {"bytes": len(csv), "rows": held["rows"]}


def put(host, port, table):
    connection = http.client.HTTPConnection(host, port)
    query = {"name": table, "fmt": "json", "timestamp": "timestamp", "partitionBy": "DAY", "atomicity": "abort"}
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    started = time.perf_counter()
    connection.request("POST", f"/imp?{urlencode(query)}", held["body"], headers)
    answer = connection.getresponse().read().decode()
    if '"status":"OK"' not in answer:
        raise RuntimeError(f"it did not import: {answer[:300]}")
    imported_seconds = time.perf_counter() - started
    while count(connection, table) != held["rows"]:
        if time.perf_counter() - started > readable_seconds:
            raise RuntimeError(f"it did not show {held['rows']} rows within {readable_seconds} s")
        time.sleep(0.005)
    return {"seconds": time.perf_counter() - started, "importedSeconds": imported_seconds, "rows": held["rows"]}


def count(connection, table):
    """None while there is no such table yet."""
    answer = execute(connection, f"select count() from {table}")
    return answer["dataset"][0][0] if "dataset" in answer else None


def execute(connection, sql):
    connection.request("GET", f"/exec?query={quote(sql)}&{for_ours}")
    return json.loads(connection.getresponse().read())


def check(host, port, table):
    connection = http.client.HTTPConnection(host, port)
    connection.request("GET", f"/exp?query={quote(f'select * from {table}')}&{for_exp}")
    types = "{timestamp: TIMESTAMP, symbol: VARCHAR, side: VARCHAR, price: DOUBLE, amount: DOUBLE, id: BIGINT}"
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        response = connection.getresponse()
        while piece := response.read(1 << 20):
            file.write(piece)
        file.flush()
        rows = duckdb.sql(f"FROM read_csv('{file.name}', header = true, columns = {types})").to_arrow_table()
        return checksums(rows)


def drop(host, port, table):
    """By our own door; what has none is QuestDB."""
    connection = http.client.HTTPConnection(host, port)
    connection.request("DELETE", f"/handles/{table}")
    response = connection.getresponse()
    response.read()
    if response.status == 200:
        return
    answer = execute(http.client.HTTPConnection(host, port), f"drop table {table}")
    if "error" in answer:
        raise RuntimeError(answer["error"])


serve({"load": load, "put": put, "check": check, "drop": drop})
