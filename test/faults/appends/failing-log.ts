import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { childrenOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { type SmallDisk, smallDisk } from '../disk/small-disk.ts';
import { injectFault } from '../harness/injected-fault.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { AppendClient, appendDoors } from './append-client.ts';
import { AppendLedger } from './append-ledger.ts';
import { makeFrame } from './append-load.ts';
import { Follower } from './follower.ts';

const pageBytes = 4096;
const flushesToMerge = 45;
const appendsInLittleRoom = 16;

/** G3: the disk runs full, or fails, under the log and under a flush. */
export const failingLog: Scenario = {
  id: 'G3',
  promise:
    'an append that finds the disk full or failing is refused and never appears; earlier rows stay, later ones work again',
  rounds: { ci: 2, release: 400 },
  secondsPerRound: 40,
  needs: ['mount', 'strace'],
  async run({ rounds, random, progress }: Trial) {
    await using small = await smallDisk({ bytes: 32 * 2 ** 20 });
    await using directory = await temporaryDirectory();
    await using full = new Frame(small.path);
    await using failing = new Frame(directory.path);
    const counts = { 'full disks': 0, 'refused flushes': 0, faults: 0 };
    for (let round = 0; round < rounds; round++) {
      if (round % 2 === 0) {
        counts['full disks']++;
        counts['refused flushes'] += await fillDisk(full, small, random);
      } else {
        counts.faults += await failCall(failing, directory.path, random, (round - 1) / 2);
      }
      if (round % 20 === 19) progress(`${round + 1} rounds, ${full.ledger.refused} appends refused`);
    }
    const refused = full.ledger.refused + failing.ledger.refused;
    promised(refused > 0, 'appends were refused', counts);
    return { ...counts, acks: full.ledger.acks + failing.ledger.acks, refused, lost: 0, 'refused ones found': 0 };
  },
};

/** A frame on a disk that fails, its server, and what both were asked. */
class Frame implements AsyncDisposable {
  readonly ledger = new AppendLedger('ledger');
  readonly #follower = new Follower(this.ledger.handle);
  readonly #dataDir: string;
  #server: SpawnedFramehold | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  async server(): Promise<SpawnedFramehold> {
    if (this.#server === undefined) {
      // With one thread for files, so that its calls are counted as one; recompression would make calls of its own.
      const env = { UV_THREADPOOL_SIZE: '1', FRAMEHOLD_COMPRESSION_LEVEL: '1' };
      this.#server = await spawnFramehold({ dataDir: this.#dataDir, env });
      if (this.ledger.acks === 0) await makeFrame(this.ledger, this.#server);
    }
    return this.#server;
  }

  /** What the ledger has is what the server shows. */
  async check(): Promise<void> {
    this.ledger.settle(await this.#follower.readAll(await this.server()));
  }

  async append(random: Random): Promise<string> {
    using client = new AppendClient(await this.server());
    const append = this.ledger.begin(0);
    const outcome = await client.append(random.pick(appendDoors), this.ledger.handle, append);
    // Also where the answer leaves it open: what the disk failed must not be found.
    this.ledger.end(append, outcome === 'acknowledged' ? outcome : 'refused');
    return outcome;
  }

  async flush(): Promise<{ readonly status: number; readonly code: unknown }> {
    const { url } = await this.server();
    const { status, text } = await ask(`${url}/handles/${this.ledger.handle}/flush`, { method: 'POST' });
    return { status, code: JSON.parse(text).code };
  }

  async kill(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** Gives how many flushes were refused. */
async function fillDisk(frame: Frame, disk: SmallDisk, random: Random): Promise<number> {
  await frame.server();
  await disk.leave(random.between(0, 2) * pageBytes);
  for (let count = 0; count < appendsInLittleRoom; count++) {
    const outcome = await frame.append(random);
    promised(outcome !== 'unknown', 'an append that finds no room is refused as such', count);
  }
  await frame.check();
  const flushed = await frame.flush();
  const isTold = flushed.status === 200 || flushed.code === 'storage_full';
  promised(isTold, 'a flush that finds no room is refused as such', flushed);
  await frame.check();
  if (random.chance(0.5)) {
    await frame.kill();
    await frame.check();
  }
  disk.makeRoom();
  promised((await frame.append(random)) === 'acknowledged', 'with room the next append works');
  const again = await frame.flush();
  promised(again.status === 200, 'with room a flush works', again);
  await frame.check();
  return Number(flushed.status !== 200);
}

interface Point {
  /** `merge`: so many flushes that their parts are merged beside them. */
  readonly what: 'append' | 'flush' | 'merge';
  readonly call: string;
  readonly of: 'server' | 'workers';
  /** At most so many of these calls belong to it. */
  readonly calls: number;
  /** Only calls on the file that the rows go to. */
  readonly isOfLog?: boolean;
  readonly beginsLog?: boolean;
}

const points: readonly Point[] = [
  { what: 'append', call: 'pwritev', of: 'server', calls: 1, isOfLog: true },
  { what: 'flush', call: 'fsync', of: 'server', calls: 4 },
  { what: 'append', call: 'fsync', of: 'server', calls: 1, beginsLog: true },
  { what: 'flush', call: 'fsync', of: 'workers', calls: 1 },
  { what: 'merge', call: 'fsync', of: 'workers', calls: 40 },
];

async function attempt(what: Point['what'], frame: Frame, random: Random): Promise<unknown> {
  if (what === 'append') return frame.append(random);
  let { status } = await frame.flush();
  for (let flushes = 0; what === 'merge' && flushes < flushesToMerge && status === 200; flushes++) {
    if ((await frame.append(random)) !== 'acknowledged') return 'refused';
    ({ status } = await frame.flush());
  }
  return status;
}

/** Gives 1 where the call failed. */
async function failCall(frame: Frame, dataDir: string, random: Random, index: number): Promise<number> {
  const { what, call, of, calls, isOfLog, beginsLog } = points[index % points.length] as Point;
  const server = await frame.server();
  for (let count = 0; count < 3; count++) await frame.append(random);
  if (beginsLog) await frame.flush();
  const logs = join(dataDir, 'cold', '.framehold', 'logs', frame.ledger.handle);
  const fault = await injectFault({
    processes: of === 'server' ? [server.pid] : childrenOf(server.pid),
    call,
    when: String(random.between(1, calls)),
    ...(isOfLog && { paths: [join(logs, readdirSync(logs).sort().at(-1) ?? '')] }),
    traceFile: join(dataDir, 'trace'),
  });
  const outcome = await attempt(what, frame, random);
  const isFailed = (await fault.end()).includes('(INJECTED)');
  const isDone = outcome === 'acknowledged' || outcome === 200;
  promised(isFailed || isDone, `without a fault ${what} works`, outcome);
  promised(!server.hasExited(), 'the server goes on', server.stderr().slice(-1000));
  await frame.check();
  if (!isFailed) return 0;
  // A merge goes on beside the appends.
  const isRefused = async (): Promise<boolean> => (await frame.append(random)) !== 'acknowledged';
  const promise = `after a failed ${call} in ${what} nothing is written until a restart`;
  if (what === 'merge') await until(promise, 20_000, isRefused);
  else promised(await isRefused(), promise);
  const next = await ask(`${server.url}/write`, { method: 'POST', body: 'other a=1 1\n' });
  promised(next.status === 503 && next.json().code === 'storage_read_only', 'writes are refused as such', next.text);
  await frame.check();
  await frame.kill();
  await frame.check();
  promised((await frame.append(random)) === 'acknowledged', 'after a restart appends work');
  return 1;
}
