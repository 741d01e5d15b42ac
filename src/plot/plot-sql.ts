import {
  axisText,
  bucketText,
  type Care,
  columnText,
  distanceText,
  givenEnd,
  measureText,
  notFiniteText,
  numbersOf,
  rangeText,
  scaleText,
  validText,
} from './axis-sql.ts';
import { timeSteps } from './bar-steps.ts';
import type { Measure, PlotColumns } from './plot-columns.ts';
import { mostCategories, mostScatterPoints, mostSeries, type PlotSpec } from './plot-spec.ts';

/** The source of the rows: a frame as SQL names it, or a statement. */
export type PlotSource =
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'statement'; readonly sql: string };

export interface PlotSql {
  readonly sql: string;
  /** Characters of ours before the caller's statement. */
  readonly offset: number;
}

/** The least and the greatest x, as SQL writes them. */
export interface Ends {
  readonly lo: string;
  readonly hi: string;
}

/** No frame has such a name. */
const statementName = '"#statement"';
const opening = `WITH ${statementName} AS MATERIALIZED (\n`;

/**
 * The statement that makes a plot. Every row of its result has: group, count of series, lo and hi of x; then, by kind, the
 * columns that `plotOfRows` reads. Columns of the table are named by their places, so that no name of a caller stands in it.
 */
export function plotSql(source: PlotSource, columns: PlotColumns, spec: PlotSpec): PlotSql {
  return over(source, body(tableText(source, columns), columns, spec));
}

/** One row: the least and the greatest x. */
export function endsSql(source: PlotSource, columns: PlotColumns, spec: PlotSpec): PlotSql {
  const { x } = columns;
  const rows = rowsText(tableText(source, columns), columns, spec, 'quick');
  return over(source, `${rows} SELECT ${axisText(x, 'min(raw)')}, ${axisText(x, 'max(raw)')} FROM "#rows"`);
}

/** The caller's range, if both ends are given. */
export function givenEnds({ x }: PlotColumns, { from, to }: PlotSpec): Ends | undefined {
  const [lo, hi] = [givenEnd(x, from, 'from'), givenEnd(x, to, 'to')];
  return lo === undefined || hi === undefined ? undefined : { lo, hi };
}

/**
 * The rows of `plotSql` for a line or a band, in a third of its time: the engine need not look up for each row where x begins.
 * Fails, or has NULL among its points, where values are infinite or NaN, or where the range of x is too large for 64 bits.
 */
export function quickPlotSql(source: PlotSource, columns: PlotColumns, spec: PlotSpec, { lo, hi }: Ends): PlotSql {
  const { x, y, series } = columns;
  const rows = rowsText(tableText(source, columns), columns, spec, 'quick');
  const numbers = numbersOf(x, 'quick');
  const bucket = bucketText('x', `(${lo})`, `(${scaleText(`(${lo})`, `(${hi})`, numbers, spec.width)})`, numbers);
  const measured = measuredText(spec, y);
  if (series === undefined) {
    const grouped = `SELECT ${bucket} AS b, count(*) AS n, ${measured} FROM "#rows" GROUP BY b`;
    return over(
      source,
      `${rows} SELECT NULL AS s, 1 AS groups, ${lo} AS lo, ${hi} AS hi, * FROM (${grouped}) ORDER BY b`,
    );
  }
  const from = `SELECT "#rows".*, g, ${bucket} AS b FROM "#rows"${joinText(true)}`;
  const grouped = `"#buckets" AS (SELECT g, b, count(*) AS n, ${measured} FROM (${from}) GROUP BY g, b)`;
  const result = `SELECT s, groups, ${lo} AS lo, ${hi} AS hi, "#buckets".* EXCLUDE (g) FROM "#buckets" JOIN "#groups" USING (g) ORDER BY g, b`;
  return over(source, `${rows}, ${groupsText(columns)}, ${grouped} ${result}`);
}

function over(source: PlotSource, body: string): PlotSql {
  if (source.kind === 'table') return { sql: `WITH ${body}`, offset: 0 };
  return { sql: `${opening}${bare(source.sql)}\n), ${body}`, offset: opening.length };
}

/** All points of a scatter plot, if they are few. */
export function scatterPointsSql(source: PlotSource, columns: PlotColumns, spec: PlotSpec): PlotSql {
  const rows = rowsText(tableText(source, columns), columns, spec, 'strict');
  return over(source, `${rows} SELECT s, x, y0 FROM "#rows" WHERE y0 IS NOT NULL LIMIT ${mostScatterPoints + 1}`);
}

/** Without text that would end the parentheses around it. */
function bare(sql: string): string {
  return sql.replace(/[\s;]+$/, '');
}

function tableText(source: PlotSource, { columnCount }: PlotColumns): string {
  const names = Array.from({ length: columnCount }, (_, at) => `c${at}`).join(', ');
  return `${source.kind === 'statement' ? statementName : source.name} AS f(${names})`;
}

