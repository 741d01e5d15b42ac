"""What people see: tables, plots and progress."""

from __future__ import annotations

import io
import re
import sys
import time
import types
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import framehold
from framehold._rows.html import html_of, sparkline, text_of
from framehold._rows.progress import Progress, find_display


def test_a_result_shows_its_first_rows_and_how_many_there_are(server: framehold.Connection) -> None:
    result = server.sql("SELECT range AS n, 'text ' || range AS t FROM range(25000) ORDER BY n")
    lines = repr(result).splitlines()
    assert lines[0].split() == ["n", "t"]
    assert lines[1].split() == ["0", "text", "0"]
    assert lines[-1] == "25,000 rows × 2 columns, of which the first 10 are shown"
    assert len(lines) == 12


def test_html_is_well_formed_and_has_a_plot_of_each_column_of_numbers() -> None:
    table = pa.table(
        {
            "price": [1.0, float("nan"), 3.0, None, 2.0],
            "id": [1, 2, 3, 4, 5],
            "t": ["<script>", "&", '"', None, "x" * 500],
        }
    )
    html = html_of(table)
    tree = ElementTree.fromstring(html)
    assert [len(list(tree.iter(tag))) for tag in ("tr", "td", "svg")] == [6, 15, 2]
    assert "<script>" not in html
    assert "x" * 100 not in html
    assert "5 rows × 3 columns" in html


def test_null_is_not_shown_as_an_empty_text_is() -> None:
    table = pa.table({"t": ["", None, "x"]})
    assert text_of(table).splitlines()[1:4] == ["", "NULL", "x"]
    cells = [(cell.text or "", cell.get("style")) for cell in ElementTree.fromstring(html_of(table)).iter("td")]
    assert [text for text, _ in cells] == ["", "NULL", "x"]
    assert cells[1][1] != cells[0][1]


def test_numbers_are_aligned_at_the_right_in_html() -> None:
    html = html_of(pa.table({"n": [1], "t": ["x"], "f": [0.5]}))
    for tag in ("th", "td"):
        styles = [cell.get("style") for cell in ElementTree.fromstring(html).iter(tag)]
        assert styles == ["text-align:right", "text-align:left", "text-align:right"]


def test_a_statement_without_rows_tells_what_it_did(server: framehold.Connection, name: str) -> None:
    made = server.sql(f"CREATE TABLE {name} (n BIGINT)")
    one, more = server.sql(f"INSERT INTO {name} VALUES (1)"), server.sql(f"INSERT INTO {name} VALUES (2), (3)")
    dropped = server.sql(f"DROP TABLE {name}")
    assert list(map(repr, [made, one, more, dropped])) == [
        "<framehold.Result: done>",
        "<framehold.Result: 1 row changed>",
        "<framehold.Result: 2 rows changed>",
        "<framehold.Result: done>",
    ]
    assert made._repr_html_() == "<p>&lt;framehold.Result: done&gt;</p>"


def test_followers_and_streams_tell_what_they_read(server: framehold.Connection, name: str) -> None:
    server.put(name, {"n": [1], "t": ["x"]})
    with server.get(name, stream=True) as stream:
        assert repr(stream) == "<framehold.Stream of n, t>"
        list(stream)
        assert repr(stream) == "<framehold.Stream of n, t, which was read>"
    with server.follow(name) as follower:
        assert repr(follower) == f"<framehold.Follower of {name} at row 0>"
        next(follower)
        assert repr(follower) == f"<framehold.Follower of {name} at row 1>"


def test_names_of_columns_cannot_leave_their_place() -> None:
    table = pa.table({"</th><script>alert(1)</script>": [1, 2]})
    assert "<script>" not in html_of(table)
    ElementTree.fromstring(html_of(table))


def test_a_plot_keeps_the_spike_of_a_long_column() -> None:
    values = [0.0] * 100_000
    values[77_777] = 1000.0
    svg = sparkline(pa.chunked_array([values]))
    assert 'to 1000"' in svg
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", svg)]
    assert (min(heights), max(heights), len(heights)) == (1.0, 21.0, 80)


@pytest.mark.parametrize(
    "values",
    [[], [1], [None, None], [float("nan")] * 5, [float("inf"), 1.0], [1e308, -1e308], [7, 7, 7], [2**63 - 1, -(2**63)]],
    ids=str,
)
def test_a_plot_of_odd_values_is_empty_or_finite(values: list[float]) -> None:
    svg = sparkline(
        pa.chunked_array([pa.array(values, pa.float64() if values and isinstance(values[0], float) else None)])
    )
    assert "nan" not in svg
    assert "inf" not in svg.replace("inf,", "")


def test_odd_tables_are_shown() -> None:
    wide = pa.table({f"c{n}": [n] for n in range(50)})
    assert "38 columns are not shown" in text_of(wide)
    for table in (
        pa.table({}),
        wide,
        pa.table({"n": pa.array([], pa.int64())}),
        pa.table({"d": pa.array([10**7], pa.date32())}),
        pa.table({"d": pa.array([[10**7]], pa.list_(pa.date32()))}),
    ):
        ElementTree.fromstring(html_of(table))
        assert text_of(table)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_after_a_second_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, now = Terminal(), [0.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with Progress("put trades", 1000) as progress:
        progress.add(100, 50_000)
        assert terminal.getvalue() == ""
        now[0] = 2.0
        progress.add(150, 50_000)
        assert terminal.getvalue().endswith("put trades  ██████░░░░░░░░░░░░░░░░░░  25%  250 rows, 100 kB, 50 kB/s")
        progress.add(1, 1)
        assert "251" not in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    file, now = io.StringIO(), [0.0]
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with Progress("get trades") as progress:
        now[0] = 10.0
        progress.add(1, 1)
    assert file.getvalue() == ""
    closed = io.StringIO()
    closed.close()
    for nowhere in (None, closed):
        monkeypatch.setattr(sys, "stderr", nowhere)
        assert find_display() is None


def test_a_notebook_has_a_display_of_its_own_which_is_empty_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []

    class ZMQInteractiveShell:
        pass

    class Handle:
        def update(self, bundle: dict[str, str], raw: bool) -> None:
            shown.append(bundle)

    def display(bundle: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(bundle)
        return Handle()

    notebook = types.ModuleType("IPython")
    notebook.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    screen = types.ModuleType("IPython.display")
    screen.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", screen)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with Progress("get <trades>") as progress:
        now[0] = 1.5
        progress.add(10, 10)
    assert len(shown) == 2
    assert shown[0]["text/plain"].startswith("get <trades>  10 rows")
    # Nothing of it stays in the notebook.
    assert shown[1] == {"text/plain": ""}
