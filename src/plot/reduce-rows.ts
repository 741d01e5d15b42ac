import { decimalStep, timeStep } from './bar-steps.ts';
import type { PlotColumns } from './plot-columns.ts';
import { type Cell, numberOf, type Row } from './plot-rows.ts';
import { mostCategories, mostSeries, type PlotSpec } from './plot-spec.ts';
import { cellCounts } from './plot-sql.ts';
import { axisValue, microseconds } from './range-end.ts';

/** A row of which x, y and the series are known. */
interface Point {
  readonly x: number;
  readonly category: string;
  readonly y: readonly (number | null)[];
  readonly group: string | null;
}

/** `plotSql` for rows of another engine, in this process: the same rows come out. */
export function reduceRows(rows: readonly Row[], columns: PlotColumns, spec: PlotSpec): readonly Row[] {
  const points = pointsOf(rows, columns, spec);
  if (points.length === 0) return [];
  const { groups, shown } = byGroup(points, columns);
  const [lo, hi] = extent(points, columns, spec);
  const head = (group: string | null): Row => [group, groups, lo, hi];
  switch (spec.kind) {
    case 'line':
    case 'band': {
      const bucketOf = ({ x }: Point): number => bucket(x, lo, hi, spec.width);
      const measure = spec.kind === 'line' ? fourPoints : band;
      return shown.flatMap(([group, members]) =>
        [...grouped(members, bucketOf)]
          .sort(([a], [b]) => a - b)
          .map(([b, inside]) => [...head(group), b, inside.length, ...columns.y.flatMap((_, i) => measure(inside, i))]),
      );
    }
    case 'bars':
    case 'histogram':
      return columns.x.kind === 'category'
        ? categoryBars(points, shown, columns, spec, groups)
        : shown.flatMap(([group, members]) =>
            stepBars(members, lo, hi, columns, spec).map((row) => [...head(group), ...row]),
          );
    case 'scatter':
      return cellRows(points, lo, hi, spec);
    default:
      return spec.kind satisfies never;
  }
}

/** The same rows as `scatterPointsSql`. */
export function reducePoints(rows: readonly Row[], columns: PlotColumns, spec: PlotSpec): readonly Row[] {
  return pointsOf(rows, columns, spec)
    .filter(({ y }) => y[0] !== null)
    .map(({ group, x, y }) => [group, x, y[0] ?? null]);
}

function pointsOf(rows: readonly Row[], columns: PlotColumns, spec: PlotSpec): readonly Point[] {
  const { x, y, series } = columns;
  const from = spec.from === undefined || x.kind === 'category' ? -Infinity : axisValue(spec.from, x.kind, 'from');
  const to = spec.to === undefined || x.kind === 'category' ? Infinity : axisValue(spec.to, x.kind, 'to');
  const points: Point[] = [];
  for (const [index, row] of rows.entries()) {
    const cell = x.kind === 'row' ? index : (row[x.at] ?? null);
    if (cell === null) continue;
    const value = x.kind === 'time' ? microseconds(String(cell)) : x.kind === 'category' ? 0 : numberOf(cell);
    if (value === null || value === undefined || value < from || value > to) continue;
    points.push({
      x: value,
      category: x.kind === 'category' ? textOf(cell) : '',
      y: y.map(({ at }) => numberOf(row[at])),
      group: series === undefined || (row[series] ?? null) === null ? null : textOf(row[series] as Cell),
    });
  }
  return points;
}

function textOf(cell: Cell): string {
  return String(typeof cell === 'object' ? JSON.stringify(cell) : cell).slice(0, 100);
}

function grouped<Key>(points: readonly Point[], keyOf: (point: Point) => Key): Map<Key, Point[]> {
  const groups = new Map<Key, Point[]>();
  for (const point of points) {
    const key = keyOf(point);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [point]);
    else members.push(point);
  }
  return groups;
}

function byGroup(points: readonly Point[], { y, series }: PlotColumns) {
  const all = [...grouped(points, ({ group }) => group)].sort(([, a], [, b]) => b.length - a.length);
  const most = series === undefined ? 1 : Math.max(1, Math.floor(mostSeries / Math.max(1, y.length)));
  return { groups: all.length, shown: all.slice(0, most) };
}

