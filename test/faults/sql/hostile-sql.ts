import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodes } from '../../../src/core/errors/app-error.ts';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { type Canaries, differences, fingerprint, plantCanaries } from './canaries.ts';
import { writes } from './corpus/statements.ts';
import { type HostileStatement, hostileStatements } from './hostile-statements.ts';
import { insideShown } from './inside-shown.ts';
import { MemoryWatch } from './memory-watch.ts';
import { respelled } from './spellings.ts';
import { askSql, type SqlAnswer, type SqlDoor, sqlDoors } from './sql-doors.ts';

const timeoutsMs = { ci: 500, release: 2000 } as const;
/** After this a statement that does not stop is killed with its process. */
const killMs = 1000;
/** Beyond it: the time that a new process takes to start, on a machine that does other work as well. */
const allowanceMs = { ci: 45_000, release: 2500 } as const;
const ordinaryMs = { ci: 45_000, release: 2000 } as const;
const memoryBytes = 250_000_000;
/** As docs/reference/sql.md says, and the pages of libraries and of shared memory, which the kernel counts apart. */
const workerBytes = memoryBytes + 2_000_000_000 + 300_000_000;
const serverBytes = 1_000_000_000;
const clients = 3;
const allDoors = Object.keys(sqlDoors) as SqlDoor[];
/** None of these may be the answer to any SQL while nothing is wrong with the machine. */
const neverAnswered = new Set(['internal', 'frame_damaged', 'storage_full', 'storage_read_only', 'overloaded']);
const answered = new Set<string>([...errorCodes, 'cut', 'left']);

/** S1: the corpus, through every door. */
export const hostileSql: Scenario = {
  id: 'S1',
  promise: 'hostile SQL reads no file, changes nothing, stays within its time and memory, and harms nobody else',
  rounds: { ci: 60, release: hostileStatements.length * allDoors.length * 2 },
  secondsPerRound: 0.5,
  async run({ rounds, size, random, progress }: Trial) {
    const timeoutMs = timeoutsMs[size];
    await using base = await temporaryDirectory();
    const at = (name: string): string => join(base.path, name);
    for (const name of ['home', 'temporary', 'outside', 'data']) await mkdir(at(name));
    await using server = await spawnFramehold({
      dataDir: at('data'),
      flags: ['--sql-timeout', `${timeoutMs}ms`, '--sql-memory', String(memoryBytes / 1e9), '--sql-workers', '3'],
      env: { HOME: at('home'), TMPDIR: at('temporary') },
    });
    await putFrames(server);
    const folders = ['outside', 'home', 'temporary', 'data', 'data/cold'].map(at);
    const canaries = await plantCanaries(server.url, folders, random);
    // What the server itself keeps: frames, and copies of them that come and go.
    const isOwn = (path: string): boolean => /^data\/(?:cache|warm|spill|cold\/(?!canary))/.test(path);
    const filesBefore = await fingerprint(base.path, isOwn);
    const workingDirectory = await readdir(process.cwd());
    const framesBefore = await framesOf(server);

    await checkReadingDoors(server, random, framesBefore);

    using watch = new MemoryWatch(server.pid);
    const counts = new Map<string, number>();
    let slowestMs = 0;
    let slowestOrdinaryMs = 0;
    const queue = drawn(rounds, random);
    const askOne = async ({ statement, door }: Asked, own: Random, scratch: string): Promise<void> => {
      const sql = canaries.aimed(respelled(statement.sql, own), { scratch, random: own });
      const answer = await askSql(server, door, sql, own);
      checkAnswer(answer, { sql, door, canaries, folder: base.path });
      const bound = timeoutMs + killMs + allowanceMs[size];
      promised(answer.ms < bound, `${door}: ${shown(sql)} is answered within ${bound} ms`, answer.ms);
      promised(!server.hasExited(), `the server goes on after ${shown(sql)}`, server.stderr().slice(-2000));
      counts.set(answer.code ?? 'rows', (counts.get(answer.code ?? 'rows') ?? 0) + 1);
      slowestMs = Math.max(slowestMs, answer.ms);
    };
    const keepAsking = async (client: number, own: Random): Promise<void> => {
      for (let count = 1; ; count++) {
        const next = queue.pop();
        if (next === undefined) return;
        await askOne(next, own, `scratch_${client}`);
        if (count % 10 !== 0) continue;
        const ordinary = await askOrdinary(server, ordinaryMs[size]);
        promised(ordinary < ordinaryMs[size], 'an ordinary query is answered at once', {
          ms: ordinary,
          after: shown(next.statement.sql),
        });
        slowestOrdinaryMs = Math.max(slowestOrdinaryMs, ordinary);
        if (queue.length % 100 < 10) progress(`${rounds - queue.length} statements`);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => keepAsking(client, random.fork())));

    const framesAfter = await framesOf(server);
    for (const [name, content] of framesBefore) {
      promised(framesAfter.get(name) === content, `the frame ${name} is as it was`);
    }
    const changed = differences(filesBefore, await fingerprint(base.path, isOwn));
    promised(changed.length === 0, 'no file but those of frames has changed', changed);
    const strange = (await readdir(process.cwd())).filter((name) => !workingDirectory.includes(name));
    promised(strange.length === 0, 'nothing was written where the server was started', strange);
    promised(!server.stderr().includes(canaries.secret), 'no secret is in the log');
    promised(watch.worker <= workerBytes, `a worker stays below ${workerBytes} bytes`, watch.worker);
    promised(watch.server <= serverBytes, `the server stays below ${serverBytes} bytes`, watch.server);
    return {
      statements: rounds,
      refused: (counts.get('sql_error') ?? 0) + (counts.get('sql_forbidden') ?? 0),
      'with rows': (counts.get('rows') ?? 0) + (counts.get('left') ?? 0),
      'stopped at the deadline': counts.get('sql_timeout') ?? 0,
      'out of memory': counts.get('sql_out_of_memory') ?? 0,
      'crashed workers': counts.get('engine_crashed') ?? 0,
      'slowest answer ms': Math.round(slowestMs),
      'slowest ordinary query ms': Math.round(slowestOrdinaryMs),
      'largest worker MB': Math.round(watch.worker / 1e6),
      'largest server MB': Math.round(watch.server / 1e6),
    };
  },
};

