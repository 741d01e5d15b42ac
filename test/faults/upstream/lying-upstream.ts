import { once } from 'node:events';
import { Agent } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { openFilesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { drawLie, type Lie } from './lies.ts';
import { markedAnswer, startMarkedUpstream } from './marked-upstream.ts';
import { askMarked, codeOf, type ToldAnswer } from './told-answer.ts';

const timeoutMs = 3000;
/** Of the server; not a setting. Its clock is coarse, and slower on a busy machine. */
const silenceMs = 15_000;
const slowestSilenceMs = 2 * silenceMs;
const marginMs = 1000;
const clients = 24;

const ourHeaders = new Set(
  'x-request-id x-content-type-options content-type content-length content-encoding content-disposition cache-control date connection keep-alive transfer-encoding'.split(
    ' ',
  ),
);

/** U2: many clients at once ask for statements, each of which the upstream answers with another lie. */
export const lyingUpstream: Scenario = {
  id: 'U2',
  promise: 'whatever the external database answers, a client gets all of it, a documented error, or a cut connection',
  rounds: { ci: 60, release: 20_000 },
  secondsPerRound: 1,
  async run({ rounds, random, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using canary = await startCanary();
    const lies = new Map<number, Lie>();
    await using upstream = await startMarkedUpstream((request) =>
      lies
        .get(request.marker)
        ?.tell(request)
        .catch(() => {}),
    );
    const flags = ['--tsdb-http-url', upstream.url, '--tsdb-timeout', `${timeoutMs}ms`];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    lies.set(0, { name: 'none', promised: { kind: 'late' }, tell: ({ send }) => send(markedAnswer(0)) });
    await askMarked(server.url, 0);
    const openFiles = openFilesOf(server.pid);

    // On a busy machine the clock of the harness itself is late.
    const patienceMs = size === 'release' ? marginMs : 4 * marginMs;
    let next = 1;
    const counts = { passed: 0, unreachable: 0, late: 0, cut: 0 };
    let slowestMs = 0;
    const agent = new Agent({ keepAlive: true });
    const client = async (own: Random): Promise<void> => {
      while (next <= rounds) {
        const marker = next++;
        const lie = drawLie({ marker, random: own, canaryUrl: canary.url, timeoutMs });
        lies.set(marker, lie);
        const told = await askMarked(server.url, marker, {
          // A client that keeps its connection sees whatever is too much on it.
          agent: own.chance(0.7) ? agent : undefined,
          door: own.pick(['exec', 'exec', 'exp']),
          headers: own.chance(0.2) ? { 'statement-timeout': '1000' } : {},
        });
        lies.delete(marker);
        if (lie.name !== 'silence in the middle') slowestMs = Math.max(slowestMs, told.ms);
        judge(lie, told, patienceMs, server);
        counts[lie.promised.kind]++;
        promised(upstream.arrivals.get(marker) === 1, 'every statement arrives once', [lie.name, marker]);
        if (marker % 1000 === 0) progress(`${marker} lies`);
      }
    };
    await Promise.all(Array.from({ length: clients }, () => client(random.fork())));
    agent.destroy();

    promised(canary.contacts() === 0, 'no redirect is ever followed', canary.contacts());
    await until('no connection to the upstream is left', 5000, () => upstream.open === 0);
    // Bytes on a connection that nobody uses: it must go, and not wait for the next client.
    lies.set(0, {
      name: 'poison for the next client',
      promised: { kind: 'late' },
      async tell({ send }) {
        await send(markedAnswer(0));
        await delay(50);
        await send(markedAnswer(-1));
      },
    });
    await askMarked(server.url, 0);
    await until('a connection with bytes that nobody asked for is closed', 1500, () => upstream.open === 0);
    await until('files and sockets are as before', 5000, () => openFilesOf(server.pid) <= openFiles + 2);
    lies.set(0, { name: 'none', promised: { kind: 'late' }, tell: ({ send }) => send(markedAnswer(0)) });
    const last = await askMarked(server.url, 0);
    const isRight = last.kind === 'whole' && String(last.body) === JSON.stringify({ marker: 0 });
    promised(isRight, 'the server serves on', last);
    return { lies: rounds, ...counts, 'slowest answer ms': Math.round(slowestMs), 'followed redirects': 0 };
  },
};

function judge(lie: Lie, told: ToldAnswer, patienceMs: number, server: SpawnedFramehold): void {
  const { promised: due } = lie;
  const found = (): unknown => ({
    ...told,
    ...(told.kind === 'whole' && { body: `${told.body.length} bytes: ${told.body.subarray(0, 300)}` }),
    log: server.stderr().slice(-600),
  });
  promised(!server.hasExited(), `the server survives ${lie.name}`, found());
  const allowedMs = (due.kind === 'cut' && due.afterSilence ? slowestSilenceMs : timeoutMs) + patienceMs;
  promised(told.ms < allowedMs, `${lie.name} takes less than ${allowedMs} ms`, found());
  if (told.kind === 'whole') {
    const foreign = Object.keys(told.headers).filter((name) => !ourHeaders.has(name));
    promised(
      foreign.every((name) => name === 'retry-after'),
      `${lie.name} brings no headers of the upstream`,
      foreign,
    );
    promised(told.headers['x-request-id'] !== 'theirs', `${lie.name} does not name our requests`);
  }
  switch (due.kind) {
    case 'passed': {
      const isPassed =
        told.kind === 'whole' &&
        told.status === due.status &&
        told.headers['content-type'] === due.contentType &&
        told.body.equals(Buffer.from(due.body, 'latin1'));
      promised(isPassed, `${lie.name} passes as it is`, found());
      return;
    }
    case 'unreachable':
      promised(isError(told, 502, 'tsdb_unreachable'), `${lie.name} is 502`, found());
      promised(told.headers['retry-after'] === undefined, `${lie.name} does not invite to repeat a statement`, found());
      return;
    case 'late':
      promised(isError(told, 504, 'tsdb_timeout'), `${lie.name} is 504`, found());
      return;
    case 'cut':
      promised(told.kind === 'cut' || isError(told, 502, 'tsdb_unreachable'), `${lie.name} is cut off`, found());
      return;
    default:
      due satisfies never;
  }
}

function isError(told: ToldAnswer, status: number, code: string): told is ToldAnswer & { kind: 'whole' } {
  return told.kind === 'whole' && told.status === status && codeOf(told) === code;
}

async function startCanary(): Promise<{ url: string; contacts(): number } & AsyncDisposable> {
  let contacts = 0;
  const server = createServer((socket) => {
    contacts++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    contacts: () => contacts,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}
