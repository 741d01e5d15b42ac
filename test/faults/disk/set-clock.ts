import { copyFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { becomes } from './private-files.ts';

const preload = new URL('./shifted-clock.mjs', import.meta.url).href;
const [secondMs, dayMs] = [1000, 86_400_000];
const ttlMs = 2 * secondMs;
/** Long enough that a busy machine does not let the frame expire between two lines of ours. */
const longTtlMs = 3600 * secondMs;

/** C1: somebody sets the system's clock, while the server runs and between two starts. */
export const setClock: Scenario = {
  id: 'C1',
  promise: 'a clock that is set, back or forward, neither ends a frame early nor keeps it for ever nor brings it back',
  rounds: { ci: 1, release: 60 },
  secondsPerRound: 60,
  async run({ rounds, random }: Trial) {
    let slowestExpiryMs = 0;
    for (let round = 0; round < rounds; round++) {
      await using directory = await temporaryDirectory();
      const clock = clockIn(directory.path);
      {
        await using server = await clock.start();
        await put(server, 'short', ttlMs);
        await put(server, 'long', longTtlMs);
        const jumpMs = random.pick([-1, 1]) * jump(random);
        const setAt = performance.now();
        clock.set(jumpMs);
        promised((await statusOf(server, 'long')) === 200, `a jump of ${jumpMs} ms ends nothing early`);
        await becomes('a frame expires in its time whatever the clock says', async () => {
          return (await statusOf(server, 'short')) === 410;
        });
        slowestExpiryMs = Math.max(slowestExpiryMs, performance.now() - setAt);
        await takesFilesFromOutside(server, directory.path);
        await put(server, 'later', longTtlMs);
        promised((await read(server, 'later')) === 200, 'frames are put and read after the jump');
      }
      await startsAgain(clock, random);
    }
    return { jumps: 3 * rounds, 'slowest expiry of 2 s in ms': Math.round(slowestExpiryMs) };
  },
};

function jump(random: Random): number {
  return Math.round(10 ** (random.next() * 5) * random.pick([secondMs, dayMs / 24]));
}

interface Clock {
  set(offsetMs: number): void;
  start(): Promise<SpawnedFramehold>;
  readonly nowMs: () => number;
}

function clockIn(dataDir: string): Clock {
  const file = join(dataDir, 'clock');
  let offset = 0;
  const set = (offsetMs: number): void => {
    offset = offsetMs;
    writeFileSync(`${file}.new`, String(offsetMs));
    renameSync(`${file}.new`, file);
  };
  set(0);
  const env = { NODE_OPTIONS: `--import=${preload}`, SHIFTED_CLOCK_FILE: file };
  return { set, start: () => spawnFramehold({ dataDir, env }), nowMs: () => Date.now() + offset };
}

/** The time to live begins anew with a start, by whatever clock; what has expired stays gone. */
async function startsAgain(clock: Clock, random: Random): Promise<void> {
  for (const direction of [-1, 1]) {
    // Forward by less than a tombstone lives.
    clock.set(direction * Math.min(jump(random), direction > 0 ? 29 * dayMs : Infinity));
    await using server = await clock.start();
    const expired = await ask(`${server.url}/handles/short`);
    promised(expired.status === 410, 'what has expired stays gone in another time', [clock.nowMs(), expired.text]);
    const answer = await ask(`${server.url}/handles/long`);
    const { expires, ttl } = answer.json() as { expires: string; ttl: number };
    const leftMs = Date.parse(expires) - clock.nowMs();
    const isSensible = leftMs > longTtlMs - 60_000 && leftMs <= longTtlMs + secondMs && ttl === longTtlMs / 1000;
    promised(isSensible, 'after a start the whole time to live lies ahead', { expires, ttl, leftMs });
    promised((await read(server, 'long')) === 200, 'and the frame is read');
  }
  clock.set(400 * dayMs);
  await using server = await clock.start();
  promised([404, 410].includes(await statusOf(server, 'short')), 'what is forgotten does not come back');
}

/** A file whose time lies in the server's future, or in its far past, is still taken in. */
async function takesFilesFromOutside(server: SpawnedFramehold, dataDir: string): Promise<void> {
  const cold = join(dataDir, 'cold');
  copyFileSync(join(cold, 'long.parquet'), join(cold, '.copy'));
  renameSync(join(cold, '.copy'), join(cold, 'outside.parquet'));
  await becomes('a file from outside is taken in', async () => (await read(server, 'outside')) === 200);
}

async function put({ url }: SpawnedFramehold, handle: string, timeToLiveMs: number): Promise<void> {
  const answer = await ask(`${url}/imp?name=${handle}&ttl=${timeToLiveMs}ms`, { method: 'POST', body: 'a\n1\n' });
  promised(answer.status === 200, 'a frame with a time to live is put', answer.text);
}

/** Without reading, which would let the frame live on. */
async function statusOf({ url }: SpawnedFramehold, handle: string): Promise<number> {
  return (await ask(`${url}/handles/${handle}`)).status;
}

async function read({ url }: SpawnedFramehold, handle: string): Promise<number> {
  return (await ask(`${url}/exec?handle=${handle}&fmt=json`)).status;
}