interface Asked {
  readonly statement: HostileStatement;
  readonly door: SqlDoor;
}

/** Each statement at one door, then at the others; once all pairs have been drawn, again with other spellings. */
function drawn(rounds: number, random: Random): Asked[] {
  const all: Asked[] = [];
  while (all.length < rounds) {
    const doorsOf = new Map(hostileStatements.map((statement) => [statement, shuffled(allDoors, random)]));
    for (let turn = 0; turn < allDoors.length; turn++) {
      for (const statement of shuffled(hostileStatements, random)) {
        all.push({ statement, door: doorsOf.get(statement)?.[turn] ?? 'post' });
      }
    }
  }
  return all.slice(0, rounds).reverse();
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const keyed = list.map((item) => [random.next(), item] as const);
  return keyed.sort(([one], [other]) => one - other).map(([, item]) => item);
}

interface Question {
  readonly sql: string;
  readonly door: SqlDoor;
  readonly canaries: Canaries;
  readonly folder: string;
}

function checkAnswer({ code, text }: SqlAnswer, { sql, door, canaries, folder }: Question): void {
  const what = `${door}: ${shown(sql)}`;
  promised(code === undefined || answered.has(code), `${what} has an answer that is documented`, {
    code,
    text: text.slice(0, 500),
  });
  promised(code === undefined || !neverAnswered.has(code), `${what} is no fault of the server`, {
    code,
    text: text.slice(0, 500),
  });
  promised(!text.includes(canaries.secret), `${what} shows no file`);
  // Errors repeat what was asked.
  const inside = insideShown(text.replaceAll(JSON.stringify(sql).slice(1, -1), ''), { folder, sql });
  promised(inside === undefined, `${what} tells nothing of the inside`, inside);
}

function shown(sql: string): string {
  return JSON.stringify(sql.length > 300 ? `${sql.slice(0, 300)}…` : sql);
}

async function putFrames({ url }: SpawnedFramehold): Promise<void> {
  const rows = Array.from({ length: 1000 }, (_, id) => `${id},${id / 4},S${id % 7}\n`).join('');
  for (const name of ['trades', 'bystander']) {
    const { status, text } = await ask(`${url}/imp?name=${name}&fmt=json`, {
      method: 'POST',
      body: `id,price,symbol\n${rows}`,
    });
    promised(status === 200, 'the frames can be put', text);
  }
}

/** The versions and rows of the frames that nobody may change. */
async function framesOf({ url }: SpawnedFramehold): Promise<Map<string, string>> {
  const frames = new Map<string, string>();
  for (const name of ['trades', 'bystander']) {
    const { headers, body } = await ask(`${url}/exp?handle=${name}&fmt=csv`);
    frames.set(name, `${headers.etag} ${createHash('sha256').update(body).digest('hex')}`);
  }
  return frames;
}

/** Which frames there are, in which versions. What they take may change: they are compressed again, and kept ready. */
async function handlesOf({ url }: SpawnedFramehold): Promise<string> {
  const { handles } = (await ask(`${url}/handles`)).json() as { handles: { handle: string; version: number }[] };
  return handles.map(({ handle, version }) => `${handle} ${version}`).join(', ');
}

/** Where only reading is allowed, no statement makes, changes or drops anything. */
async function checkReadingDoors(
  server: SpawnedFramehold,
  random: Random,
  framesBefore: ReadonlyMap<string, string>,
): Promise<void> {
  const handles = await handlesOf(server);
  for (const write of writes) {
    for (const door of allDoors.filter((each) => !sqlDoors[each].mayWrite)) {
      for (const target of ['trades', 'made_by_reading']) {
        const sql = write.replaceAll('@target', target);
        const { code, text } = await askSql(server, door, sql, random);
        promised(code !== undefined && answered.has(code), `${door} refuses ${shown(sql)}`, text.slice(0, 300));
      }
    }
  }
  promised((await handlesOf(server)) === handles, 'reading makes and drops no frame');
  const frames = await framesOf(server);
  for (const [name, content] of framesBefore) promised(frames.get(name) === content, `reading leaves ${name} alone`);
}

/** How long it took until it was answered. On a machine with much else to do its own deadline may come first. */
async function askOrdinary({ url }: SpawnedFramehold, withinMs: number): Promise<number> {
  const startedAt = performance.now();
  const body = JSON.stringify({ sql: 'select count(*) c, sum(id)::bigint s, max(symbol) m from bystander' });
  for (;;) {
    const answer = await ask(`${url}/sql`, { method: 'POST', body });
    const ms = performance.now() - startedAt;
    if (answer.status === 504 && ms < withinMs) continue;
    const rows = answer.status === 200 ? JSON.stringify(answer.json().dataset) : answer.text;
    promised(rows === '[[1000,499500,"S6"]]', 'an ordinary query gives what it should', rows);
    return ms;
  }
}
