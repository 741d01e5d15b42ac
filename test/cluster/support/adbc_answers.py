"""Runs the statements that standard input lists, as JSON, on one engine through ADBC, and answers each with a line."""

import json
import sys

import adbc_driver_flightsql.dbapi
import pyarrow


def sql_type(of):
    if pyarrow.types.is_decimal(of):
        return f"DECIMAL({of.precision},{of.scale})"
    return "DOUBLE" if pyarrow.types.is_float64(of) else str(of)


def answer(table):
    columns = [{"name": field.name, "type": sql_type(field.type)} for field in table.schema]
    dataset = [[None if cell is None else str(cell) for cell in row.values()] for row in table.to_pylist()]
    return {"columns": columns, "dataset": dataset, "count": table.num_rows}


address, engine = sys.argv[1:]
options = {"adbc.flight.sql.rpc.call_header.x-framehold-engine": engine}
with adbc_driver_flightsql.dbapi.connect(f"grpc://{address}", db_kwargs=options, autocommit=True) as connection:
    for sql in json.load(sys.stdin):
        with connection.cursor() as cursor:
            cursor.execute(sql)
            print(json.dumps(answer(cursor.fetch_arrow_table())), flush=True)
