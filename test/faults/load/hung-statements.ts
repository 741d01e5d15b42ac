import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection, type Reply } from './connection.ts';
import { endlessSql } from './heavy-sql.ts';
import { quantile } from './quantile.ts';

const workers = 2;
const maxQueue = 4;
const sqlTimeoutMs = 3000;
/** Beyond the time limit. */
const lateMs = { ci: 5000, release: 1000 } as const;
/** Of reads, in idle ones; the small allowance keeps a read of a fraction of a millisecond from counting as slow. */
const slower = { ci: 20, release: 2 } as const;
const allowanceMs = { ci: 200, release: 5 } as const;
const reads = { ci: 100, release: 2000 } as const;

/** O4: every process for statements has one that does not end. */
export const hungStatements: Scenario = {
  id: 'O4',
  promise: 'statements that do not end hold up no reader, are ended in time, and others wait or are refused at once',
  rounds: { ci: 1, release: 20 },
  secondsPerRound: 30,
  async run({ rounds, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const flags = [
      ...['--sql-workers', `${workers}`, '--sql-max-queue', `${maxQueue}`],
      ...['--sql-timeout', `${sqlTimeoutMs}ms`],
    ];
    await using server = await spawnFramehold({ dataDir: directory.path, flags: [...flags, '--demo'] });
    using reader = new Connection(server.url);
    const readMs = (): Promise<number[]> => readPages(reader, reads[size]);
    await readMs();
    const idleMs = await readMs();
    let statements = 0;
    const loadedMs: number[] = [];
    let slowestEndMs = 0;
    let slowestRefusalMs = 0;
    for (let round = 0; round < rounds; round++) {
      using clients = new Connections(server.url);
      const latest = { signal: AbortSignal.timeout(sqlTimeoutMs + lateMs[size]) };
      const hung = Array.from({ length: workers }, () => clients.next().sql(endlessSql(++statements), latest));
      const waiting: Promise<Reply>[] = [];
      // Those that find no room tell that the places and the queue are full.
      let refused: Reply | undefined;
      await until('the queue is full', sqlTimeoutMs, async () => {
        const asked = clients.next().sql(`select ${++statements} as n`);
        const first = await Promise.race([asked, clients.next().ask('/ping')]);
        if (first.status === 503) refused = first;
        else waiting.push(asked);
        return refused !== undefined;
      });
      promised(refused?.headers['retry-after'] !== undefined, 'who is refused is told when to come again', refused);
      slowestRefusalMs = Math.max(slowestRefusalMs, refused.ms);
      loadedMs.push(...(await readMs()));
      const ends = await Promise.all(hung).catch(() => undefined);
      promised(ends !== undefined, `a statement that does not end is ended within ${sqlTimeoutMs + lateMs[size]} ms`);
      for (const { status, text, ms } of ends) {
        promised(status === 504 && text.includes('"sql_timeout"'), 'its client is told why', text);
        slowestEndMs = Math.max(slowestEndMs, ms);
      }
      const answers = await Promise.all(waiting);
      const strange = answers.filter(({ status }) => status !== 200 && status !== 503);
      promised(
        strange.length === 0,
        'who waited is answered',
        strange.map(({ text }) => text),
      );
      promised(
        answers.some(({ status }) => status === 200),
        'and not only with a refusal',
      );
      progress(`${round + 1} rounds`);
    }
    const [idle, loaded] = [quantile(idleMs, 0.99), quantile(loadedMs, 0.99)];
    promised(loaded < slower[size] * idle + allowanceMs[size], 'readers notice nothing', { idle, loaded });
    return {
      'hung statements': rounds * workers,
      'read p99 idle ms': Math.round(idle * 10) / 10,
      'read p99 ms': Math.round(loaded * 10) / 10,
      'slowest end ms': Math.round(slowestEndMs),
      'slowest refusal ms': Math.round(slowestRefusalMs),
    };
  },
};

class Connections implements Disposable {
  readonly #url: string;
  readonly #open: Connection[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  next(): Connection {
    const connection = new Connection(this.#url);
    this.#open.push(connection);
    return connection;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#open) connection[Symbol.dispose]();
  }
}

async function readPages(reader: Connection, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const first = 1 + n * 100;
    const { status, ms } = await reader.ask(`/exec?handle=trades&fmt=json&limit=${first},${first + 99}`);
    promised(status === 200, 'a frame can be read', status);
    times.push(ms);
  }
  return times;
}