function extent(points: readonly Point[], { x }: PlotColumns, { from, to }: PlotSpec): readonly [number, number] {
  const [least, most] = ends(points.map((point) => point.x));
  if (x.kind === 'category') return [least, most];
  return [
    from === undefined ? least : axisValue(from, x.kind, 'from'),
    to === undefined ? most : axisValue(to, x.kind, 'to'),
  ];
}

function ends(values: readonly number[]): readonly [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

function bucket(value: number, lo: number, hi: number, buckets: number): number {
  return hi > lo ? Math.max(0, Math.min(buckets - 1, Math.floor(((value - lo) / (hi - lo)) * buckets))) : 0;
}

/** Count, and x and y of the first, the lowest, the highest and the last point. */
function fourPoints(points: readonly Point[], i: number): Cell[] {
  let count = 0;
  let [first, lowest, highest, last]: (Point | undefined)[] = [];
  const of = (point: Point): number => point.y[i] ?? 0;
  for (const point of points) {
    if ((point.y[i] ?? null) === null) continue;
    count++;
    if (first === undefined || point.x < first.x) first = point;
    if (lowest === undefined || of(point) < of(lowest)) lowest = point;
    if (highest === undefined || of(point) > of(highest)) highest = point;
    if (last === undefined || point.x >= last.x) last = point;
  }
  return [count, ...[first, lowest, highest, last].flatMap((point) => [point?.x ?? null, point?.y[i] ?? null])];
}

function band(points: readonly Point[], i: number): Cell[] {
  const values = numbers(points, i);
  const [low, high] = ends(values);
  return values.length === 0 ? [0, null, null, null] : [values.length, sum(values) / values.length, low, high];
}

function numbers(points: readonly Point[], i: number): number[] {
  return points.map(({ y }) => y[i] ?? null).filter((value) => value !== null);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function aggregated(points: readonly Point[], i: number, { aggregate }: PlotSpec): number | null {
  const values = numbers(points, i);
  if (aggregate === 'count') return values.length;
  if (values.length === 0) return null;
  switch (aggregate) {
    case 'sum':
      return sum(values);
    case 'avg':
      return sum(values) / values.length;
    case 'min':
      return ends(values)[0];
    case 'max':
      return ends(values)[1];
    default:
      return aggregate satisfies never;
  }
}

function stepBars(points: readonly Point[], lo: number, hi: number, columns: PlotColumns, spec: PlotSpec): Row[] {
  const step = columns.x.kind === 'time' ? timeStep((hi - lo) / spec.bins) : decimalStep((hi - lo) / spec.bins);
  const whole = columns.x.kind === 'double' || columns.x.kind === 'time' ? step : Math.max(1, Math.round(step));
  return [...grouped(points, ({ x }) => Math.floor(x / whole))]
    .sort(([a], [b]) => a - b)
    .map(([b, inside]) => [
      ...[whole, b * whole, b, inside.length],
      ...columns.y.map((_, i) => aggregated(inside, i, spec)),
    ]);
}

function categoryBars(
  points: readonly Point[],
  shown: readonly (readonly [string | null, readonly Point[]])[],
  { y }: PlotColumns,
  spec: PlotSpec,
  groups: number,
): Row[] {
  const all = [...grouped(points, ({ category }) => category)];
  const top = all
    .sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .slice(0, mostCategories)
    .map(([category]) => category);
  return shown.flatMap(([group, members]) => {
    const inside = grouped(members, ({ category }) => category);
    return top.flatMap((category, b) => {
      const those = inside.get(category);
      if (those === undefined) return [];
      return [
        [
          group,
          groups,
          null,
          null,
          all.length,
          category,
          b,
          those.length,
          ...y.map((_, i) => aggregated(those, i, spec)),
        ],
      ];
    });
  });
}

function cellRows(points: readonly Point[], lo: number, hi: number, spec: PlotSpec): Row[] {
  const { columns, rows } = cellCounts(spec);
  const drawn = points.filter(({ y }) => y[0] !== null);
  const [ylo, yhi] = ends(numbers(drawn, 0));
  const cellOf = ({ x, y }: Point): number => bucket(y[0] ?? 0, ylo, yhi, rows) * columns + bucket(x, lo, hi, columns);
  return [...grouped(drawn, cellOf)]
    .sort(([a], [b]) => a - b)
    .map(([at, inside]) => [null, 1, lo, hi, ylo, yhi, at % columns, Math.floor(at / columns), inside.length]);
}
