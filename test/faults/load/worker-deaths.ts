import { setTimeout as delay } from 'node:timers/promises';
import { childrenOf, isAlive } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'append', 'drop'];
const sqlTimeoutMs = 2000;
/** Of the work itself, of the wait before it, and of the second that a worker has to stop. */
const answerMs = 3 * sqlTimeoutMs + 10_000;
const workedOut = 49_999_995_000_000;

/** W1: DuckDB's processes killed or stopped under reads, statements and writes. */
export const workerDeaths: Scenario = {
  id: 'W1',
  promise: 'a DuckDB process that dies or stands still costs at most the request it had',
  rounds: { ci: 3, release: 300 },
  secondsPerRound: 10,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const flags = ['--cache-size', '0', '--sql-timeout', `${sqlTimeoutMs}ms`];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    const ledger = new Ledger();
    const codes = new Map<string, number>();
    const stopped = new Set<number>();
    let isOver = false;
    let answers = 0;
    const count = (code: string): void => {
      answers++;
      codes.set(code, (codes.get(code) ?? 0) + 1);
    };
    const goesOn = (): boolean => !isOver;
    const work = Promise.all([
      ...['v', 'w'].map((prefix) => keepWriting(server, ledger, random.fork(), prefix, goesOn, count)),
      keepAsking(server, random.fork(), goesOn, count),
      keepAsking(server, random.fork(), goesOn, count),
    ]);
    work.catch(() => {});
    try {
      for (let round = 0; round < rounds; round++) {
        const before = answers;
        const signal = random.chance(0.2) ? 'SIGSTOP' : 'SIGKILL';
        await delay(random.between(0, 150));
        const children = childrenOf(server.pid).filter(isAlive);
        if (children.length > 0) {
          const pid = random.pick(children);
          process.kill(pid, signal);
          if (signal === 'SIGSTOP') stopped.add(pid);
        }
        await Promise.race([
          work,
          until(
            'somebody is answered after it',
            answerMs,
            () => answers >= before + 8,
            () => [...codes],
          ),
        ]);
        if (round % 20 === 19) progress(`${round + 1} deaths, ${answers} answers`);
      }
    } finally {
      isOver = true;
      // One that was stopped as it started could not see to its own end when the server's comes.
      for (const pid of childrenOf(server.pid)) if (stopped.has(pid)) process.kill(pid, 'SIGKILL');
    }
    await work;
    promised(!server.hasExited(), 'the server stays');
    for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
    promised((await new Connection(server.url).sql('select 1')).status === 200, 'the next statement works');
    const { done = 0, ...refused } = Object.fromEntries(codes);
    return {
      deaths: rounds,
      answers: done,
      acks: ledger.acknowledged,
      'unanswered writes': ledger.unknown,
      ...refused,
    };
  },
};

type Count = (code: string) => void;

async function keepWriting(
  server: SpawnedFramehold,
  ledger: Ledger,
  random: Random,
  prefix: string,
  goesOn: () => boolean,
  count: Count,
): Promise<void> {
  for (let n = prefix === 'v' ? 1 : 2; goesOn(); n += 2) {
    const verb = random.pick(verbs);
    const operation = { handle: `${prefix}_${random.between(1, 3)}`, verb, n };
    const startedAt = performance.now();
    ledger.note(operation, await write(server, random.pick(doorsFor(verb)), operation));
    promised(performance.now() - startedAt < answerMs, `a write is answered within ${answerMs} ms`);
    ledger.settle(operation.handle, await readWithPatience(server, operation.handle));
    count('done');
  }
}

/** A read whose worker dies twice is refused, and may be asked again. */
async function readWithPatience(server: SpawnedFramehold, handle: string): ReturnType<typeof contentOf> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await contentOf(server, handle);
    } catch (error) {
      if (attempt > 3 || !/engine_crashed|sql_timeout/.test(String(error))) throw error;
    }
  }
}

async function keepAsking(
  server: SpawnedFramehold,
  random: Random,
  goesOn: () => boolean,
  count: Count,
): Promise<void> {
  using client = new Connection(server.url);
  while (goesOn()) {
    const n = random.between(1, 1000);
    const { status, text, ms } = await client.sql(`select (sum(range) + ${n})::bigint as n from range(10_000_000)`);
    promised(ms < answerMs, `a statement is answered within ${answerMs} ms`, ms);
    const { dataset, code } = JSON.parse(text) as { dataset?: number[][]; code?: string };
    if (status === 200) promised(dataset?.[0]?.[0] === workedOut + n, 'a statement is answered right', text);
    else promised(code === 'engine_crashed' || code === 'sql_timeout', 'or the client is told that it died', text);
    count(code ?? 'done');
  }
}
