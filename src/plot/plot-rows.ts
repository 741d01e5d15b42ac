import type { SqlResult } from '../core/sql/sql.ts';
import type { PlotColumns } from './plot-columns.ts';
import { mostScatterPoints, type Plot, type PlotSeries, type PlotSpec } from './plot-spec.ts';
import { cellCounts } from './plot-sql.ts';

/** As in JSON: large whole numbers are texts. */
export type Cell = string | number | boolean | null;
export type Row = readonly Cell[];

const utf8 = new TextDecoder();

/** All rows of a result of the form `exec-json-quoted`: only for small results. */
export async function resultRows(result: SqlResult): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const { bytes } of result.rows()) {
    // Each row ends in a comma.
    const text = utf8.decode(bytes).replace(/,\s*$/, '');
    if (text !== '') rows.push(...(JSON.parse(`[${text}]`) as Row[]));
  }
  return rows;
}

/** A series under construction, one bucket after the other. */
interface Growing {
  readonly column: string | null;
  readonly group: string | null;
  readonly x: (number | string)[];
  readonly y: (number | null)[];
  readonly low?: (number | null)[];
  readonly high?: (number | null)[];
}

/** The plot that the rows of `plotSql` are. */
export function plotOfRows(rows: readonly Row[], columns: PlotColumns, spec: PlotSpec): Plot {
  const first = rows[0];
  const [from, to] = first === undefined ? [null, null] : [numberOf(first[2]), numberOf(first[3])];
  const plot = {
    kind: spec.kind,
    x: { column: spec.x ?? null, type: axisType(columns), from, to },
    cut: false,
    seriesCount: first === undefined ? 0 : (numberOf(first[1]) ?? 0),
  };
  switch (spec.kind) {
    case 'line':
      return { ...plot, ...lines(rows, columns) };
    case 'band':
      return { ...plot, ...bands(rows, columns, spec) };
    case 'bars':
    case 'histogram':
      return { ...plot, ...bars(rows, columns) };
    case 'scatter':
      return { ...plot, ...cells(rows, spec) };
    default:
      return spec.kind satisfies never;
  }
}

/** The plot that the rows of `scatterPointsSql` are; undefined where there are too many. */
export function plotOfPoints(rows: readonly Row[], columns: PlotColumns, spec: PlotSpec): Plot | undefined {
  if (rows.length > mostScatterPoints) return undefined;
  const series = new SeriesList();
  let [from, to] = [Infinity, -Infinity];
  for (const [group, x, y] of rows) {
    const at = numberOf(x) ?? 0;
    from = Math.min(from, at);
    to = Math.max(to, at);
    const one = series.of(columns.y[0]?.name ?? null, group);
    one.x.push(at);
    one.y.push(numberOf(y));
  }
  const isEmpty = rows.length === 0;
  return {
    kind: 'scatter',
    x: { column: spec.x ?? null, type: axisType(columns), from: isEmpty ? null : from, to: isEmpty ? null : to },
    series: series.all,
    rows: rows.length,
    points: rows.length,
    complete: true,
    cut: false,
    seriesCount: series.all.length,
  };
}

/** Whether a row of a line or a band has all its numbers. NaN and infinities are null in JSON. */
export function isWhole(row: Row, { y }: PlotColumns, { kind }: PlotSpec): boolean {
  if (row[2] === null || row[3] === null) return false;
  const width = kind === 'line' ? 9 : 4;
  return y.every((_, i) => {
    const cells = row.slice(6 + i * width, 6 + (i + 1) * width);
    return numberOf(cells[0]) === 0 || !cells.includes(null);
  });
}

export function numberOf(cell: Cell | undefined): number | null {
  if (cell === null || cell === undefined || cell === '') return null;
  const number = Number(cell);
  return Number.isFinite(number) ? number : null;
}

function axisType({ x: { kind } }: PlotColumns): Plot['x']['type'] {
  return kind === 'integer' || kind === 'long' || kind === 'double' ? 'number' : kind;
}

type Drawn = Pick<Plot, 'series' | 'rows' | 'points' | 'complete' | 'notFinite'>;

/** Places of a row: s, groups, lo, hi, b, n; then for each column its count and four points; not finite. */
function lines(rows: readonly Row[], { y }: PlotColumns): Drawn {
  const series = new SeriesList();
  const drawn = { rows: 0, points: 0, complete: true, notFinite: 0 };
  for (const row of rows) {
    drawn.rows += numberOf(row[5]) ?? 0;
    drawn.notFinite += numberOf(row[6 + y.length * 9]) ?? 0;
    for (const [i, { name }] of y.entries()) {
      const at = 6 + i * 9;
      const count = numberOf(row[at]) ?? 0;
      if (count === 0) continue;
      const shown = pushPoints(series.of(name, row[0]), row, at + 1);
      drawn.points += shown;
      if (shown < count) drawn.complete = false;
    }
  }
  return { series: series.all, ...drawn };
}

