"""Files of any format, put as they are."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import polars
import pyarrow as pa
import pytest

import framehold

ROWS = [{"n": 1, "t": "x"}, {"n": 2, "t": None}]
FRAME = polars.DataFrame(ROWS)


def write_arrow_file(path: Path) -> None:
    with pa.ipc.new_file(path, FRAME.to_arrow().schema) as writer:
        writer.write_table(FRAME.to_arrow())


WRITERS: dict[str, Callable[[Path], object]] = {
    "rows.csv": FRAME.write_csv,
    "rows.tsv": lambda path: FRAME.write_csv(path, separator="\t"),
    "rows.parquet": FRAME.write_parquet,
    "rows.ndjson": FRAME.write_ndjson,
    "rows.json": FRAME.write_json,
    "rows.arrows": FRAME.write_ipc_stream,
    "rows.arrow": write_arrow_file,
    "rows.CSV.gz": lambda path: path.write_bytes(gzip.compress(FRAME.write_csv().encode())),
    "no ending": FRAME.write_parquet,
}


@pytest.mark.parametrize("file", WRITERS)
def test_put_takes_the_path_of_a_file(server: framehold.Connection, name: str, tmp_path: Path, file: str) -> None:
    path = tmp_path / file
    WRITERS[file](path)
    assert server.put(name, path).rows == 2
    assert server.get(name).to_pylist() == ROWS


def test_put_takes_an_open_file(server: framehold.Connection, fresh: Callable[[], str], tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    FRAME.write_csv(path)
    names = [fresh() for _ in range(4)]
    with path.open("rb") as binary, path.open() as text:
        server.put(names[0], binary)
        server.put(names[1], text)
        assert not binary.closed
    server.put(names[2], io.BytesIO(path.read_bytes()))
    server.put(names[3], pa.memory_map(str(path)))
    assert [server.get(each).to_pylist() for each in names] == [ROWS] * 4


def test_a_long_file_is_sent_as_it_is_read(server: framehold.Connection, name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    polars.DataFrame({"n": range(400_000)}).write_csv(path)
    assert server.put(name, path).rows == 400_000
    assert server.put(name, path, mode="append").rows == 400_000
    assert server.sql(f"SELECT sum(n)::BIGINT AS total FROM {name}")["total"] == [2 * sum(range(400_000))]


def test_a_file_that_cannot_be_put_is_told(server: framehold.Connection, name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        server.put(name, tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError):
        server.put(name, tmp_path)
    with pytest.raises(framehold.errors.InvalidInputError, match="not a Parquet file"):
        (tmp_path / "wrong.parquet").write_text("n\n1\n")
        server.put(name, tmp_path / "wrong.parquet")
    server.put(name, {"n": [1]})
    with pytest.raises(framehold.errors.InvalidInputError, match='line 2, column "n"') as raised:
        server.put(name, io.BytesIO(b"n\nx\n"), mode="append")
    assert raised.value.hint == "correct the file"
