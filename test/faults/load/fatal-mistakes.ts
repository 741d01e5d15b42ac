import { fileURLToPath } from 'node:url';
import { familyOf, isAlive } from '../../support/process-facts.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger } from '../harness/ledger.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';
import { endlessSql } from './heavy-sql.ts';
import { computedMs } from './process-time.ts';

const preload = fileURLToPath(new URL('./fatal-on-signal.mjs', import.meta.url));
const mistakes = { SIGUSR2: 'uncaught exception', SIGWINCH: 'unhandled rejection' } as const;
const goneMs = { ci: 5000, release: 2000 } as const;

/** L2: what nobody foresaw happens in the server, while a statement works that would not stop by itself. */
export const fatalMistakes: Scenario = {
  id: 'L2',
  promise: 'an uncaught exception or unhandled rejection ends all processes at once, with a log line and a code',
  rounds: { ci: 2, release: 20 },
  secondsPerRound: 10,
  async run({ rounds, size, random }: Trial) {
    await using directory = await temporaryDirectory();
    const ledger = new Ledger();
    let slowestMs = 0;
    for (let round = 0; round < rounds; round++) {
      await using server = await spawnFramehold({
        dataDir: directory.path,
        env: { NODE_OPTIONS: `--import=${preload}` },
      });
      for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
      const operation = { handle: 'kept', verb: 'overwrite', n: round + 1 } as const;
      ledger.note(operation, await write(server, random.pick(doorsFor('overwrite')), operation));
      using client = new Connection(server.url);
      const hung = client.sql(endlessSql(round)).then(
        () => 'answered',
        () => 'cut',
      );
      await until('the statement works', 10_000, () => familyOf(server.pid).some((pid) => computedMs(pid) > 500));
      const family = familyOf(server.pid);
      const signal = (['SIGUSR2', 'SIGWINCH'] as const)[round % 2] ?? 'SIGUSR2';
      server.kill(signal);
      const startedAt = performance.now();
      await until(
        'it ends',
        goneMs[size],
        () => server.hasExited(),
        () => server.stderr().slice(-1000),
      );
      const { code } = await server.exited;
      promised(code === 1, 'it ends with 1', { code, log: server.stderr().slice(-1000) });
      await until('all processes are gone', goneMs[size], () => !family.some(isAlive));
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      promised(slowestMs < goneMs[size], `it is gone within ${goneMs[size]} ms`, slowestMs);
      promised(server.stderr().includes(`"${mistakes[signal]}"`), 'the log says what happened', server.stderr());
      promised(server.stderr().includes('on purpose'), 'and with which error', server.stderr());
      promised((await hung) === 'cut', 'the statement is not answered');
    }
    return { mistakes: rounds, 'slowest end ms': Math.round(slowestMs) };
  },
};
