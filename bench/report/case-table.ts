import type { BenchCase } from '../harness/bench-case.ts';
import { type BarReport, type CaseReport, type ReportRow, speedRatio } from './case-report.ts';

const digits: Record<BenchCase['unit'], number> = { 'requests/s': 0, 'rows/s': 0, s: 3, ms: 3, MB: 0, 'bytes/byte': 2 };

/** The report of one case as text. */
export function caseTable({ unit, better, rows, bars }: CaseReport, { quick }: { readonly quick: boolean }): string {
  const number = (value: number): string => formatValue(value, unit);
  const header = [
    'who',
    unit,
    'lowest … highest',
    'ours ÷ its speed',
    'bar',
    'reached',
    'p50 ms',
    'p99 ms',
    'CPU s',
    'peak RSS MB',
  ];
  const lines = rows.map((row, at) => {
    const its = bars.filter((bar) => rowOf(bar) === row.who);
    const ratio = at === 0 || unit === 'MB' ? undefined : speedRatio(rows[0]?.value, row.value, better);
    return [
      row.who,
      number(row.value),
      `${number(row.min)} … ${number(row.max)}`,
      ratio === undefined ? '' : formatNumber(ratio, 2),
      its.map((bar) => barText(bar, unit, number)).join('; '),
      its.map((bar) => reachedText(bar, quick)).join('; '),
      ...resources(row),
    ];
  });
  return columnsOf([header, ...lines]);
}

/** With as many digits as figures of the unit have. */
export function formatValue(value: number, unit: BenchCase['unit']): string {
  return formatNumber(value, digits[unit]);
}

/** The contender whose line has the bar. */
function rowOf({ bar }: BarReport): string {
  return bar.kind === 'ratio' ? (bar.of ?? bar.against) : bar.of;
}

function barText({ bar, found }: BarReport, unit: string, number: (value: number) => string): string {
  switch (bar.kind) {
    case 'ratio':
      if (bar.of === undefined) return `≥ ${formatNumber(bar.atLeast, 2)}`;
      return `${found === undefined ? '?' : formatNumber(found, 2)} of ${bar.against} ≥ ${formatNumber(bar.atLeast, 2)}`;
    case 'ceiling':
      return `≤ ${number(bar.atMost)} ${unit}`;
    case 'floor':
      return `≥ ${number(bar.atLeast)} ${unit}`;
    case 'margin':
      return `+${found === undefined ? '?' : number(found)} ≤ +${number(bar.atMost)} ${unit}`;
    default:
      return bar satisfies never;
  }
}

function reachedText({ reached }: BarReport, quick: boolean): string {
  if (quick || reached === undefined) return 'not judged';
  return reached ? 'yes' : 'NO';
}

function resources({ p50Ms, p99Ms, cpuSeconds, peakRssBytes }: ReportRow): string[] {
  return [
    p50Ms === undefined ? '' : formatNumber(p50Ms, 3),
    p99Ms === undefined ? '' : formatNumber(p99Ms, 3),
    formatNumber(cpuSeconds, 2),
    formatNumber(peakRssBytes / 1e6, 0),
  ];
}

function formatNumber(value: number, decimals: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** The first column to the left, the others to the right. */
function columnsOf(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
    .map((cells) => `  ${cells.join('  ')}`.trimEnd())
    .join('\n');
}
