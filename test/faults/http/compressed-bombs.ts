import { once } from 'node:events';
import { createGzip, gzipSync } from 'node:zlib';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Size, type Trial } from '../harness/scenario.ts';
import { checkAnswer } from './answer-promises.ts';
import { GrowthWatch, givesBack, heldBy, temporaryBytes, warmUp } from './held-resources.ts';

const maxBodyBytes = 20_000_000;
const unpackedBytes: Readonly<Record<Size, number>> = { ci: 100_000_000, release: 300_000_000 };
/** Of one bomb. Beside others the garbage of Node waits longer. */
const mostGrownBytes: Readonly<Record<Size, number>> = { ci: 200_000_000, release: 64_000_000 };
/** Of all together, one after the other: what they leave is garbage, which is taken away when there is enough of it. */
const mostLeftBytes = 200_000_000;

interface Bomb {
  readonly what: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly status: number;
}

/** I5: a few bytes that hold very many. */
export const compressedBombs: Scenario = {
  id: 'I5',
  promise: 'a body that unpacks to more than allowed is refused, and costs little memory and disk, which come back',
  rounds: { ci: 1, release: 20 },
  secondsPerRound: 60,
  async run({ rounds, size }: Trial) {
    const bombs = await makeBombs(unpackedBytes[size]);
    await using directory = await temporaryDirectory();
    const flags = ['--http-max-body', String(maxBodyBytes)];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    await warmUp(server);
    const before = heldBy(server, directory.path);
    using left = new GrowthWatch(server);
    let mostGrown = 0;
    let mostOnDisk = 0;
    const watch = setInterval(() => {
      mostOnDisk = Math.max(mostOnDisk, temporaryBytes(directory.path));
    }, 10);
    try {
      for (let round = 0; round < rounds; round++) {
        for (const bomb of bombs) {
          using growth = new GrowthWatch(server);
          await defuse(server, bomb, directory.path);
          mostGrown = Math.max(mostGrown, growth.mostBytes);
        }
      }
    } finally {
      clearInterval(watch);
    }
    promised(mostGrown < mostGrownBytes[size], `a bomb takes less than ${mostGrownBytes[size]} bytes`, mostGrown);
    promised(left.mostBytes < mostLeftBytes, `all of them leave less than ${mostLeftBytes} bytes`, left.mostBytes);
    promised(
      mostOnDisk < maxBodyBytes + 2_000_000,
      'what lies on the disk meanwhile is not more than a body may have',
      mostOnDisk,
    );
    await givesBack(server, directory.path, before, 10_000);
    promised((await ask(`${server.url}/handles`)).text === '{"handles":[],"next":null}', 'nothing was kept');
    return {
      bombs: rounds * bombs.length,
      'most of one MB': Math.round(mostGrown / 1e6),
      'grown MB': Math.round(left.mostBytes / 1e6),
      'on disk MB': Math.round(mostOnDisk / 1e6),
    };
  },
};

async function defuse({ url }: SpawnedFramehold, bomb: Bomb, dataDir: string): Promise<void> {
  const answer = await ask(`${url}${bomb.target}`, { method: 'POST', headers: bomb.headers, body: bomb.body });
  promised(answer.status === bomb.status, `${bomb.what} is answered ${bomb.status}`, answer.text.slice(0, 500));
  const headers = new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  checkAnswer({ status: answer.status, headers, body: answer.body, isWhole: true }, { dataDir });
}

async function makeBombs(unpacked: number): Promise<Bomb[]> {
  const gzip = await gzipOfRows(unpacked);
  const zstd = zstdOfZeros(unpacked);
  const imp = '/imp?name=bomb&format=csv';
  const form = { 'content-type': 'multipart/form-data; boundary=edge' };
  const part = (fields: string, body: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`--edge\r\nContent-Disposition: form-data; name="data"; filename="a.csv"\r\n${fields}\r\n`),
      body,
      Buffer.from('\r\n--edge--\r\n'),
    ]);
  return [
    { what: 'a gzip bomb', target: imp, headers: { 'content-encoding': 'gzip' }, body: gzip, status: 413 },
    { what: 'a gzip file', target: imp, headers: {}, body: gzip, status: 413 },
    {
      what: 'a gzip in a gzip',
      target: imp,
      headers: { 'content-encoding': 'gzip, gzip' },
      body: gzipSync(gzip),
      status: 413,
    },
    {
      what: 'a gzip file in a gzip',
      target: imp,
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(gzip),
      status: 413,
    },
    {
      what: 'a gzip file in two gzips',
      target: imp,
      headers: { 'content-encoding': 'gzip, gzip' },
      body: gzipSync(gzipSync(gzip)),
      status: 413,
    },
    { what: 'a zstd bomb', target: imp, headers: { 'content-encoding': 'zstd' }, body: zstd, status: 413 },
    {
      what: 'a zstd in a gzip',
      target: imp,
      headers: { 'content-encoding': 'zstd, gzip' },
      body: gzipSync(zstd),
      status: 413,
    },
    {
      what: 'a gzip in a form',
      target: imp,
      headers: form,
      body: part('Content-Encoding: gzip\r\n', gzip),
      status: 413,
    },
    { what: 'a gzip file in a form', target: imp, headers: form, body: part('', gzip), status: 413 },
    {
      what: 'a gzip of gzips',
      target: imp,
      headers: { 'content-encoding': 'gzip, gzip, gzip' },
      body: gzip,
      status: 400,
    },
    { what: 'a gzip to /sql', target: '/sql', headers: { 'content-encoding': 'gzip' }, body: gzip, status: 400 },
    { what: 'a zstd to /sql', target: '/sql', headers: { 'content-encoding': 'zstd' }, body: zstd, status: 400 },
    {
      what: 'a gzip to renew',
      target: '/handles/a/renew',
      headers: { 'content-encoding': 'gzip' },
      body: gzip,
      status: 400,
    },
  ];
}

async function gzipOfRows(bytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const pieces: Buffer[] = [];
  gzip.on('data', (piece: Buffer) => pieces.push(piece));
  const rows = Buffer.alloc(1_000_000, '1,2\n');
  for (let written = 0; written < bytes; written += rows.length) if (!gzip.write(rows)) await once(gzip, 'drain');
  gzip.end();
  await once(gzip, 'end');
  return Buffer.concat(pieces);
}

/** Blocks of one byte each, 128 KiB times. */
function zstdOfZeros(bytes: number): Buffer {
  const blocks = Math.ceil(bytes / 131_072);
  const block = (isLast: boolean): Buffer => {
    const header = Buffer.alloc(4);
    header.writeUIntLE((131_072 << 3) | 2 | Number(isLast), 0, 3);
    return header;
  };
  const all = Array.from({ length: blocks }, (_, index) => block(index === blocks - 1));
  return Buffer.concat([Buffer.from('28b52ffd0070', 'hex'), ...all]);
}
