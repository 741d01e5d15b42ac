import type { Bar, BenchCase } from '../harness/bench-case.ts';
import { median, type Series } from '../harness/rounds.ts';

/** One contender over all rounds. */
export interface ReportRow {
  readonly who: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  /** Of all its processes, in all timed rounds together. */
  readonly cpuSeconds: number;
  /** Of all its processes together, in any round. */
  readonly peakRssBytes: number;
}

export interface BarReport {
  readonly bar: Bar;
  /** The value that is compared with the bar; undefined if a contender is missing. */
  readonly found: number | undefined;
  readonly reached: boolean | undefined;
}

export interface CaseReport {
  readonly name: string;
  readonly title: string;
  readonly unit: BenchCase['unit'];
  readonly better: BenchCase['better'];
  readonly verified: string;
  readonly rows: readonly ReportRow[];
  readonly bars: readonly BarReport[];
  /** Every reading, for the JSON file. */
  readonly series: readonly Series[];
  readonly notes: readonly string[];
}

export function reportCase(
  { name, title, unit, better, bars }: BenchCase,
  verified: string,
  series: readonly Series[],
  notes: readonly string[],
): CaseReport {
  const rows = series.map(reportRow);
  const judged = bars.map((bar) => judge(bar, rows, better));
  return { name, title, unit, better, verified, rows, bars: judged, series, notes };
}

function reportRow({ who, readings }: Series): ReportRow {
  const values = readings.map(({ value }) => value);
  const detail = (key: string): number | undefined => {
    const found = readings.flatMap(({ details }) => details[key] ?? []);
    return found.length === 0 ? undefined : median(found);
  };
  return {
    who,
    value: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    p50Ms: detail('p50Ms'),
    p99Ms: detail('p99Ms'),
    cpuSeconds: readings.reduce((sum, { usage }) => sum + usage.cpuSeconds, 0),
    peakRssBytes: Math.max(...readings.map(({ usage }) => usage.peakRssBytes)),
  };
}

function judge(bar: Bar, rows: readonly ReportRow[], better: BenchCase['better']): BarReport {
  const valueBy = (who: string): number | undefined => rows.find((row) => row.who === who)?.value;
  switch (bar.kind) {
    case 'ratio': {
      const ours = bar.of === undefined ? rows[0]?.value : valueBy(bar.of);
      const found = speedRatio(ours, valueBy(bar.against), better);
      return { bar, found, reached: found === undefined ? undefined : found >= bar.atLeast };
    }
    case 'ceiling': {
      const found = valueBy(bar.of);
      return { bar, found, reached: found === undefined ? undefined : found <= bar.atMost };
    }
    case 'floor': {
      const found = valueBy(bar.of);
      return { bar, found, reached: found === undefined ? undefined : found >= bar.atLeast };
    }
    case 'margin': {
      const value = valueBy(bar.of);
      const base = valueBy(bar.over);
      const found = value === undefined || base === undefined ? undefined : value - base;
      return { bar, found, reached: found === undefined ? undefined : found <= bar.atMost };
    }
    default:
      return bar satisfies never;
  }
}

/** More than 1 = ours is better. */
export function speedRatio(
  ours: number | undefined,
  theirs: number | undefined,
  better: BenchCase['better'],
): number | undefined {
  if (ours === undefined || theirs === undefined) return undefined;
  return better === 'higher' ? ours / theirs : theirs / ours;
}
