import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { ask } from '../../support/http-client.ts';
import { privateFiles } from '../../support/private-files.ts';
import { describeProcess, familyOf, isAlive } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf } from '../harness/doors.ts';
import { Ledger } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';
import { endlessSql } from './heavy-sql.ts';
import {
  bigRows,
  bigSql,
  download,
  flightDownload,
  flightUpload,
  statement,
  type UnderWay,
  upload,
} from './under-way.ts';

const graceMs = 8000;
/** What a stop may take beyond the grace. */
const marginMs = { ci: 5000, release: 2000 } as const;
const requests = { ci: 50, release: 200 } as const;

/** L1: SIGTERM in the middle of everything; in every other round, a second signal while it drains. */
export const stopUnderLoad: Scenario = {
  id: 'L1',
  promise: 'SIGTERM lets what is under way finish, refuses what is new, and leaves no process and no temporary file',
  rounds: { ci: 2, release: 50 },
  secondsPerRound: 40,
  async run({ rounds, size, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const ledger = new Ledger();
    const figures = { finished: 0, cut: 0, 'refused after the signal': 0, 'slowest stop ms': 0 };
    for (let round = 0; round < rounds; round++) {
      const flags = ['--shutdown-grace', `${graceMs}ms`, '--sql-timeout', '60s'];
      await using server = await spawnFramehold({ dataDir: directory.path, flags });
      await checkAll(server, ledger);
      await keepBig(server);
      using idle = new Connection(server.url);
      await idle.ask('/ping');
      const underWay = await beginAll(server, requests[size], ledger, random, round);
      const endless = await statement(server.url, endlessSql(round), 'never');
      const hung = endless.finish().then(
        () => 'answered',
        () => 'cut',
      );
      const family = familyOf(server.pid);
      const startedAt = performance.now();
      server.kill('SIGTERM');
      await until('it takes no new connections', 5000, () =>
        ask(`${server.url}/ping`).then(
          () => false,
          () => true,
        ),
      );
      const late = await idle.ask('/ping').then(
        ({ status, headers }) => ({ status, retry: headers['retry-after'] }),
        () => undefined,
      );
      promised(late === undefined || (late.status === 503 && late.retry !== undefined), 'what is new is refused', late);
      figures['refused after the signal']++;
      const isTwice = round % 2 === 1;
      if (isTwice) {
        // Sooner it would count as an echo of the first.
        await delay(150);
        server.kill(random.pick(['SIGTERM', 'SIGINT']));
      }
      const ends = await Promise.allSettled(underWay.map(({ finish }) => finish()));
      const { code } = await server.exited;
      const stopMs = performance.now() - startedAt;
      const broken = ends.flatMap((end, index) =>
        end.status === 'rejected' ? [`${underWay[index]?.kind}: ${end.reason}`] : [],
      );
      figures.finished += ends.length - broken.length;
      figures.cut += broken.length;
      promised((await hung) === 'cut', 'a statement that does not end is cut');
      if (isTwice) {
        promised(code === 1, 'a second signal ends it with 1', { code, log: server.stderr().slice(-500) });
        promised(stopMs < marginMs[size], 'a second signal ends it at once', stopMs);
      } else {
        promised(broken.length === 0, 'what is under way is finished', broken.slice(0, 5));
        promised(code === 0, 'it ends with 0', { code, log: server.stderr().slice(-1000) });
        promised(stopMs < graceMs + marginMs[size], 'it ends in time', stopMs);
        const left = await filesLeft(directory.path);
        promised(left.length === 0, 'no temporary file stays', left);
        figures['slowest stop ms'] = Math.max(figures['slowest stop ms'], Math.round(stopMs));
      }
      await until(
        'no process outlives it',
        marginMs[size],
        () => !family.some(isAlive),
        () => family.filter(isAlive).map(describeProcess),
      );
      if (round % 10 === 9) progress(`${round + 1} stops, ${figures.finished} requests finished`);
    }
    await using server = await spawnFramehold({ dataDir: directory.path });
    await checkAll(server, ledger);
    const left = await filesLeft(directory.path, `${server.pid}-`);
    promised(left.length === 0, 'a start sweeps what a sudden end has left', left);
    return { stops: rounds, ...figures, acks: ledger.acknowledged };
  },
};

async function keepBig({ url }: SpawnedFramehold): Promise<void> {
  const kept = await ask(`${url}/sql`, {
    method: 'POST',
    body: JSON.stringify({ sql: bigSql, keep: { handle: 'big', mode: 'overwrite' } }),
  });
  promised(kept.status === 200, 'a frame can be kept', kept.text);
}

function beginAll(
  server: SpawnedFramehold,
  count: number,
  ledger: Ledger,
  random: Random,
  round: number,
): Promise<UnderWay[]> {
  const note = ledger.note.bind(ledger);
  const ipc = tableToIPC(new Table({ n: vectorFromArray([1n, 2n, 3n], new Int64()) }), 'stream');
  const kinds: ((n: number) => Promise<UnderWay>)[] = [
    () => download(server.url, '/exec?handle=big&fmt=json&limit=1,', (body) => body.endsWith(`"count":${bigRows}}`)),
    () => download(server.url, '/exp?handle=big&fmt=csv', (body) => body.split('\r\n').length === bigRows + 2),
    () => statement(server.url, bigSql, `"count":${bigRows}}`),
    (n) =>
      statement(
        server.url,
        `select sum(range)::bigint + ${n} as n from range(1_000_000)`,
        `[[${499_999_500_000 + n}]]`,
      ),
    (n) => upload(server.url, { handle: `u${n}`, verb: 'overwrite', n: round * 1000 + n }, note),
    () => flightDownload(server, 'big'),
  ];
  // Only one put over Flight: each has a process that reads frames for as long as its client takes.
  const others = Array.from({ length: count - 1 }, (_, n) => random.pick(kinds)(n + 1));
  return Promise.all([flightUpload(server, 'f', ipc), ...others]);
}

async function checkAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
}

/** Everything that only a running server may have, but what belongs to the one with this prefix. */
async function filesLeft(dataDir: string, living = ' '): Promise<string[]> {
  const names = await Promise.all(['spill', 'warm'].map((folder) => readdir(join(dataDir, folder)).catch(() => [])));
  const own = ['tmp', 'pins', 'pending', 'locks'].flatMap((folder) => privateFiles(join(dataDir, 'cold'), folder));
  return [...names.flat(), ...own].filter((name) => !name.startsWith(living));
}
