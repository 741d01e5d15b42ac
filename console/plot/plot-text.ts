import { formatCount, formatCountOf } from '../widgets/format.ts';
import type { PlotAnswer, PlotSeries } from './plot-answer.ts';
import type { PlotSettings } from './plot-settings.ts';

/** µs since 1970 as a text without digits that say nothing. */
export function timeText(us: number, zone: PlotSettings['zone']): string {
  const ms = Math.floor(us / 1000);
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(us);
  const shifted = zone === 'utc' ? date : new Date(ms - date.getTimezoneOffset() * 60_000);
  const [day, clock = ''] = shifted.toISOString().slice(0, -1).split('T');
  const micros = String(Math.round(us - ms * 1000)).padStart(3, '0');
  const whole = clock.slice(0, 8);
  const fraction = `${clock.slice(9)}${micros}`.replace(/0+$/, '');
  return `${day} ${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const numbers = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 7 });
const exponential = new Intl.NumberFormat('en-US', { notation: 'scientific', maximumSignificantDigits: 5 });

export function numberText(value: number | null): string {
  if (value === null) return '–';
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e15) ? exponential.format(value) : numbers.format(value);
}

export function xText(value: number | string, { x }: PlotAnswer, zone: PlotSettings['zone']): string {
  if (typeof value === 'string') return value;
  return x.type === 'time' ? timeText(value, zone) : numberText(value);
}

export function seriesName({ column, group }: PlotSeries, plot: PlotAnswer, settings: PlotSettings): string {
  const hasGroups = settings.series !== '' && plot.cells === undefined;
  const name = column ?? 'count';
  if (!hasGroups) return name;
  const value = group ?? 'NULL';
  return settings.y.length > 1 ? `${name} · ${value}` : value;
}

/** 4,000 of 10,000,000 points */
export function shownText(plot: PlotAnswer): string {
  const { kind, rows, points, complete, cells, cut, series, series_count, category_count = 0, not_finite = 0 } = plot;
  const left = series_count - new Set(series.map(({ group }) => group)).size;
  const parts = [countText(kind, rows, points, complete, cells !== undefined)];
  if (not_finite > 0) parts.push(`${formatCountOf(not_finite, 'value')} NaN or infinite, not drawn`);
  if (left > 0 && series.length > 0) parts.push(`${formatCount(left)} series left out`);
  const texts = new Set(series.flatMap(({ x }) => x)).size;
  if (category_count > texts) parts.push(`${formatCount(category_count - texts)} values of x left out`);
  if (cut) parts.push('of the first rows only');
  return parts.join(' · ');
}

function countText(
  kind: PlotAnswer['kind'],
  rows: number,
  points: number,
  complete: boolean,
  hasCells: boolean,
): string {
  if (rows === 0) return 'no rows';
  if (complete && kind !== 'bars' && kind !== 'histogram') return `all ${formatCount(rows)} rows`;
  const what = {
    line: 'points',
    band: 'spans',
    bars: 'bars',
    histogram: 'bins',
    scatter: hasCells ? 'cells' : 'points',
  };
  return `${formatCount(points)} ${kind === 'line' ? 'of' : `${what[kind]} of`} ${formatCount(rows)} ${kind === 'line' ? 'points' : 'rows'}`;
}

/** The plot in words, for screen readers. */
export function summaryText(plot: PlotAnswer, settings: PlotSettings): string {
  const { kind, x, rows } = plot;
  if (rows === 0) return 'The plot is empty: no rows have a value of x.';
  const span =
    x.from === null || x.to === null
      ? ''
      : ` from ${xText(x.from, plot, settings.zone)} to ${xText(x.to, plot, settings.zone)}`;
  const parts = plot.series.map((one) => {
    const values = [...one.y, ...(one.low ?? []), ...(one.high ?? [])].filter((value) => value !== null);
    if (values.length === 0) return `${seriesName(one, plot, settings)} has no values`;
    const [least, most] = extentOf(values);
    return `${seriesName(one, plot, settings)} between ${numberText(least)} and ${numberText(most)}`;
  });
  const names = { line: 'Line', band: 'Band', bars: 'Bars', histogram: 'Histogram', scatter: 'Scatter plot' } as const;
  return `${names[kind]} over ${x.column ?? 'the row number'}${span}, ${shownText(plot)}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}.`;
}

export function extentOf(values: Iterable<number>): readonly [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

/** The points as a table: its head, and its rows. */
export function plotTable(plot: PlotAnswer, settings: PlotSettings): { head: string[]; rows: (string | number)[][] } {
  const x = plot.x.column ?? 'row';
  const at = (value: number | string): string | number =>
    plot.x.type === 'time' && typeof value === 'number' ? timeText(value, settings.zone) : value;
  if (plot.cells !== undefined) return cellTable(plot, x, at);
  const hasSeries = settings.series !== '';
  const hasBand = plot.series.some(({ low }) => low !== undefined);
  const head = [x, ...(hasSeries ? [settings.series] : []), 'column', hasBand ? 'average' : 'value'];
  return {
    head: [...head, ...(hasBand ? ['lowest', 'highest'] : [])],
    rows: plot.series.flatMap((one) =>
      one.x.map((value, i) => [
        at(value),
        ...(hasSeries ? [one.group ?? ''] : []),
        one.column ?? 'count',
        one.y[i] ?? '',
        ...(hasBand ? [one.low?.[i] ?? '', one.high?.[i] ?? ''] : []),
      ]),
    ),
  };
}

function cellTable(plot: PlotAnswer, x: string, at: (value: number) => string | number) {
  const { cells } = plot;
  const rows: (string | number)[][] = [];
  const [from, to] = [plot.x.from ?? 0, plot.x.to ?? 0];
  for (let i = 0; cells !== undefined && i < cells.counts.length; i += 3) {
    const [column = 0, row = 0, count = 0] = cells.counts.slice(i, i + 3);
    const y = cells.y.from + ((cells.y.to - cells.y.from) * row) / cells.rows;
    rows.push([at(from + ((to - from) * column) / cells.columns), y, count]);
  }
  return { head: [`${x} from`, 'y from', 'count'], rows };
}

/** With an apostrophe before text that a spreadsheet would take for a formula. */
export function plotCsv(plot: PlotAnswer, settings: PlotSettings): string {
  const { head, rows } = plotTable(plot, settings);
  const field = (value: string | number): string => {
    if (typeof value === 'number') return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [head, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}
