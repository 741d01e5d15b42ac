import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ask } from '../../support/http-client.ts';
import { residentBytesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import {
  type MarkedRequest,
  type MarkedUpstream,
  markedAnswer,
  markedSql,
  startMarkedUpstream,
} from './marked-upstream.ts';
import { askMarked, type ToldAnswer } from './told-answer.ts';

const megabyte = 1024 * 1024;
const allowedGrowthBytes = 64 * megabyte;
/** So much is sent where nothing stops it. */
const boundlessBytes = 256 * megabyte;
const atOnce = 4;
const stallMs = 3000;

interface Bomb {
  readonly name: string;
  readonly head: string;
  /** Sent over and over until the connection is gone. */
  readonly piece: string;
  isTold(told: ToldAnswer): boolean;
  /** It lasts as long as the server waits in the middle of an answer. */
  readonly isLong?: boolean;
}

const isUnreachable = (told: ToldAnswer): boolean => told.kind === 'whole' && told.status === 502;
const isLate = (told: ToldAnswer): boolean => told.kind === 'whole' && told.status === 504;
const isCut = (told: ToldAnswer): boolean => told.kind === 'cut';
const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

const bombs: readonly Bomb[] = [
  { name: 'a header without end', head: 'HTTP/1.1 200 OK\r\nX: ', piece: 'x'.repeat(65_536), isTold: isUnreachable },
  { name: 'headers without end', head: 'HTTP/1.1 200 OK\r\n', piece: 'X: y\r\n'.repeat(10_000), isTold: isUnreachable },
  {
    name: 'a reason without end',
    head: 'HTTP/1.1 200 ',
    piece: 'x'.repeat(65_536),
    isTold: (told) => isUnreachable(told) || isLate(told),
  },
  { name: 'interim answers without end', head: '', piece: 'HTTP/1.1 103 X\r\n\r\n'.repeat(4000), isTold: isLate },
  { name: 'trailers without end', head: `${chunkedHead}0\r\n`, piece: 'X: y\r\n'.repeat(10_000), isTold: isCut },
  {
    name: 'a chunk extension without end',
    head: `${chunkedHead}5;`,
    piece: 'x'.repeat(65_536),
    isTold: isCut,
    isLong: true,
  },
];

/** U7: answers that would fill the memory if they were kept: heads without end, bombs, and readers that do not read. */
export const boundlessAnswers: Scenario = {
  id: 'U7',
  promise: 'an answer of the external database without bounds costs less than 64 MB of memory',
  rounds: { ci: 1, release: 20 },
  secondsPerRound: 60,
  async run({ rounds, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const behaviours = new Map<number, (request: MarkedRequest) => unknown>();
    await using upstream = await startMarkedUpstream((request) => behaviours.get(request.marker)?.(request));
    const flags = ['--tsdb-http-url', upstream.url, '--tsdb-timeout', '2s', '--http-stall-timeout', `${stallMs}ms`];
    await using server = await spawnFramehold({ dataDir: directory.path, flags, mayStandStill: true });
    behaviours.set(1, ({ send }) => send(markedAnswer(1)));
    for (let i = 0; i < 200; i++) await askMarked(server.url, 1);
    let mostGrownBytes = 0;

    for (let round = 0; round < rounds; round++) {
      for (const bomb of bombs) {
        if (bomb.isLong && size !== 'release') continue;
        behaviours.set(2, (request) => throwAt(request, bomb));
        const grown = await growthOf(server, async () => {
          const told = await Promise.all(Array.from({ length: atOnce }, () => askMarked(server.url, 2)));
          promised(told.every(bomb.isTold), `${bomb.name} is told as it is`, told.map(shown));
        });
        check(bomb.name, grown);
      }
      const zeros = gzipSync(Buffer.alloc(300 * megabyte));
      behaviours.set(3, ({ send }) => {
        const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zeros.length}\r\n\r\n`;
        return send(Buffer.concat([Buffer.from(head), zeros]));
      });
      for (const headers of [{ 'accept-encoding': 'gzip' }, {}]) {
        const grown = await growthOf(server, async () => {
          const told = await askMarked(server.url, 3, { headers });
          promised(
            told.kind === 'whole' && told.body.equals(zeros),
            'a gzip bomb passes as the bytes that came',
            shown(told),
          );
        });
        check('a gzip bomb', grown);
      }
      let sentBytes = 0;
      behaviours.set(4, async (request) => {
        await request.send(`HTTP/1.1 200 OK\r\nContent-Length: ${boundlessBytes}\r\n\r\n`);
        sentBytes = await sendOverAndOver(request, Buffer.alloc(65_536));
      });
      const grown = await growthOf(server, () => ignoreAnswer(server, 4, upstream));
      check('a reader that does not read', grown);
      promised(sentBytes < boundlessBytes / 2, 'a reader that does not read holds the upstream back', sentBytes);
      progress(`round ${round + 1}: ${Math.round(mostGrownBytes / megabyte)} MB`);
    }
    await until('no connection to the upstream is left', 5000, () => upstream.open === 0);
    return { rounds, bombs: bombs.length + 3, 'most growth MB': Math.round(mostGrownBytes / megabyte) };

    function check(name: string, grownBytes: number): void {
      promised(grownBytes < allowedGrowthBytes, `${name} costs less than 64 MB`, grownBytes / megabyte);
      mostGrownBytes = Math.max(mostGrownBytes, grownBytes);
    }
  },
};

async function throwAt(request: MarkedRequest, { head, piece }: Bomb): Promise<void> {
  await request.send(head);
  await sendOverAndOver(request, Buffer.from(piece));
}

async function sendOverAndOver({ socket, send }: MarkedRequest, piece: Buffer): Promise<number> {
  let sent = 0;
  while (!socket.destroyed && sent < boundlessBytes) {
    await send(piece);
    sent += piece.length;
  }
  return sent;
}

/** How much more memory the server and its children took at most, while the task ran, than before it. */
/** Of the process that answers: workers take no part in this, and may still be starting. */
async function growthOf(server: SpawnedFramehold, task: () => Promise<void>): Promise<number> {
  const resident = (): number => residentBytesOf(server.pid);
  const before = resident();
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, resident());
  }, 50);
  try {
    await task();
  } finally {
    clearInterval(sampling);
  }
  promised((await ask(`${server.url}/ping`)).status === 200, 'the server serves on', server.stderr().slice(-500));
  return Math.max(most, resident()) - before;
}

/** Asks and takes nothing, until the server has let go of the upstream. */
async function ignoreAnswer(server: SpawnedFramehold, marker: number, upstream: MarkedUpstream): Promise<void> {
  const query = new URLSearchParams({ query: markedSql(marker), fmt: 'json' });
  const request = get(`${server.url}/exec?${query}`, { agent: false });
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {}).pause();
  await until('a reader that does not read is cut off', 4 * stallMs, () => upstream.open === 0);
  request.destroy();
}

function shown(told: ToldAnswer): unknown {
  return told.kind === 'cut' ? told : { status: told.status, ms: told.ms, body: String(told.body.subarray(0, 200)) };
}
