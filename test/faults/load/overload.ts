import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { residentBytes } from '../../../bench/harness/process-tree.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';
import type { LoadOrder, LoadReport } from './offered-load.ts';
import { quantile } from './quantile.ts';

const generator = fileURLToPath(new URL('./offered-load.ts', import.meta.url));
const [cacheBytes, sqlMemoryBytes, workers] = [200_000_000, 200_000_000, 2];
const maxRequests = 16;
/** Cache, server, and for each of the six processes its rest and DuckDB's buffers. */
const budgetBytes = cacheBytes + 100_000_000 + (2 * workers + 2) * (80_000_000 + sqlMemoryBytes);
/** On few processors whoever makes the load takes them from those who compute what was accepted. */
const slower = availableParallelism() < 4 ? 15 : 3;
const bounds = {
  ci: { refusalMs: 3000, pingMs: 2000, slower: 100, recoveryMs: 15_000 },
  release: { refusalMs: 100, pingMs: 50, slower, recoveryMs: 5000 },
} as const;

/** O1: ten times as many requests as are served when clients wait their turn. */
export const overload: Scenario = {
  id: 'O1',
  promise: 'ten times the load that can be served is refused quickly, and what is accepted stays fast',
  rounds: { ci: 0, release: 30 },
  secondsPerRound: 150,
  async run({ rounds, size, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const gigabytes = (bytes: number): string => String(bytes / 1e9);
    const flags = [
      ...['--demo', '--cache-size', gigabytes(cacheBytes), '--sql-memory', gigabytes(sqlMemoryBytes)],
      ...[
        '--sql-workers',
        `${workers}`,
        '--sql-max-queue',
        `${2 * maxRequests}`,
        '--http-max-concurrent-requests',
        `${maxRequests}`,
      ],
    ];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    using client = new Connection(server.url);
    const offer = (order: Partial<LoadOrder>) =>
      offered({ url: server.url, grpcPort: server.grpcPort, seed: random.between(1, 2 ** 31), seconds: 2, ...order });
    await offer({ waiting: 2 });
    // As many as are let in, none refused: what a full house takes.
    const closed = await offer({ waiting: maxRequests });
    const servedPerSecond = closed.accepted / 2;
    promised(closed.accepted > 0, 'clients that wait their turn are served', closed);

    const pingMs: number[] = [];
    let mostBytes = 0;
    let [accepted, refused, unconnected] = [0, 0, 0];
    const acceptedMs: number[] = [];
    const refusedMs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      let isOver = false;
      const load = offer({ perSecond: 10 * servedPerSecond, seconds: size === 'ci' ? 3 : 10 }).finally(() => {
        isOver = true;
      });
      // Timed by a process with nothing else to do: the one that makes the load is too busy to tell.
      for (let probe = 0; !isOver; probe++) {
        pingMs.push((await client.ask('/ping')).ms);
        const { status, ms } = await client.ask('/exec?handle=trades&fmt=json&limit=10');
        if (status === 503) refusedMs.push(ms);
        if (probe % 20 === 0) mostBytes = Math.max(mostBytes, residentBytes(server.pid));
        await delay(20);
      }
      const report = await load;
      const strange = Object.values(report.strange).reduce((sum, count) => sum + count, 0);
      // In CI a client so busy that it answers no ping for seconds may lose a connection.
      const mostStrange = size === 'ci' ? 0.02 * (report.accepted + report.refused) : 0;
      promised(strange <= mostStrange, 'every request is served or refused', report.strange);
      accepted += report.accepted;
      refused += report.refused;
      unconnected += report.unconnected;
      acceptedMs.push(...report.acceptedMs);
      progress(`${accepted} accepted, ${refused} refused, ${unconnected} not connected`);
    }
    const { refusalMs, pingMs: mostPingMs, slower, recoveryMs } = bounds[size];
    const recoveredMs = await until('all is as before', recoveryMs, async () => {
      const { status, ms } = await client.sql(`select ${random.next()} as n`);
      return status === 200 && ms < quantile(closed.acceptedMs, 0.99);
    });
    promised(refused > 0, 'there was more than can be served', { accepted, refused });
    promised(
      refusedMs.length === 0 || quantile(refusedMs, 0.99) < refusalMs,
      'a refusal comes at once',
      quantile(refusedMs, 0.99),
    );
    promised(quantile(pingMs, 0.99) < mostPingMs, 'the health check answers', quantile(pingMs, 0.99));
    const [fullP99, loadedP99] = [quantile(closed.acceptedMs, 0.99), quantile(acceptedMs, 0.99)];
    promised(loadedP99 < slower * fullP99, 'what is accepted stays fast', { fullP99, loadedP99 });
    promised(mostBytes < 1.25 * budgetBytes, 'memory stays within its budget and a quarter', mostBytes);
    return {
      'served a second': Math.round(servedPerSecond),
      'offered a second': Math.round(10 * servedPerSecond),
      accepted,
      refused,
      'not connected': unconnected,
      'full house p99 ms': Math.round(fullP99),
      'accepted p99 ms': Math.round(loadedP99),
      'refusal p99 ms': Math.round(quantile(refusedMs, 0.99)) || 0,
      'ping p99 ms': Math.round(quantile(pingMs, 0.99)),
      'most MB': Math.round(mostBytes / 1e6),
      'budget MB': Math.round(budgetBytes / 1e6),
      'recovered ms': Math.round(recoveredMs),
    };
  },
};

async function offered(order: LoadOrder): Promise<LoadReport> {
  const child = fork(generator, { execArgv: ['--import', 'tsx'] });
  const report = once(child, 'message');
  child.send(order);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the load ended with ${code} before its report`);
  });
  const [given] = (await Promise.race([report, ended])) as [LoadReport];
  ended.catch(() => {});
  return given;
}
