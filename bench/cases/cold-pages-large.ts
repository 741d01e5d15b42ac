import {
  comparePages,
  largeConnections,
  largePages,
  ourLargePath,
  questdbContender,
  questdbOf,
  startLarge,
  type Target,
} from '../data/large-pages.ts';
import { type LargeTrades, largeHandle, largeTrades } from '../data/large-trades.ts';
import type { Bar, BenchCase, Contender, Reading } from '../harness/bench-case.ts';
import { loadContender, loadReading, requestsPerSecond, warmUp } from '../harness/contenders.ts';
import { diskCacheBytes, emptyDiskCache, fillDiskCache } from '../harness/disk-cache.ts';
import { exchangeable } from '../harness/exchangeable.ts';
import type { Lab } from '../harness/lab.ts';
import { runLoad } from '../harness/load.ts';
import type { LoadResult } from '../harness/load-spec.ts';
import { watch } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startFramehold, untilReadable } from '../rivals/framehold.ts';
import { RivalUnavailable } from '../rivals/unavailable.ts';

/** Of the rows' JSON, about a third: 0.2 GB for ten million. */
const cacheBytesARow = 20;

const warmRatio = 2;
const firstSeconds = 60;
const firstRatio = 0.5;
const beginningSeconds = 10;
const restartSeconds = 15;
const restartBarSeconds = 5;

const own = 'framehold';
const fromOutside = 'framehold, file from outside';
const rival = 'questdb';

function bothAgainst(against: string, atLeast: number): Bar[] {
  return [
    { kind: 'ratio', against, atLeast },
    { kind: 'ratio', of: fromOutside, against, atLeast },
  ];
}

export const coldPagesLargeCases: readonly BenchCase[] = [
  warmPages({
    name: 'cold-pages-large',
    title:
      'another 1,000 rows of ten million in every request, a cache for a third of them, the rest in the disk cache, 32 connections',
    unit: 'requests/s',
    better: 'higher',
    bars: bothAgainst(rival, warmRatio),
    connections: largeConnections,
    value: requestsPerSecond,
  }),
  warmPages({
    name: 'cold-pages-large-alone',
    title: 'p50 of such a page on one connection',
    unit: 'ms',
    better: 'lower',
    bars: bothAgainst(rival, 1),
    connections: 1,
    value: ({ p50Ms }) => p50Ms,
  }),
  firstPages(),
  restartedPages(),
];

interface WarmPages extends Pick<BenchCase, 'name' | 'title' | 'unit' | 'better' | 'bars'> {
  readonly connections: number;
  readonly value: (result: LoadResult) => number;
}

/** All rows were read once: rows for which memory has no room are in the disk cache. */
function warmPages({ connections: count, value, ...described }: WarmPages): BenchCase {
  return {
    ...described,
    rounds: 5,
    async prepare(lab, cleanup) {
      const trades = await largeTrades(lab);
      const servers: Target[] = [];
      for (const [name, dataDir] of ours(trades)) {
        const server = cleanup.use(await startLarge(largeOptions(lab, dataDir, trades.rows)));
        await fillDiskCache(server, { dataDir, handle: largeHandle, rows: trades.rows });
        lab.note(`${name}: ${Math.round((await diskCacheBytes(dataDir)) / 1e6)} MB in the disk cache`);
        servers.push({ name, server, path: ourLargePath });
      }
      servers.push(...(await questdbOf(cleanup, trades)));
      return {
        contenders: servers.map(({ name, server, path }) =>
          loadContender({
            name,
            server: () => server,
            connections: count,
            paths: (round) => largePages(round, trades.rows).map(path),
            until: { ms: lab.loadMs },
            value,
            beforeRound: () => warmUp(server, largePages(-1, trades.rows).map(path), count, lab.warmUpMs),
          }),
        ),
        verify: () => comparePages(servers, trades.rows),
      };
    },
  };
}

