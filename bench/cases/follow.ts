import { mkdtemp } from 'node:fs/promises';
import { Agent, type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchCase, Reading } from '../harness/bench-case.ts';
import { httpGet, urlOf } from '../harness/http-get.ts';
import { treeOf, untilQuiet, watch } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startFramehold } from '../rivals/framehold.ts';

const handle = 'ticks';
const followers = 100;
const appendsPerSecond = 1000;
const connections = 16;
const tickMs = 10;
const idleFollowers = 1000;

/** Time from sending an append until its row is at a follower. */
export const follow: BenchCase = {
  name: 'follow',
  title: `p99 from append to visible at ${followers} followers, ${appendsPerSecond} appends/s`,
  unit: 'ms',
  better: 'lower',
  rounds: 3,
  bars: [{ kind: 'ceiling', of: 'framehold', atMost: 50 }],

  async prepare(lab, cleanup) {
    const dataDir = await mkdtemp(join(lab.folder, 'follow-'));
    const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
    await append(server, new Agent(), performance.now());
    return {
      contenders: [
        {
          name: 'framehold',
          beforeRound: async () => void (await measure(server, lab.warmUpMs)),
          measure: () => measure(server, lab.loadMs),
        },
      ],
      async verify() {
        const { headers, body } = await httpGet(urlOf(server, `/handles/${handle}/rows`));
        const rows = body.toString().trimEnd().split('\n').length;
        if (Number(headers['next-row']) !== rows) throw new Error(`Next-Row is not behind ${rows} rows`);
        return `a follower begins behind ${rows} row`;
      },
    };
  },
};

/** The cost of waiting followers for the server. */
export const followIdle: BenchCase = {
  name: 'follow-idle',
  title: `memory that ${idleFollowers} idle followers take`,
  unit: 'MB',
  better: 'lower',
  rounds: 2,
  bars: [{ kind: 'ceiling', of: 'framehold', atMost: 100 }],

  async prepare(lab, cleanup) {
    const dataDir = await mkdtemp(join(lab.folder, 'follow-idle-'));
    const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
    await append(server, new Agent(), 0);
    const count = lab.quick ? 100 : idleFollowers;
    const measureIdle = async (): Promise<Reading> => {
      const before = treeOf(server.pid).rssBytes;
      const { usage } = await watch(server.pid, async () => {
        let marks = 0;
        const open = Array.from({ length: count }, () => openFollower(server, () => marks++));
        while (marks < 2 * count) await delay(100);
        for (const each of open) each.destroy();
      });
      return { value: Math.max(0, usage.peakRssBytes - before) / 1e6, usage, details: { followers: count } };
    };
    return {
      contenders: [{ name: 'framehold', beforeRound: () => untilQuiet(server.pid), measure: measureIdle }],
      verify: async () => `${count} followers, two progress marks each`,
    };
  },
};

/** Calls back with each piece of text that comes. */
function openFollower({ host, port }: HttpServer, onText: (text: string) => void): ClientRequest {
  const path = `/handles/${handle}/rows?from=end&live=sse`;
  const outgoing = request({ host, port, path, agent: false }, (incoming) => {
    incoming.setEncoding('utf8').on('data', onText);
    incoming.on('error', () => {});
  });
  outgoing.on('error', () => {});
  outgoing.end();
  return outgoing;
}

/** Scans by hand: a hundred thousand rows come in a second. */
function followSent(server: HttpServer, onMark: () => void, onSent: (sentAt: number) => void): ClientRequest {
  const key = '"sent":';
  let rest = '';
  return openFollower(server, (text) => {
    const all = rest + text;
    const end = all.lastIndexOf('\n') + 1;
    rest = all.slice(end);
    if (all.startsWith('event: progress')) onMark();
    for (let at = all.indexOf(key); at >= 0 && at < end; at = all.indexOf(key, at + key.length)) {
      onSent(Number.parseFloat(all.slice(at + key.length, at + key.length + 24)));
    }
  });
}

function append({ host, port }: HttpServer, agent: Agent, sentAt: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `/imp?name=${handle}&append=true&format=csv&header=true`;
    const outgoing = request({ host, port, path, method: 'POST', agent }, (incoming) => {
      incoming.resume().on('end', () => {
        if (incoming.statusCode === 200) resolve();
        else reject(new Error(`an append was answered ${incoming.statusCode}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(`sent\n${sentAt.toFixed(3)}\n`);
  });
}

async function measure(server: HttpServer, forMs: number): Promise<Reading> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  let marks = 0;
  const open = Array.from({ length: followers }, () =>
    followSent(
      server,
      () => marks++,
      (sentAt) => latencies.push(performance.now() - sentAt),
    ),
  );
  while (marks < followers) await delay(10);
  let sent = 0;
  const { usage } = await watch(server.pid, async () => {
    const begunAt = performance.now();
    const underWay: Promise<void>[] = [];
    for (let elapsed = 0; elapsed < forMs; elapsed = performance.now() - begunAt) {
      for (; sent < (elapsed * appendsPerSecond) / 1000; sent++)
        underWay.push(append(server, agent, performance.now()));
      await delay(tickMs);
    }
    await Promise.all(underWay);
    for (let n = 0; n < 100 && latencies.length < sent * followers; n++) await delay(50);
  });
  for (const each of open) each.destroy();
  agent.destroy();
  if (latencies.length !== sent * followers) {
    throw new Error(`${latencies.length} rows came to ${followers} followers, of ${sent} appends`);
  }
  latencies.sort((a, b) => a - b);
  const quantile = (part: number): number => latencies[Math.floor((latencies.length - 1) * part)] ?? 0;
  return { value: quantile(0.99), usage, details: { p50Ms: quantile(0.5), p99Ms: quantile(0.99), appends: sent } };
}
