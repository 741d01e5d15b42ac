import { mkdtemp, open } from 'node:fs/promises';
import { join } from 'node:path';
import { appendTicks, assertRows, rowsIn, rowsPerAppend, tickCsv, tickLines } from '../data/ticks.ts';
import type { BenchCase, Contender, Reading } from '../harness/bench-case.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { runLoad } from '../harness/load.ts';
import { watch } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startBareAppend } from '../rivals/bare-append.ts';
import { startFramehold } from '../rivals/framehold.ts';
import { queryPath, startQuestDb } from '../rivals/questdb.ts';

const appends = 20_000;
const atOnce = 1000;

async function ours(lab: Lab, name: string): Promise<HttpServer> {
  const dataDir = await mkdtemp(join(lab.folder, `${name}-`));
  return startFramehold({ dataDir, logPath: lab.frameholdLog });
}

/** Fails where fewer rows can be read than were acknowledged. */
async function verifyRows(server: HttpServer, handle: string): Promise<string> {
  await appendTicks(server, handle, { appends: 100, connections: 4 });
  await assertRows(server, handle, 100 * rowsPerAppend);
  return `${100 * rowsPerAppend} rows of 100 appends can be read`;
}

/** Rate of the last appends of many, against the first ones of the same run. */
const appendSteady: BenchCase = {
  name: 'append-steady',
  title: `the last 1,000 of 20,000 appends of ten rows by one connection, against the first 1,000`,
  unit: 'requests/s',
  better: 'higher',
  rounds: 3,
  bars: [{ kind: 'ratio', against: 'its first 1,000', atLeast: 0.9 }],
  async prepare(lab, cleanup) {
    const server = cleanup.use(await ours(lab, 'append-steady'));
    const between = lab.quick ? 500 : appends - 2 * atOnce;
    let first: Reading | undefined;
    const rate = async (handle: string): Promise<Reading> => {
      const { result, usage } = await watch(server.pid, () =>
        appendTicks(server, handle, { appends: atOnce, connections: 1 }),
      );
      return { value: result.requests / result.seconds, usage, details: { p50Ms: result.p50Ms, p99Ms: result.p99Ms } };
    };
    return {
      contenders: [
        {
          name: 'framehold',
          beforeRound: async (round) => void (round === 0 && (await rate('warm_up'))),
          async measure(round) {
            const handle = `ticks_${round}`;
            first = await rate(handle);
            await appendTicks(server, handle, { appends: between, connections: 1 });
            const last = await rate(handle);
            await assertRows(server, handle, (between + 2 * atOnce) * rowsPerAppend);
            return last;
          },
        },
        { name: 'its first 1,000', measure: async () => first as Reading },
      ],
      verify: () => verifyRows(server, 'verified'),
    };
  },
};

/** Against a server that only writes the same bytes to a file, syncs it and answers. */
const appendSmall: BenchCase = {
  name: 'append-small',
  title: 'appends of ten rows of CSV by one connection, each on the disk before its answer',
  unit: 'requests/s',
  better: 'higher',
  rounds: 5,
  bars: [{ kind: 'ratio', against: 'bare-node', atLeast: 0.5 }],
  async prepare(lab, cleanup) {
    const server = cleanup.use(await ours(lab, 'append-small'));
    const bare = cleanup.use(await startBareAppend(lab.folder, 'each'));
    const path = '/imp?name=ticks&append=true&format=csv&header=true&fmt=json';
    return {
      contenders: [
        underLoad(lab, 'framehold', server, { connections: 1, path, bodies: tickCsv }),
        underLoad(lab, 'bare-node', bare, { connections: 1, path, bodies: tickCsv }),
      ],
      verify: () => verifyRows(server, 'verified'),
    };
  },
};

