import type { LoadSecond } from '../harness/latencies.ts';
import { median, type Series } from '../harness/rounds.ts';
import type { CaseReport } from './case-report.ts';
import { barChart } from './charts/bar-chart.ts';
import { type LineSeries, lineChart } from './charts/line-chart.ts';

export interface Plot {
  /** Of its file, without ending. */
  readonly name: string;
  /** Its subject, in a sentence. */
  readonly caption: string;
  readonly svg: string;
}

/** The plots whose cases are among the reports. */
export function plotsOf(reports: readonly CaseReport[]): Plot[] {
  return [cacheSharePlot, firstMinutePlot, zipfPlot, ...latencyPlots, scanPlot].flatMap((plot) => plot(reports) ?? []);
}

type MakePlot = (reports: readonly CaseReport[]) => Plot | undefined;

const cacheSharePlot: MakePlot = (reports) => {
  const report = reports.find(({ name }) => name === 'cache-share');
  if (report === undefined) return undefined;
  const points = report.series.flatMap((series) => {
    const { share, onDisk } = series.readings[0]?.details ?? {};
    return share === undefined ? [] : { x: share, y: medianOf(series), onDisk: onDisk === 1 };
  });
  const questdb = report.series.find(({ who }) => who === 'questdb');
  const ends = points.filter(({ onDisk }) => onDisk).map(({ x }) => x);
  const series: LineSeries[] = [
    { name: 'Framehold', look: looks.ours, points: points.filter(({ onDisk }) => onDisk) },
    ...(questdb === undefined
      ? []
      : [
          {
            name: 'QuestDB (has no such cache)',
            look: looks.questdb,
            points: ends.map((x) => ({ x, y: medianOf(questdb) })),
          },
        ]),
    { name: 'Framehold without its disk cache', look: looks.oursToo, points: points.filter(({ onDisk }) => !onDisk) },
  ];
  return {
    name: 'cache-share',
    caption:
      'Random pages of 1,000 rows of a frame of ten million, against the share of the frame that the memory cache has room for.',
    svg: lineChart({
      title: 'Throughput against the share of the data in memory',
      x: { label: 'share of the rows that the memory cache has room for (%)' },
      y: { label: 'pages per second (each line of the grid is ten times the one below it)', kind: 'log' },
      series,
    }),
  };
};

const firstMinutePlot: MakePlot = (reports) => {
  const report = reports.find(({ name }) => name === 'cold-pages-large-first');
  if (report === undefined) return undefined;
  const seconds = Math.max(...report.series.map((series) => secondsOf(series).length));
  const series = report.series.flatMap((each): LineSeries[] => {
    if (each.who === 'questdb') {
      return [{ name: 'QuestDB', look: looks.questdb, points: [1, seconds].map((x) => ({ x, y: medianOf(each) })) }];
    }
    const points = secondsOf(each).map(({ requests }, at) => ({ x: at + 1, y: requests }));
    return points.length === 0 ? [] : [{ name: nameOf(each.who), look: lookOf(each.who), points }];
  });
  return {
    name: 'first-minute',
    caption:
      'The same pages from a server that was just started with an empty disk cache, in every second of the first minute.',
    svg: lineChart({
      title: 'The first minute with an empty disk cache',
      x: { label: 'time since the first request (s)' },
      y: { label: 'pages per second', kind: 'linear' },
      series,
    }),
  };
};

const zipfPlot: MakePlot = (reports) => {
  const report = reports.find(({ name }) => name === 'zipf-pages');
  if (report === undefined) return undefined;
  const series = (['p99Ms', 'p50Ms'] as const).flatMap((quantile, at) =>
    report.series.map((each) => ({
      name: `${nameOf(each.who)}, ${quantile === 'p50Ms' ? 'half of the pages' : '99 of 100 pages'}`,
      look: lookOf(each.who) + 2 * at,
      points: secondsOf(each).map((second, from) => ({ x: from + 1, y: second[quantile] })),
    })),
  );
  return {
    name: 'zipf-pages',
    caption:
      'Pages of 200 frames of a million rows, a few of them asked for often and most seldom: how long half of the pages of each second took at most, and 99 of 100.',
    svg: lineChart({
      title: 'A store ten times as large as its memory cache',
      x: { label: 'time since the first request (s)' },
      y: { label: 'time of a page (ms; each line of the grid is ten times the one below it)', kind: 'log' },
      series,
    }),
  };
};

