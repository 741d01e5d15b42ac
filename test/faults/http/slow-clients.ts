import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { settledCompression } from '../disk/stored-frames.ts';
import { promised, type Scenario, type Size, type Trial } from '../harness/scenario.ts';
import { givesBack, heldBy, warmUp } from './held-resources.ts';

/** What an operator sets; at a release the defaults but for the stall, which is 30 s. */
const timeouts: Readonly<Record<Size, { headerMs: number; stallMs: number; requestMs: number }>> = {
  ci: { headerMs: 1500, stallMs: 1500, requestMs: 2500 },
  release: { headerMs: 10_000, stallMs: 12_000, requestMs: 14_000 },
};
/** Node looks every second, and a busy machine is late. */
const lateMs = 4000;
/** How long the rest of a body may take to come behind an answer. */
const restMs = 5000;
const mostPingMs: Readonly<Record<Size, number>> = { ci: 2000, release: 50 };

/** Several times what the kernel buffers for a reader. */
const bigBytes = 40_000_000;

interface SlowKind {
  readonly what: string;
  readonly begin: string;
  /** Said again and again, once a second. */
  readonly drip: string;
  /** Takes nothing of what it is sent. */
  readonly isDeaf?: boolean;
  readonly limit: 'headerMs' | 'stallMs' | 'requestMs';
}

const post = (target: string): string => `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n`;

const kinds: readonly SlowKind[] = [
  { what: 'silence', begin: '', drip: '', limit: 'headerMs' },
  { what: 'empty lines', begin: '\r\n', drip: '\r\n', limit: 'headerMs' },
  { what: 'a slow request line', begin: 'G', drip: 'E', limit: 'headerMs' },
  { what: 'slow headers', begin: 'GET /ping HTTP/1.1\r\nHost: localhost\r\nX: ', drip: 'x', limit: 'headerMs' },
  {
    what: 'slow headers of a second request',
    begin: 'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\nG',
    drip: 'E',
    limit: 'headerMs',
  },
  { what: 'an upload that stops', begin: `${post('/imp?name=slow&format=csv')}a,b\n`, drip: '', limit: 'stallMs' },
  {
    what: 'a form that stops',
    begin: `${post('/imp?name=slow').replace('Host', 'Content-Type: multipart/form-data; boundary=e\r\nHost')}--e\r\n`,
    drip: '',
    limit: 'stallMs',
  },
  { what: 'a statement that stops', begin: `${post('/sql')}{"sql":`, drip: '', limit: 'stallMs' },
  { what: 'a slow statement', begin: `${post('/sql')}{"sql":"`, drip: 'x', limit: 'requestMs' },
  { what: 'a slow renewal', begin: `${post('/handles/a/renew')}{"ttl":"`, drip: 'x', limit: 'requestMs' },
  { what: 'a slow body that nobody reads', begin: `${post('/ping')}a`, drip: 'x', limit: 'requestMs' },
  {
    what: 'a reader that takes nothing',
    begin: 'GET /exp?handle=big&fmt=csv HTTP/1.1\r\nHost: localhost\r\n\r\n',
    drip: '',
    isDeaf: true,
    limit: 'stallMs',
  },
];

/** I4: clients that take their time, many at once. */
export const slowClients: Scenario = {
  id: 'I4',
  promise: 'slow and silent clients are cut off within the time-outs, and hinder nobody',
  rounds: { ci: 90, release: 1900 },
  secondsPerRound: 0.3,
  async run({ rounds, size }: Trial) {
    await using directory = await temporaryDirectory();
    const { headerMs, stallMs, requestMs } = timeouts[size];
    const flags = [
      ...['--http-header-timeout', `${headerMs}ms`, '--http-stall-timeout', `${stallMs}ms`],
      ...['--http-request-timeout', `${requestMs}ms`, '--http-max-concurrent-requests', '4000'],
      ...settledCompression,
    ];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    await putBig(server);
    await warmUp(server);
    const before = heldBy(server, directory.path);
    const lateness = Array.from({ length: rounds }, (_, n) =>
      closedAfterMs(server, kinds[n % kinds.length] as SlowKind, size),
    );
    const all = Promise.all(lateness);
    const pings = await pingUntil(server, all);
    const slowest = Math.max(...(await all));
    const p99 = pings[Math.floor(pings.length * 0.99)] ?? 0;
    promised(p99 < mostPingMs[size], `99 of 100 pings meanwhile take less than ${mostPingMs[size]} ms`, p99);
    await givesBack(server, directory.path, before, 15_000);
    promised((await ask(`${server.url}/handles/slow`)).status === 404, 'nothing half was kept');
    return {
      sockets: rounds,
      'slowest cut ms': Math.round(slowest),
      pings: pings.length,
      'ping p99 ms': Math.round(p99),
    };
  },
};

async function putBig({ url }: SpawnedFramehold): Promise<void> {
  const sql = `select range as id, repeat('x', 200) as text from range(${bigBytes / 200})`;
  const answer = await ask(`${url}/sql`, { method: 'POST', body: JSON.stringify({ sql, keep: { handle: 'big' } }) });
  promised(answer.status === 200, 'the large frame can be put', answer.text);
}

async function closedAfterMs(server: SpawnedFramehold, kind: SlowKind, size: Size): Promise<number> {
  const { hostname, port } = new URL(server.url);
  const limitMs = timeouts[size][kind.limit] + lateMs + (kind.begin.startsWith('POST') ? restMs : 0);
  const startedAt = performance.now();
  const socket = connect(Number(port), hostname);
  let heardBytes = 0;
  socket.on('error', () => {});
  socket.on('data', (piece: Buffer) => {
    heardBytes += piece.length;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const drip = setInterval(() => socket.write(kind.drip), 1000);
  if (kind.drip === '') clearInterval(drip);
  try {
    socket.write(kind.begin);
    if (kind.isDeaf) {
      // Who reads nothing does not see the end either: it reads when it should be there.
      socket.pause();
      await delay(limitMs);
      socket.resume();
    }
    const outcome = await Promise.race([closed, delay(limitMs, 'late' as const, { ref: false })]);
    promised(outcome !== 'late', `${kind.what} is cut off within ${limitMs} ms`);
    promised(heardBytes < bigBytes / 2, `${kind.what} does not get all of its answer`, heardBytes);
    return kind.isDeaf ? 0 : performance.now() - startedAt;
  } finally {
    clearInterval(drip);
    socket.destroy();
  }
}

async function pingUntil({ url }: SpawnedFramehold, done: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  done.then(over, over);
  const ms: number[] = [];
  while (!isOver) {
    const startedAt = performance.now();
    promised((await ask(`${url}/ping`)).text === 'ok', 'pings are answered');
    ms.push(performance.now() - startedAt);
    await delay(10);
  }
  return ms.sort((one, other) => one - other);
}