function body(table: string, columns: PlotColumns, spec: PlotSpec): string {
  const rows = rowsText(table, columns, spec, 'strict');
  if (columns.x.kind === 'category') return `${rows}, ${categoriesText(columns, spec)}`;
  const parts = [rows, extentText(columns, spec), groupsText(columns)];
  switch (spec.kind) {
    case 'line':
    case 'band':
      return [...parts, bucketsText(columns, `${measuredText(spec, columns.y)}, sum(z) AS z`)].join(', ');
    case 'bars':
    case 'histogram':
      return [...parts, stepsText(spec, columns)].join(', ');
    case 'scatter':
      return [...parts, cellsText(columns)].join(', ');
    default:
      return spec.kind satisfies never;
  }
}

function rowsText(table: string, { x, y, series }: PlotColumns, spec: PlotSpec, care: Care): string {
  const measures = y.map(({ at, type }, i) => `, ${measureText(`c${at}`, type, care)} AS y${i}`).join('');
  const group = series === undefined ? 'NULL' : `left(CAST(c${series} AS VARCHAR), 100)`;
  const from = x.kind === 'row' ? `(SELECT *, row_number() OVER () - 1 AS n FROM ${table})` : table;
  const conditions = [...validText(x, care), ...rangeText(x, spec)];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `"#rows" AS NOT MATERIALIZED (SELECT ${axisText(x, columnText(x))} AS x, ${columnText(x)} AS raw${measures}, ${group} AS s${care === 'strict' ? `, ${notFiniteText(y)} AS z` : ''} FROM ${from}${where})`;
}

/** Columns lo and hi of x, and buckets for each unit of it; for a scatter plot also those of y. */
function extentText({ x }: PlotColumns, spec: PlotSpec): string {
  const numbers = numbersOf(x, 'strict');
  // The ends of a column itself are known without reading it.
  const [least, most] = [axisText(x, 'min(raw)'), axisText(x, 'max(raw)')];
  const [low, high] = [givenEnd(x, spec.from, 'from'), givenEnd(x, spec.to, 'to')];
  if (spec.kind === 'scatter') {
    const { columns, rows } = cellCounts(spec);
    const ends = `${low ?? least} AS lo, ${high ?? most} AS hi, min(y0) AS ylo, max(y0) AS yhi`;
    const scales = `${scaleText('lo', 'hi', numbers, columns)} AS k, ${scaleText('ylo', 'yhi', 'double', rows)} AS ky`;
    return `"#extent" AS (SELECT *, ${scales} FROM (SELECT ${ends} FROM "#rows"))`;
  }
  // With both given nothing has to be read for them.
  const scan = low !== undefined && high !== undefined ? '' : ' FROM "#rows"';
  const ends = `SELECT ${low ?? least} AS lo, ${high ?? most} AS hi${scan}`;
  return `"#extent" AS (SELECT *, ${scaleText('lo', 'hi', numbers, spec.width)} AS k FROM (${ends}))`;
}

/** The series with the most rows, by number. */
function groupsText({ series, y }: PlotColumns): string {
  if (series === undefined) return `"#groups" AS (SELECT CAST(NULL AS VARCHAR) AS s, 0 AS g, 1 AS groups)`;
  const most = Math.max(1, Math.floor(mostSeries / Math.max(1, y.length)));
  const numbered = `SELECT s, row_number() OVER (ORDER BY count(*) DESC, s) - 1 AS g, count(*) OVER () AS groups`;
  return `"#groups" AS (SELECT * FROM (${numbered} FROM "#rows" GROUP BY s) WHERE g < ${most})`;
}

function joinText(hasSeries: boolean): string {
  return hasSeries ? ' JOIN "#groups" ON "#rows".s IS NOT DISTINCT FROM "#groups".s' : ' CROSS JOIN "#groups"';
}

/** In order of x, with the group that each row belongs to. */
function resultText(buckets: string, order: string): string {
  const names = '"#groups".s, groups, "#extent".lo, "#extent".hi';
  return `SELECT ${names}, b.* EXCLUDE (g) FROM (${buckets}) AS b JOIN "#groups" ON b.g = "#groups".g, "#extent" ORDER BY b.g, ${order}`;
}

function bucketsText({ x, series }: PlotColumns, measured: string): string {
  const bucket = bucketText('x', 'lo', 'k', numbersOf(x, 'strict'));
  const from = `SELECT "#rows".*, g, ${bucket} AS b FROM "#rows"${joinText(series !== undefined)}, "#extent"`;
  const grouped = `SELECT g, b, count(*) AS n, ${measured} FROM (${from}) GROUP BY g, b`;
  return `"#buckets" AS (${grouped}) ${resultText('SELECT * FROM "#buckets"', 'b.b')}`;
}

function measuredText({ kind }: PlotSpec, y: readonly Measure[]): string {
  return y.map(kind === 'band' ? bandText : m4Text).join(', ');
}