const quantiles = [
  ['p50Ms', 'p50'],
  ['p90Ms', 'p90'],
  ['p99Ms', 'p99'],
  ['p999Ms', 'p99.9'],
] as const;

const latencyPlots: readonly MakePlot[] = [
  latencyPlot('hot-page', 'Time of a page from memory, 32 connections'),
  latencyPlot('cold-pages-large', 'Time of a page from the disk cache, 32 connections'),
];

function latencyPlot(caseName: string, title: string): MakePlot {
  return (reports) => {
    const report = reports.find(({ name }) => name === caseName);
    if (report === undefined) return undefined;
    const series = report.series.map((each) => ({
      name: nameOf(each.who),
      look: lookOf(each.who),
      points: quantiles.map(([key], x) => ({ x, y: detailOf(each, key) })),
    }));
    return {
      name: `latency-${caseName}`,
      caption: `\`${caseName}\`: the time within which 50, 90, 99 and 99.9 % of the pages were answered.`,
      svg: lineChart({
        title,
        x: { label: 'share of the pages that were answered within the time', names: quantiles.map(([, name]) => name) },
        y: { label: 'time of a page (ms; each line of the grid is ten times the one below it)', kind: 'log' },
        series,
      }),
    };
  };
}

/** Cases that read whole tables. */
const scans: Readonly<Record<string, string>> = {
  'million-rows': 'a million rows as JSON, no cache',
  'flight-get-cold': 'six million rows of lineitem as Arrow, no cache; ROAPI from memory',
  'tpch-cold': 'a query of TPC-H, first run (geometric mean of 22)',
  'tpch-warm': 'a query of TPC-H, later runs (geometric mean of 22)',
};

const scanPlot: MakePlot = (reports) => {
  const groups = Object.entries(scans).flatMap(([caseName, name]) => {
    const report = reports.find((each) => each.name === caseName);
    if (report === undefined) return [];
    return [{ name, bars: report.rows.map(({ who, value }) => ({ name: nameOf(who), value, look: lookOf(who) })) }];
  });
  if (groups.length === 0) return undefined;
  return {
    name: 'scans',
    caption: 'Reads of whole tables. Each group has a scale of its own; shorter is better.',
    svg: barChart({ title: 'Time to read a whole table', unit: 's', groups }),
  };
};

function medianOf({ readings }: Series): number {
  return median(readings.map(({ value }) => value));
}

function detailOf({ readings }: Series, key: string): number | undefined {
  const found = readings.flatMap(({ details }) => details[key] ?? []);
  return found.length === 0 ? undefined : median(found);
}

/** Of the first round. */
function secondsOf({ readings }: Series): readonly LoadSecond[] {
  return readings[0]?.bySecond ?? [];
}

const names: Readonly<Record<string, string>> = {
  framehold: 'Framehold',
  questdb: 'QuestDB',
  roapi: 'ROAPI',
  duckdb: 'DuckDB in process',
  'bare-node': 'bare Node',
};

/** As readers write it: `framehold, no cache` → `Framehold, no cache`. */
function nameOf(who: string): string {
  const [first = '', ...rest] = who.split(', ');
  return [names[first] ?? first, ...rest].join(', ');
}

/** Numbers of colours and dashes. */
const looks = { ours: 0, questdb: 1, oursToo: 2, others: 3 } as const;

function lookOf(who: string): number {
  if (who === 'framehold') return looks.ours;
  if (who === 'questdb') return looks.questdb;
  return who.startsWith('framehold, ') ? looks.oursToo : looks.others;
}
