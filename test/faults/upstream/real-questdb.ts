import { ask } from '../../support/http-client.ts';
import { type QuestDb, startQuestDb } from '../../support/questdb.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';

const timeoutMs = 1500;
const clients = 12;
/** What a burst may be told besides the right answer, with whether it must say when to come back. */
const documented = new Set(['502 tsdb_unreachable', '504 tsdb_timeout', '503 overloaded']);

/** U1: a real QuestDB under a burst of queries is killed, restarted, frozen and thawed. */
export const realQuestDb: Scenario = {
  id: 'U1',
  promise:
    'whatever happens to QuestDB, queries are answered rightly or with the documented error, and nothing else suffers',
  rounds: { ci: 1, release: 30 },
  secondsPerRound: 90,
  needs: ['questdb'],
  async run({ rounds, random, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using questdb = await startQuestDb();
    const flags = ['--tsdb-http-url', questdb.url, '--tsdb-timeout', `${timeoutMs}ms`, '--tsdb-max-connections', '8'];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    const put = await ask(`${server.url}/imp?name=kept&fmt=json`, { method: 'POST', body: 'a\n1\n2\n' });
    promised(put.status === 200, 'a frame is held', put.text);
    const burst = new Burst(server, size === 'release' ? 1000 : 5000);
    const running = [...Array.from({ length: clients }, () => burst.client(random.fork())), burst.otherDoors()];
    let slowestReturnMs = 0;
    const trouble = async (): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        await burst.untilRight('it answers');
        const cut = readLong(server);
        await cut.begun;
        await questdb.kill('SIGKILL');
        await cut.isCut;
        await burst.untilTold('502 tsdb_unreachable');
        await questdb.restart();
        slowestReturnMs = Math.max(slowestReturnMs, await burst.untilRight('it answers after a restart'));
        await freeze(questdb, burst);
        slowestReturnMs = Math.max(slowestReturnMs, await burst.untilRight('it answers after it was frozen'));
        progress(`round ${round + 1}: ${burst.right} right answers`);
      }
    };
    try {
      // A client that finds something wrong ends it at once.
      await Promise.race([trouble(), Promise.all(running)]);
    } finally {
      burst.stop();
      await Promise.allSettled(running);
    }
    await Promise.all(running);
    const { right, told, slowestOtherMs, others } = burst;
    return {
      rounds,
      'right answers': right,
      ...Object.fromEntries(told),
      'cut answers': burst.cut,
      'slowest return ms': Math.round(slowestReturnMs),
      'requests at other doors': others,
      'slowest of them ms': Math.round(slowestOtherMs),
    };
  },
};

async function freeze(questdb: QuestDb, burst: Burst): Promise<void> {
  await questdb.kill('SIGSTOP');
  try {
    await burst.untilTold('504 tsdb_timeout');
  } finally {
    await questdb.kill('SIGCONT');
  }
}

/** An answer that is read slowly, so that it is under way for as long as it takes. */
function readLong({ url }: SpawnedFramehold): { begun: Promise<void>; isCut: Promise<void> } {
  const sql = 'select x, x * 2, x * 3, x * 4 from long_sequence(100000000)';
  const controller = new AbortController();
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const read = async (): Promise<void> => {
    const response = await fetch(`${url}/exec?${new URLSearchParams({ query: sql, fmt: 'json' })}`, {
      signal: controller.signal,
      headers: { 'statement-timeout': '60000' },
    });
    promised(response.status === 200, 'a long answer begins', response.status);
    begin();
    for await (const _ of response.body ?? []) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const isCut = read().then(
    () => promised(false, 'an answer that QuestDB did not finish is cut off'),
    (error: unknown) => {
      if (error instanceof Error && error.name === 'BrokenPromise') throw error;
    },
  );
  return { begun: Promise.race([begun, isCut]), isCut };
}

/** Clients that ask without pause and judge every answer. */
class Burst {
  readonly #server: SpawnedFramehold;
  readonly #otherMs: number;
  #stopped = false;
  right = 0;
  cut = 0;
  others = 0;
  slowestOtherMs = 0;
  readonly told = new Map<string, number>();

  constructor(server: SpawnedFramehold, otherMs: number) {
    this.#server = server;
    this.#otherMs = otherMs;
  }

  stop(): void {
    this.#stopped = true;
  }

  async untilRight(what: string): Promise<number> {
    const before = this.right;
    return until(what, 20_000, () => this.right > before + clients);
  }

  async untilTold(outcome: string): Promise<void> {
    const before = this.told.get(outcome) ?? 0;
    await until(`clients are told ${outcome}`, 20_000, () => (this.told.get(outcome) ?? 0) > before);
  }

  async client(random: Random): Promise<void> {
    while (!this.#stopped) {
      const rows = random.pick([1, 10, 1000, 20_000]);
      const sql = `select x from long_sequence(${rows})`;
      const startedAt = performance.now();
      const answer = await ask(`${this.#server.url}/exec?${new URLSearchParams({ query: sql, fmt: 'json' })}`, {
        headers: random.chance(0.2) ? { 'statement-timeout': '20000' } : {},
      }).catch(() => undefined);
      const ms = performance.now() - startedAt;
      if (answer === undefined) {
        promised(!this.#server.hasExited(), 'the server lives', this.#server.stderr().slice(-1000));
        this.cut++;
      } else if (answer.status === 200) {
        const { dataset, count } = answer.json() as { dataset: number[][]; count: number };
        const isWhole = count === rows && dataset.length === rows && dataset.every(([x], index) => x === index + 1);
        promised(isWhole, 'an answer that ends is right and whole', [rows, count, dataset.length]);
        this.right++;
      } else {
        const outcome = `${answer.status} ${answer.json().code}`;
        promised(documented.has(outcome), 'what is no answer is a documented error', [outcome, answer.text]);
        promised(ms < timeoutMs * 2 + 5000, 'an error comes in time', [outcome, ms]);
        this.told.set(outcome, (this.told.get(outcome) ?? 0) + 1);
        // As a client does that heeds Retry-After, only shorter.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  /** Frames, local SQL and ping, all the while. */
  async otherDoors(): Promise<void> {
    const local = new URLSearchParams({ query: 'select sum(a) s from kept', fmt: 'json', engine: 'local' });
    const paths = ['/ping', '/exec?handle=kept&fmt=json', `/exec?${local}`];
    while (!this.#stopped) {
      for (const path of paths) {
        const startedAt = performance.now();
        const answer = await ask(`${this.#server.url}${path}`);
        const ms = performance.now() - startedAt;
        promised(answer.status === 200, `${path} is answered`, answer.text);
        promised(ms < this.#otherMs, `${path} is answered within ${this.#otherMs} ms`, ms);
        this.slowestOtherMs = Math.max(this.slowestOtherMs, ms);
        this.others++;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