/** The first, the last, the lowest and the highest point: no other pixel of a column is touched by a line. */
function m4Text(_: Measure, i: number): string {
  const y = `y${i}`;
  const present = `FILTER (${y} IS NOT NULL)`;
  const parts = [
    `count(${y})`,
    ...[`min(x) ${present}`, `arg_min(${y}, x)`],
    ...[`arg_min(x, ${y})`, `min(${y})`],
    ...[`arg_max(x, ${y})`, `max(${y})`],
    ...[`max(x) ${present}`, `arg_max(${y}, x)`],
  ];
  // Two without a name of their own would share one.
  return parts.map((part, j) => `${part} AS m${i}_${j}`).join(', ');
}

function bandText(_: Measure, i: number): string {
  return `count(y${i}) AS n${i}, avg(y${i}) AS a${i}, min(y${i}) AS l${i}, max(y${i}) AS h${i}`;
}

/** Bars and bins of equal width, which begin at round values. */
function stepsText(spec: PlotSpec, { x, y, series }: PlotColumns): string {
  const raw = `(${distanceText('hi', 'lo', numbersOf(x, 'strict'))}${x.kind === 'double' ? ' * 2' : ''} / ${spec.bins})`;
  const step =
    x.kind === 'time'
      ? `coalesce((SELECT min(v) FROM (VALUES ${timeSteps.map((v) => `(${v})`).join(', ')}) AS t(v) WHERE v >= ${raw}), ${timeSteps.at(-1)})`
      : decimalStepText(raw, x.kind !== 'double');
  const bar = x.kind === 'double' ? 'floor(x / step)' : '(x // step - CASE WHEN x % step < 0 THEN 1 ELSE 0 END)';
  const from = `SELECT "#rows".*, g, ${bar} AS b FROM "#rows"${joinText(series !== undefined)}, "#step"`;
  const values = y.map((_, i) => `, ${spec.aggregate}(y${i}) AS v${i}`).join('');
  const grouped = `SELECT g, b, count(*) AS n${values}, sum(z) AS z FROM (${from}) GROUP BY g, b`;
  const wide = x.kind === 'double' ? 'DOUBLE' : 'BIGINT';
  return [
    `"#step" AS (SELECT CAST(${step} AS ${wide}) AS step FROM "#extent")`,
    `"#bars" AS (${grouped}) ${resultText('SELECT g, CAST(step AS DOUBLE) AS step, CAST(b AS DOUBLE) * step AS at, "#bars".* EXCLUDE (g) FROM "#bars", "#step"', 'b.b')}`,
  ].join(', ');
}

/** 1, 2 or 5 times a power of ten. */
function decimalStepText(raw: string, isWhole: boolean): string {
  const power = `pow(10, floor(log10(${raw})))`;
  const round = [1, 2, 5].map((n) => `WHEN ${raw} <= ${n} * ${power} THEN ${n} * ${power}`).join(' ');
  const step = `CASE ${round} ELSE 10 * ${power} END`;
  return isWhole
    ? `CASE WHEN ${raw} > 1 THEN least(round(${step}), 5e18) ELSE 1 END`
    : `CASE WHEN ${raw} > 1e-300 THEN ${step} ELSE 1 END`;
}

/** The commonest values, each a bar. */
function categoriesText(columns: PlotColumns, spec: PlotSpec): string {
  const { y, series } = columns;
  const values = y.map((_, i) => `, ${spec.aggregate}(y${i}) AS v${i}`).join('');
  const top = `"#top" AS (SELECT x AS c, row_number() OVER (ORDER BY count(*) DESC, x) - 1 AS b, count(*) OVER () AS categories FROM "#rows" GROUP BY x QUALIFY b < ${mostCategories})`;
  const from = `SELECT "#rows".*, g, b FROM "#rows"${joinText(series !== undefined)} JOIN "#top" ON x = c`;
  const grouped = `"#bars" AS (SELECT g, b, any_value(x) AS c, count(*) AS n${values}, sum(z) AS z FROM (${from}) GROUP BY g, b)`;
  const all = '(SELECT max(categories) FROM "#top")';
  return `${groupsText(columns)}, ${top}, ${grouped} SELECT "#groups".s, groups, NULL, NULL, ${all}, c, b, n${y.map((_, i) => `, v${i}`).join('')}, z FROM "#bars" JOIN "#groups" ON "#bars".g = "#groups".g ORDER BY "#bars".g, b`;
}

/** The number of cells of a scatter plot. */
export function cellCounts({ width, height }: PlotSpec): { readonly columns: number; readonly rows: number } {
  const within = (pixels: number): number => Math.max(2, Math.min(240, Math.floor(pixels / 5)));
  return { columns: within(width), rows: within(height) };
}

function cellsText({ x }: PlotColumns): string {
  const bx = bucketText('x', 'lo', 'k', numbersOf(x, 'strict'));
  const by = bucketText('y0', 'ylo', 'ky', 'double');
  const counted = `SELECT ${bx} AS bx, ${by} AS cy, count(*) AS n FROM "#rows", "#extent" WHERE y0 IS NOT NULL GROUP BY ALL`;
  return `"#cells" AS (${counted}) SELECT NULL, 1, lo, hi, ylo, yhi, bx, cy, n FROM "#cells", "#extent" ORDER BY cy, bx`;
}