const lineSmall: BenchCase = {
  name: 'line-small',
  title:
    'requests of ten lines of line protocol by 16 connections; ours and bare Node on the disk before the answer, QuestDB not',
  unit: 'requests/s',
  better: 'higher',
  rounds: 5,
  bars: [
    { kind: 'ratio', against: 'questdb', atLeast: 0.5 },
    { kind: 'ratio', against: 'bare-node', atLeast: 0.6 },
  ],
  async prepare(lab, cleanup) {
    const server = cleanup.use(await ours(lab, 'line-small'));
    const bare = cleanup.use(await startBareAppend(lab.folder, 'group'));
    const questdb = await lab.rival(() => startQuestDb(lab.folder));
    if (questdb !== undefined) cleanup.use(questdb);
    const load = { connections: 16, path: '/write', bodies: tickLines('ticks') };
    return {
      contenders: [
        underLoad(lab, 'framehold', server, load),
        ...(questdb === undefined ? [] : [underLoad(lab, 'questdb', questdb, load)]),
        underLoad(lab, 'bare-node', bare, load),
      ],
      async verify() {
        await linesTo(server, 'verified', 100);
        await assertRows(server, 'verified', 100 * rowsPerAppend);
        if (questdb !== undefined) await linesTo(questdb, 'verified', 100);
        return `${100 * rowsPerAppend} rows of 100 requests can be read`;
      },
    };
  },
};

/** Time to the acknowledgement at a steady rate, against the disk's own. */
const appendAck: BenchCase = {
  name: 'append-ack',
  title: 'p99 of the acknowledgement at 1,000 appends/s over 16 connections, against p99 of fdatasync alone',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'ratio', against: 'fdatasync', atLeast: 1 / 3 }],
  async prepare(lab, cleanup) {
    const server = cleanup.use(await ours(lab, 'append-ack'));
    const measure = async (): Promise<Reading> => {
      const before = (await rowsIn(server, 'ticks').catch(() => 0)) ?? 0;
      const { result, usage } = await watch(server.pid, () =>
        runLoad({
          ...server,
          connections: 16,
          perSecond: 1000,
          paths: ['/write'],
          bodies: tickLines('ticks'),
          until: { ms: lab.loadMs },
        }),
      );
      const rows = (await rowsIn(server, 'ticks')) - before;
      if (rows < result.requests * rowsPerAppend)
        throw new Error(`${rows} rows of ${result.requests} appends are there`);
      return { value: result.p99Ms, usage, details: { p50Ms: result.p50Ms, p99Ms: result.p99Ms } };
    };
    return {
      contenders: [
        { name: 'framehold', beforeRound: async () => void (await measure()), measure },
        { name: 'fdatasync', measure: () => syncLatency(join(lab.folder, 'synced'), lab.quick ? 200 : 4000) },
      ],
      verify: () => verifyRows(server, 'verified'),
    };
  },
};

async function linesTo(server: HttpServer, table: string, requests: number): Promise<void> {
  await runLoad({ ...server, connections: 4, paths: ['/write'], bodies: tickLines(table), until: { requests } });
  await httpGetBody(urlOf(server, `${queryPath(`select count() from ${table}`)}&fmt=json&engine=local`));
}

interface AppendLoad {
  readonly connections: number;
  readonly path: string;
  readonly bodies: readonly string[];
}

function underLoad(lab: Lab, name: string, server: HttpServer, { connections, path, bodies }: AppendLoad): Contender {
  const load = (ms: number) => runLoad({ ...server, connections, paths: [path], bodies, until: { ms } });
  return {
    name,
    beforeRound: async () => void (await load(lab.warmUpMs)),
    async measure() {
      const { result, usage } = await watch(server.pid, () => load(lab.loadMs));
      const { requests, seconds, p50Ms, p99Ms } = result;
      return { value: requests / seconds, usage, details: { p50Ms, p99Ms } };
    },
  };
}

/** One write of 4 KiB and one fdatasync at a time, once a millisecond as the appends come. */
async function syncLatency(path: string, times: number): Promise<Reading> {
  const file = await open(path, 'w');
  const block = Buffer.alloc(4096, 1);
  const latencies: number[] = [];
  try {
    for (let at = 0; at < times; at++) {
      const begunAt = performance.now();
      await file.write(block, 0, block.length, at * block.length);
      await file.datasync();
      latencies.push(performance.now() - begunAt);
    }
  } finally {
    await file.close();
  }
  latencies.sort((a, b) => a - b);
  const quantile = (share: number): number => latencies[Math.floor(share * (times - 1))] ?? 0;
  const usage = { cpuSeconds: 0, peakRssBytes: 0 };
  return { value: quantile(0.99), usage, details: { p50Ms: quantile(0.5), p99Ms: quantile(0.99) } };
}

export const appendCases: readonly BenchCase[] = [appendSteady, appendSmall, lineSmall, appendAck];