/** Four points in order of x, each once. */
function pushPoints({ x, y }: Growing, row: Row, at: number): number {
  const points = [0, 2, 4, 6].map(
    (offset) => [numberOf(row[at + offset]) ?? 0, numberOf(row[at + offset + 1])] as const,
  );
  const [first, lowest, highest, last] = points as [Point, Point, Point, Point];
  const inner = lowest[0] <= highest[0] ? [lowest, highest] : [highest, lowest];
  let shown = 0;
  let before: Point | undefined;
  for (const point of [first, ...inner, last] as Point[]) {
    const isKnown = (other: Point | undefined): boolean => other?.[0] === point[0] && other[1] === point[1];
    // An inner point may be the last one, which follows it.
    if (isKnown(before) || (point !== last && isKnown(last))) continue;
    x.push(point[0]);
    y.push(point[1]);
    before = point;
    shown++;
  }
  return shown;
}

type Point = readonly [number, number | null];

/** Places of a row: s, groups, lo, hi, b, n; then for each column count, average, lowest, highest; not finite. */
function bands(rows: readonly Row[], { y }: PlotColumns, { width }: PlotSpec): Drawn {
  const series = new SeriesList();
  const drawn = { rows: 0, points: 0, complete: true, notFinite: 0 };
  for (const row of rows) {
    drawn.rows += numberOf(row[5]) ?? 0;
    drawn.notFinite += numberOf(row[6 + y.length * 4]) ?? 0;
    const [lo, hi] = [numberOf(row[2]) ?? 0, numberOf(row[3]) ?? 0];
    const middle = lo + (((numberOf(row[4]) ?? 0) + 0.5) / width) * (hi - lo);
    for (const [i, { name }] of y.entries()) {
      const at = 6 + i * 4;
      const count = numberOf(row[at]) ?? 0;
      if (count === 0) continue;
      const one = series.of(name, row[0], true);
      one.x.push(hi > lo ? middle : lo);
      one.y.push(numberOf(row[at + 1]));
      one.low?.push(numberOf(row[at + 2]));
      one.high?.push(numberOf(row[at + 3]));
      drawn.points++;
      if (count > 1) drawn.complete = false;
    }
  }
  return { series: series.all, ...drawn };
}

/** Fields of a row: s, groups, lo, hi, step (over texts: their number), its start, b, n; then the value of each column; not finite. */
function bars(rows: readonly Row[], { x, y }: PlotColumns): Drawn & Pick<Plot, 'step' | 'categoryCount'> {
  const series = new SeriesList();
  const drawn = { rows: 0, points: 0, complete: true, notFinite: 0 };
  for (const row of rows) {
    const count = numberOf(row[7]) ?? 0;
    drawn.rows += count;
    drawn.notFinite += numberOf(row[8 + y.length]) ?? 0;
    if (count > 1) drawn.complete = false;
    const at = x.kind === 'category' ? String(row[5]) : (numberOf(row[5]) ?? 0);
    const values = y.length === 0 ? [[null, count] as const] : y.map(({ name }, i) => [name, row[8 + i]] as const);
    for (const [name, value] of values) {
      const one = series.of(name, row[0]);
      one.x.push(at);
      one.y.push(numberOf(value));
      drawn.points++;
    }
  }
  if (x.kind === 'category') return { series: series.all, ...drawn, categoryCount: numberOf(rows[0]?.[4]) ?? 0 };
  const step = numberOf(rows[0]?.[4]);
  return { series: series.all, ...drawn, ...(step !== null && { step }) };
}

/** Places of a row: s, groups, lo, hi, ylo, yhi, column, row, n. */
function cells(rows: readonly Row[], spec: PlotSpec): Drawn & Pick<Plot, 'cells'> {
  const counts: number[] = [];
  let total = 0;
  for (const row of rows) {
    const count = numberOf(row[8]) ?? 0;
    total += count;
    counts.push(numberOf(row[6]) ?? 0, numberOf(row[7]) ?? 0, count);
  }
  const y = { from: numberOf(rows[0]?.[4]) ?? 0, to: numberOf(rows[0]?.[5]) ?? 0 };
  return {
    series: [],
    cells: { ...cellCounts(spec), y, counts },
    rows: total,
    points: rows.length,
    complete: false,
  };
}

/** Series in the order in which they first appear. */
class SeriesList {
  readonly #byKey = new Map<string, Growing>();

  of(column: string | null, group: Cell | undefined, hasBand = false): Growing {
    const key = JSON.stringify([column, group]);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const text = group === null || group === undefined ? null : String(group);
    const made: Growing = { column, group: text, x: [], y: [], ...(hasBand && { low: [], high: [] }) };
    this.#byKey.set(key, made);
    return made;
  }

  get all(): readonly PlotSeries[] {
    return [...this.#byKey.values()];
  }
}
