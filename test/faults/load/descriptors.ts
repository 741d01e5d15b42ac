import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { childrenOf, openFilesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf } from '../harness/doors.ts';
import { Ledger, type Operation, type Outcome, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { rowsWritten } from '../harness/written-rows.ts';
import { Connection, type Reply } from './connection.ts';

const handles = ['a', 'b', 'c'];
const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'drop'];
/** What a server without descriptors may say; anything else is a mistake of ours. */
const refusals: ReadonlySet<unknown> = new Set([
  'overloaded',
  'engine_crashed',
  'handle_exists',
  'handle_gone',
  'handle_not_found',
]);
const recoveryMs = 5000;

/** L4: room for a few descriptors or none, while clients that are connected go on, and others knock. */
export const descriptors: Scenario = {
  id: 'L4',
  promise: 'without free file descriptors the server refuses, loses nothing, and recovers when there are some again',
  rounds: { ci: 2, release: 300 },
  secondsPerRound: 5,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const ledger = new Ledger();
    let refusedConnections = 0;
    let slowestRecoveryMs = 0;
    {
      await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--cache-size', '0'] });
      for (let round = 0; round < rounds; round++) {
        using client = new Connection(server.url);
        promised((await client.sql('select 1')).status === 200, 'SQL works before');
        // Somewhere between the first descriptor that a write needs and the last.
        limitFiles(server.pid, openFilesOf(server.pid) + random.between(0, 8));
        const crowd = await knock(server, random.chance(0.3) ? 30 : 0);
        refusedConnections += crowd.refused;
        if (random.chance(0.15)) killOneChild(server, random);
        let isBusy = true;
        const passing = comeAndGo(server, () => isBusy);
        try {
          for (let n = 0; n < 4; n++) {
            const operation = { handle: random.pick(handles), verb: random.pick(verbs), n: round * 4 + n + 1 };
            await writeAndRead(client, ledger, operation);
          }
        } finally {
          isBusy = false;
        }
        await passing;
        for (const socket of crowd.sockets) socket.destroy();
        limitFiles(server.pid, 4096);
        slowestRecoveryMs = Math.max(slowestRecoveryMs, await recovers(server));
        await checkAll(server, ledger);
        if (round % 20 === 19)
          progress(`${round + 1} rounds, ${ledger.acknowledged} acknowledged, ${ledger.refused} refused`);
      }
    }
    await using server = await spawnFramehold({ dataDir: directory.path });
    await checkAll(server, ledger);
    promised(ledger.acknowledged > 0 && ledger.refused > 0, 'some writes were kept and some refused', { ...ledger });
    return {
      acks: ledger.acknowledged,
      refused: ledger.refused,
      unanswered: ledger.unknown,
      'refused connections': refusedConnections,
      'slowest recovery ms': Math.round(slowestRecoveryMs),
    };
  },
};

async function writeAndRead(client: Connection, ledger: Ledger, operation: Operation): Promise<void> {
  ledger.note(operation, await write(client, operation));
  const read = await heard(client.ask(`/exec?handle=${operation.handle}&fmt=json&limit=1,`));
  promised(read === undefined || isForeseen(read), 'a read is answered or refused', read?.text.slice(0, 500));
  const sql = await heard(client.sql('select 42 as n'));
  promised(sql === undefined || isForeseen(sql), 'SQL is answered or refused', sql?.text.slice(0, 500));
}

async function write(client: Connection, { handle, verb, n }: Operation): Promise<Outcome> {
  const body = rowsWritten(n).map((row) => `${JSON.stringify(row)}\n`);
  const mode = verb === 'create' ? '' : `&${verb}=true`;
  const reply = await heard(
    verb === 'drop'
      ? client.ask(`/handles/${handle}`, { method: 'DELETE' })
      : client.ask(`/imp?name=${handle}&fmt=json&format=ndjson${mode}`, { method: 'POST', body: body.join('') }),
  );
  if (reply === undefined) return 'unknown';
  if (reply.status < 300) return 'acknowledged';
  promised(refusals.has(codeOf(reply)), `${verb} is done or refused`, reply.text.slice(0, 500));
  return 'refused';
}

/** A client that has to connect anew may find no room; then it is cut off without an answer. */
async function heard(asked: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await asked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') return undefined;
    throw error;
  }
}

function isForeseen(reply: Reply): boolean {
  return reply.status === 200 || refusals.has(codeOf(reply));
}

function codeOf({ text }: Reply): unknown {
  return (JSON.parse(text) as { code?: unknown }).code;
}

/** Connections that come and stay. None of them may wait for an answer that never comes. */
async function knock({ url }: SpawnedFramehold, count: number): Promise<{ sockets: Socket[]; refused: number }> {
  const { hostname, port } = new URL(url);
  let refused = 0;
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => {});
      socket.write('GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n');
      const isAnswered = await new Promise<boolean>((resolve) => {
        socket.once('data', () => resolve(true)).once('close', () => resolve(false));
      });
      if (!isAnswered) refused++;
    }),
  );
  return { sockets, refused };
}

/** Takes the descriptors that are left and gives them back, so that any moment may be the one without. */
async function comeAndGo(server: SpawnedFramehold, goesOn: () => boolean): Promise<void> {
  while (goesOn()) for (const socket of (await knock(server, 4)).sockets) socket.destroy();
}

function killOneChild({ pid }: SpawnedFramehold, random: Random): void {
  const children = childrenOf(pid);
  if (children.length > 0) process.kill(random.pick(children), 'SIGKILL');
}

function limitFiles(pid: number, files: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
}

function recovers(server: SpawnedFramehold): Promise<number> {
  return until(
    'everything works again once there are descriptors',
    recoveryMs,
    async () => {
      promised(!server.hasExited(), 'the server stays', server.stderr().slice(-2000));
      using client = new Connection(server.url);
      const replies = await Promise.all([client.ask('/ping'), client.sql('select 1')]).catch(() => []);
      return replies.length === 2 && replies.every(({ status }) => status === 200);
    },
    () => server.stderr().slice(-1000),
  );
}

async function checkAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
}
