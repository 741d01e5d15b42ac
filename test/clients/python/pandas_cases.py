"""pandas over ADBC."""

import pandas as pd
from framehold_cases import case, equal, fails


def frame():
    return pd.DataFrame(
        {
            "id": [1, 2, 3],
            "name": ["a", None, "c"],
            "price": [1.5, None, -2.5],
            "at": pd.to_datetime(["2026-01-31 12:00", None, "1960-01-01 00:00"]),
            "good": [True, False, True],
        }
    )


@case("read_sql gives the rows of a query")
def _(server):
    with server.adbc() as connection:
        back = pd.read_sql("SELECT range AS id, 'x' || range AS name FROM range(3)", connection)
    equal(back.to_dict("list"), {"id": [0, 1, 2], "name": ["x0", "x1", "x2"]})


@case("read_sql keeps exact types with the pyarrow back end")
def _(server):
    sql = "SELECT 1.25::DECIMAL(10,2) AS exact, 7::TINYINT AS small, NULL::BIGINT AS none"
    with server.adbc() as connection:
        back = pd.read_sql(sql, connection, dtype_backend="pyarrow")
    equal([str(kind) for kind in back.dtypes], ["decimal128(10, 2)[pyarrow]", "int8[pyarrow]", "int64[pyarrow]"])
    assert back["none"].isna().all()


@case("read_sql can make a column the index, and parse dates")
def _(server):
    with server.adbc() as connection:
        back = pd.read_sql("SELECT 5 AS id, '2026-01-31' AS day", connection, index_col="id", parse_dates=["day"])
    equal((back.index.name, back.loc[5, "day"]), ("id", pd.Timestamp(2026, 1, 31)))


@case("to_sql holds a frame, and read_sql_table gives it back")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        equal(frame().to_sql(handle, connection, index=False), 3)
        back = pd.read_sql_table(handle, connection)
    pd.testing.assert_frame_equal(back, frame(), check_dtype=False)
    equal(server.exec(handle=handle)["count"], 3)


@case("read_sql_table takes a schema and some columns")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        frame().to_sql(handle, connection, index=False)
        back = pd.read_sql_table(handle, connection, schema="frames", columns=["price", "id"])
    equal(back.columns.tolist(), ["price", "id"])


@case("to_sql writes the index as a column where it is asked to")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        pd.DataFrame({"n": [1, 2]}, index=pd.Index([7, 8], name="key")).to_sql(handle, connection)
        equal(pd.read_sql(f"SELECT key, n FROM {handle}", connection).to_dict("list"), {"key": [7, 8], "n": [1, 2]})


@case("to_sql fails, replaces or appends as it is told")
def _(server):
    handle = server.fresh()
    one, two = pd.DataFrame({"n": [1]}), pd.DataFrame({"n": [2]})

    def held():
        return pd.read_sql(f"SELECT n FROM {handle}", connection)["n"].tolist()

    with server.adbc() as connection:
        one.to_sql(handle, connection, index=False, if_exists="append")
        with fails(handle, "exists", error=ValueError):
            two.to_sql(handle, connection, index=False)
        two.to_sql(handle, connection, index=False, if_exists="append")
        equal(held(), [1, 2])
        two.to_sql(handle, connection, index=False, if_exists="replace")
        equal(held(), [2])
        two.to_sql(handle, connection, index=False, if_exists="replace", schema="frames")
        equal(held(), [2])


@case("to_sql deletes the rows of a frame, and keeps its columns")
def _(server):
    handle = server.fresh()
    with server.adbc(autocommit=True) as connection:
        pd.DataFrame({"n": [1]}).to_sql(handle, connection, index=False)
        pd.DataFrame({"n": [2]}).to_sql(handle, connection, index=False, if_exists="delete_rows")
        equal(pd.read_sql(f"SELECT n FROM {handle}", connection)["n"].tolist(), [2])


@case("a mistake in the SQL reaches the user, and the connection stays usable")
def _(server):
    with server.adbc() as connection:
        with fails("prise"):
            pd.read_sql("SELECT prise FROM (SELECT 1 AS price)", connection)
        equal(pd.read_sql("SELECT 1 AS n", connection)["n"].tolist(), [1])


@case("read_parquet, read_csv and read_json read a frame by names with an ending")
def _(server):
    handle = server.fresh()
    with server.adbc() as connection:
        frame().to_sql(handle, connection, index=False)
    address = f"{server.http}/frames/{handle}"
    pd.testing.assert_frame_equal(pd.read_parquet(f"{address}.parquet"), frame(), check_dtype=False)
    equal(pd.read_csv(f"{address}.csv")["price"].tolist()[2], -2.5)
    equal(pd.read_json(f"{address}.ndjson", lines=True)["id"].tolist(), [1, 2, 3])
