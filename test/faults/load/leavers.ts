import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { FlightClient } from '../../support/flight-client.ts';
import { familyOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import type { Random } from '../harness/random.ts';
import type { Scenario, Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';
import { endlessSql } from './heavy-sql.ts';
import { computedMs } from './process-time.ts';

const together = 10;
/** Of the second, and of a new process where the old one did not stop. */
const freeMs = { ci: 8000, release: 1500 } as const;
const upstreamMs = { ci: 3000, release: 100 } as const;

/** O3: clients at every door that ask for something endless and leave; others are behind them in the queue and leave, too. */
export const leavers: Scenario = {
  id: 'O3',
  promise: 'a client that leaves stops its statement, and frees its place and its request to the external database',
  rounds: { ci: 1, release: 100 },
  secondsPerRound: 10,
  async run({ rounds, size, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using upstream = await startUpstream();
    await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--tsdb-http-url', upstream.url] });
    using client = new Connection(server.url);
    await client.sql('select 1');
    let slowestFreeMs = 0;
    let slowestUpstreamMs = 0;
    for (let round = 0; round < rounds; round++) {
      const leaving = Array.from({ length: together }, (_, n) =>
        askAndLeave(server, round * together + n, random.fork()),
      );
      slowestUpstreamMs = Math.max(slowestUpstreamMs, await leaveUpstream(server, upstream, upstreamMs[size]));
      await Promise.all(leaving);
      const isFree = async () => (await client.sql(`select ${round} as n`)).status === 200;
      slowestFreeMs = Math.max(slowestFreeMs, await until('there is room for a statement', freeMs[size], isFree));
      await until('nothing computes any more', freeMs[size], () => isIdle(server.pid));
      if (round % 10 === 9) progress(`${(round + 1) * together} clients have left`);
    }
    return {
      leavers: rounds * together,
      'slowest free place ms': Math.round(slowestFreeMs),
      'slowest upstream abort ms': Math.round(slowestUpstreamMs),
    };
  },
};

async function askAndLeave(server: SpawnedFramehold, n: number, random: Random): Promise<void> {
  const stayMs = random.between(0, 400);
  if (random.chance(0.3)) {
    using client = new FlightClient(server.grpcPort);
    const call = client.openGet(JSON.stringify({ sql: endlessSql(n) }));
    await delay(stayMs);
    call.cancel();
    return;
  }
  const parameters = new URLSearchParams({ query: endlessSql(n), engine: 'local', fmt: 'json' });
  const request = get(`${server.url}/${random.pick(['exec', 'exp'])}?${parameters}`, { agent: false });
  request.on('error', () => {});
  await delay(stayMs);
  request.destroy();
}

/** Milliseconds until the external database sees that its client is gone. */
async function leaveUpstream(server: SpawnedFramehold, upstream: Upstream, withinMs: number): Promise<number> {
  const request = get(`${server.url}/exec?query=select+1&fmt=json`, { agent: false });
  request.on('error', () => {});
  const conversation = await upstream.next();
  let isClosed = false;
  void conversation.closed.then(() => {
    isClosed = true;
  });
  request.destroy();
  return until('the request to the external database is aborted', withinMs, () => isClosed);
}

/** Whether the processes of a server together computed next to nothing for a moment. */
async function isIdle(pid: number): Promise<boolean> {
  const computed = (): number => familyOf(pid).reduce((sum, each) => sum + (computedMs(each) || 0), 0);
  const before = computed();
  await delay(200);
  return computed() - before < 100;
}