/** The disk cache is empty when a round begins; QuestDB is as warm as it gets. */
function firstPages(): BenchCase {
  return {
    name: 'cold-pages-large-first',
    title: `the same in the first ${firstSeconds} s of a server whose disk cache is empty; and in the first ${beginningSeconds} s of them`,
    unit: 'requests/s',
    better: 'higher',
    rounds: 5,
    bars: [
      ...bothAgainst(rival, firstRatio),
      // It becomes faster.
      { kind: 'ratio', against: beginningOf(own), atLeast: 1 },
      { kind: 'ratio', of: fromOutside, against: beginningOf(fromOutside), atLeast: 1 },
    ],
    async prepare(lab, cleanup) {
      const trades = await largeTrades(lab);
      const targets: Target[] = [];
      const contenders: Contender[] = [];
      for (const [name, dataDir] of ours(trades)) {
        const start = async (): Promise<HttpServer> => {
          await emptyDiskCache(dataDir);
          return startLarge(largeOptions(lab, dataDir, trades.rows));
        };
        const { renew, current } = exchangeable(start, cleanup);
        const whole = oncePerRound(async (round) => {
          await renew();
          return loadPages(current(), largePages(round, trades.rows).map(ourLargePath), lab.quick ? 3 : firstSeconds);
        });
        await renew();
        targets.push({ name, server: current(), path: ourLargePath });
        contenders.push({ name, measure: whole });
        contenders.push({ name: beginningOf(name), measure: async (round) => beginning(await whole(round)) });
      }
      for (const target of await questdbOf(cleanup, trades)) {
        targets.push(target);
        contenders.push(questdbContender(lab, target, trades.rows));
      }
      return { contenders, verify: () => comparePages(targets, trades.rows) };
    },
  };
}

function beginningOf(name: string): string {
  return `${name}, first ${beginningSeconds} s`;
}

function beginning({ bySecond = [] }: Reading): Reading {
  const seconds = bySecond.slice(0, beginningSeconds);
  const requests = seconds.reduce((sum, second) => sum + second.requests, 0);
  return { value: requests / seconds.length, usage: { cpuSeconds: 0, peakRssBytes: 0 }, details: { requests } };
}

/** From the start of the process to the first second in which it is as fast as `cold-pages-large` asks. */
function restartedPages(): BenchCase {
  return {
    name: 'cold-pages-large-restart',
    title: `from the start of a server with a full disk cache to ${warmRatio} times the requests/s of QuestDB, to the second`,
    unit: 's',
    better: 'lower',
    rounds: 5,
    bars: [own, fromOutside].map((of) => ({ kind: 'ceiling', of, atMost: restartBarSeconds })),
    async prepare(lab, cleanup) {
      const trades = await largeTrades(lab);
      const [questdb] = await questdbOf(cleanup, trades);
      if (questdb === undefined) throw new RivalUnavailable('there is no QuestDB to compare with');
      const { beforeRound, measure } = questdbContender(lab, questdb, trades.rows);
      const wanted = oncePerRound(async (round) => {
        await beforeRound?.(round);
        return measure(round);
      });
      const targets = [questdb];
      const contenders: Contender[] = [];
      for (const [name, dataDir] of ours(trades)) {
        let startSeconds = 0;
        const start = async (): Promise<HttpServer> => {
          const startedAt = performance.now();
          const server = await startFramehold(largeOptions(lab, dataDir, trades.rows));
          startSeconds = (performance.now() - startedAt) / 1000;
          return server;
        };
        const { renew, current } = exchangeable(start, cleanup);
        await renew();
        await untilReadable(current(), largeHandle);
        await fillDiskCache(current(), { dataDir, handle: largeHandle, rows: trades.rows });
        targets.push({ name, server: current(), path: ourLargePath });
        contenders.push({
          name,
          async measure(round) {
            const { value: rivalRate } = await wanted(round);
            await renew();
            const paths = largePages(round, trades.rows).map(ourLargePath);
            const reading = await loadPages(current(), paths, lab.quick ? 3 : restartSeconds);
            const seconds = reading.bySecond ?? [];
            const at = seconds.findIndex(({ requests }) => requests >= warmRatio * rivalRate);
            if (at < 0) lab.note(`${name} was not as fast as that in ${seconds.length} s`);
            const value = startSeconds + (at < 0 ? seconds.length : at);
            return { ...reading, value, details: { ...reading.details, startSeconds, rivalRate } };
          },
        });
      }
      return { contenders, verify: () => comparePages(targets, trades.rows) };
    },
  };
}

/** For contenders that share a measurement. */
function oncePerRound(measure: (round: number) => Promise<Reading>): (round: number) => Promise<Reading> {
  const readings = new Map<number, Promise<Reading>>();
  return (round) => {
    const reading = readings.get(round) ?? measure(round);
    readings.set(round, reading);
    return reading;
  };
}

function ours({ put, outside }: LargeTrades): [name: string, dataDir: string][] {
  return [
    [own, put],
    [fromOutside, outside],
  ];
}

async function loadPages(server: HttpServer, paths: readonly string[], seconds: number): Promise<Reading> {
  const spec = { ...server, connections: largeConnections, paths, until: { ms: seconds * 1000 } };
  const { result, usage } = await watch(server.pid, () => runLoad(spec));
  return loadReading(result, usage, requestsPerSecond(result));
}

function largeOptions(lab: Lab, dataDir: string, rows: number) {
  return { dataDir, logPath: lab.frameholdLog, settings: { CACHE_SIZE: String((rows * cacheBytesARow) / 1e9) } };
}
