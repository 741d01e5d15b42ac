"""A table as people see it: as text, or as HTML with a small plot of each column of numbers."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SHOWN_ROWS = 10
SHOWN_COLUMNS = 12
LONGEST_CELL = 60
#: Unlike an empty text.
NULL = "NULL"
PLOT_POINTS = 80
PLOT_WIDTH, PLOT_HEIGHT = 96, 22


def text_of(table: pa.Table) -> str:
    """A few rows in columns, and how many there are."""
    shown, columns = _cut(table)
    cells = [columns, *([NULL if cell is None else cell for cell in row] for row in _rows(shown))]
    widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
    return "\n".join([*lines, _summary(table)])


def html_of(table: pa.Table) -> str:
    shown, columns = _cut(table)
    heads = "".join(_head(table, at, name) for at, name in enumerate(columns))
    styles = [_style(column.type) for column in shown.columns]
    rows = "".join(
        "<tr>" + "".join(_html_cell(cell, style) for cell, style in zip(row, styles)) + "</tr>" for row in _rows(shown)
    )
    return (
        '<div class="framehold"><table border="1" class="dataframe">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table><p>{escape(_summary(table))}</p></div>"
    )


def _head(table: pa.Table, at: int, name: str) -> str:
    column = table.column(at)
    plot = sparkline(column)
    return f'<th style="{_style(column.type)}">{escape(name)}<br/><small>{escape(str(column.type))}</small>{f"<br/>{plot}" if plot else ""}</th>'


def _style(kind: pa.DataType) -> str:
    return "text-align:right" if _is_number(kind) else "text-align:left"


def _html_cell(cell: str | None, style: str) -> str:
    return f'<td style="{style};opacity:0.5">{NULL}</td>' if cell is None else f'<td style="{style}">{escape(cell)}</td>'


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cut(table: pa.Table) -> tuple[pa.Table, list[str]]:
    shown = table.slice(0, SHOWN_ROWS)
    if table.num_columns > SHOWN_COLUMNS:
        shown = shown.select(list(range(SHOWN_COLUMNS)))
    return shown, list(shown.schema.names)


def _rows(table: pa.Table) -> list[list[str | None]]:
    columns = [[_cell(value) for value in column] for column in table.columns]
    return [[column[at] for column in columns] for at in range(table.num_rows)]


def _cell(value: Any) -> str | None:
    """None of NULL."""
    if not value.is_valid:
        return None
    try:
        plain = value.as_py()
    except (ValueError, OverflowError):  # what Python has no value for, such as the year 10000
        plain = _foreign(value)
    text = " ".join(str(plain).split())
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def _foreign(value: Any) -> str:
    try:
        return str(value.cast(pa.string()).as_py())
    except pa.ArrowException:  # within a list or a struct
        return "…"


def _summary(table: pa.Table) -> str:
    rows, columns = table.num_rows, table.num_columns
    more = f", of which the first {min(rows, SHOWN_ROWS)} are shown" if rows > SHOWN_ROWS else ""
    wide = f" ({columns - SHOWN_COLUMNS} columns are not shown)" if columns > SHOWN_COLUMNS else ""
    return (
        f"{rows:,} {'row' if rows == 1 else 'rows'} × {columns:,} {'column' if columns == 1 else 'columns'}{more}{wide}"
    )


def sparkline(column: pa.ChunkedArray) -> str:
    """An inline SVG of the values in their order; empty where they are no numbers. NULL, NaN and infinity are gaps."""
    values = _plottable(column)
    finite = [value for value in values if value is not None]
    if len(finite) < 2:
        return ""
    low, high = min(finite), max(finite)
    scale = (PLOT_HEIGHT - 2) / (high - low) if high > low and math.isfinite(high - low) else 0.0
    step = PLOT_WIDTH / max(len(values) - 1, 1)
    path: list[str] = []
    pen_up = True
    for at, value in enumerate(values):
        if value is None:
            pen_up = True
            continue
        y = PLOT_HEIGHT - 1 - (value - low) * scale if scale else PLOT_HEIGHT / 2
        path.append(f"{'M' if pen_up else 'L'}{at * step:.1f} {y:.1f}")
        pen_up = False
    title = f"{len(column):,} values from {low:g} to {high:g}"
    return (
        f'<svg width="{PLOT_WIDTH}" height="{PLOT_HEIGHT}" viewBox="0 0 {PLOT_WIDTH} {PLOT_HEIGHT}" role="img" aria-label="{title}">'
        f'<title>{title}</title><path d="{"".join(path)}" fill="none" stroke="currentColor" stroke-width="1"/></svg>'
    )


def _plottable(column: pa.ChunkedArray) -> list[float | None]:
    """The lowest and the highest value of each stretch of rows, in turn, so that no spike is lost."""
    if not _is_number(column.type):
        return []
    rows = len(column)
    if rows <= PLOT_POINTS:
        return [_finite(value) for value in column.to_pylist()]
    points: list[float | None] = []
    stretches = PLOT_POINTS // 2
    for at in range(stretches):
        start, end = rows * at // stretches, rows * (at + 1) // stretches
        ends = pc.min_max(_without_nan(column.slice(start, end - start))).as_py()
        points += [_finite(ends["min"]), _finite(ends["max"])]
    return points


def _without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.filter(pc.is_finite(column)) if pa.types.is_floating(column.type) else column


def _finite(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None
