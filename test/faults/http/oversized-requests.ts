import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Size, type Trial } from '../harness/scenario.ts';
import { checkAnswer } from './answer-promises.ts';
import { GrowthWatch, givesBack, heldBy, warmUp } from './held-resources.ts';
import { parseAnswers } from './parsed-answers.ts';

const maxBodyBytes = 32_000_000;
const withinMs: Readonly<Record<Size, number>> = { ci: 3000, release: 100 };
/** Beside others the garbage of Node waits longer. */
const mostGrownBytes: Readonly<Record<Size, number>> = { ci: 6 * maxBodyBytes, release: 2 * maxBodyBytes };

interface Oversized {
  readonly what: string;
  readonly status: number;
  readonly head: string;
  /** Follows the head, a piece at a time, until the answer comes. */
  readonly piece: Buffer;
  readonly pieces: number;
  /** The answer cannot come before so many bytes have. */
  readonly isJudgedByContent: boolean;
}

const mebibyte = Buffer.alloc(1024 * 1024, 'a');
const chunk = Buffer.concat([Buffer.from(`${mebibyte.length.toString(16)}\r\n`), mebibyte, Buffer.from('\r\n')]);
const none = Buffer.alloc(0);
const post = (target: string, fields: string): string =>
  `POST ${target} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n\r\n`;
const lengthOf = (bytes: number): string => `Content-Length: ${bytes}`;

const oversized: readonly Oversized[] = [
  {
    what: 'a URL of 10 MB',
    status: 431,
    head: 'GET /exec?query=',
    piece: mebibyte,
    pieces: 10,
    isJudgedByContent: false,
  },
  {
    what: 'a header of 17 KB',
    status: 431,
    head: `GET /ping HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`,
    piece: none,
    pieces: 0,
    isJudgedByContent: false,
  },
  {
    what: '2,001 headers',
    status: 431,
    head: `GET /ping HTTP/1.1\r\nHost: localhost\r\n${'a:b\r\n'.repeat(2000)}\r\n`,
    piece: none,
    pieces: 0,
    isJudgedByContent: false,
  },
  ...['/imp?name=big', '/sql', '/handles/a/renew', '/ping', '/nosuch'].map((target) => ({
    what: `a body over http.max_body to ${target}`,
    status: 413,
    head: post(target, lengthOf(3 * maxBodyBytes)),
    piece: mebibyte,
    pieces: 90,
    isJudgedByContent: false,
  })),
  ...['/imp?name=big&format=csv', '/sql', '/handles/a/renew'].map((target) => ({
    what: `chunks over http.max_body to ${target}`,
    status: 413,
    head: post(target, 'Transfer-Encoding: chunked'),
    piece: chunk,
    pieces: 90,
    isJudgedByContent: true,
  })),
  {
    what: 'one chunk that says it has 15 GB',
    status: 413,
    head: `${post('/imp?name=big&format=csv', 'Transfer-Encoding: chunked')}380000000\r\n`,
    piece: mebibyte,
    pieces: 90,
    isJudgedByContent: true,
  },
];

/** I3: requests larger than they may be. */
export const oversizedRequests: Scenario = {
  id: 'I3',
  promise: 'a URL, headers or a body larger than allowed are refused at once, and cost little memory',
  rounds: { ci: 1, release: 20 },
  secondsPerRound: 60,
  async run({ rounds, size }: Trial) {
    await using directory = await temporaryDirectory();
    const flags = ['--http-max-body', String(maxBodyBytes)];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    await warmUp(server);
    const before = heldBy(server, directory.path);
    // The first of each makes the server itself larger, whatever it is refused for.
    for (const each of oversized) await refusalMs(server, each, directory.path);
    using growth = new GrowthWatch(server);
    let slowestMs = 0;
    for (let round = 0; round < rounds; round++) {
      for (const each of oversized) {
        const ms = await refusalMs(server, each, directory.path);
        if (!each.isJudgedByContent) slowestMs = Math.max(slowestMs, ms);
        promised(each.isJudgedByContent || ms < withinMs[size], `${each.what} is refused in ${withinMs[size]} ms`, ms);
      }
    }
    const mostGrown = growth.mostBytes;
    promised(mostGrown < mostGrownBytes[size], `memory grows by less than ${mostGrownBytes[size]} bytes`, mostGrown);
    await givesBack(server, directory.path, before, 15_000);
    promised((await ask(`${server.url}/handles`)).text === '{"handles":[],"next":null}', 'nothing was kept');
    return {
      refusals: rounds * oversized.length,
      'slowest ms': Math.round(slowestMs),
      'grown MB': Math.round(mostGrown / 1e6),
    };
  },
};

/** From the last byte that the answer needs to its first one. */
async function refusalMs(server: SpawnedFramehold, each: Oversized, dataDir: string): Promise<number> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let heard = none;
  socket.on('error', () => {});
  socket.on('data', (piece: Buffer) => {
    heard = Buffer.concat([heard, piece]);
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  try {
    const startedAt = performance.now();
    socket.write(each.head);
    for (let sent = 0; sent < each.pieces && heard.length === 0 && !socket.destroyed; sent++)
      await taken(socket, each.piece);
    const deadline = performance.now() + 20_000;
    while (!heard.includes('\r\n\r\n') && !socket.destroyed && performance.now() < deadline) await delay(1);
    const ms = performance.now() - startedAt;
    const [answer] = parseAnswers(heard, []);
    promised(answer?.status === each.status, `${each.what} is answered ${each.status}`, answer?.status ?? 'nothing');
    checkAnswer(answer, { dataDir });
    return ms;
  } finally {
    socket.destroy();
    await closed;
  }
}

/** Resolves when the kernel has it, or has no more use for it. */
function taken(socket: Socket, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('data', done);
      resolve();
    };
    socket.once('data', done);
    socket.write(piece, done);
  });
}
