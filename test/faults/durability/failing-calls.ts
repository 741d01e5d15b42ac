import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { childrenOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { type InjectedFault, injectFault } from '../harness/injected-fault.ts';
import { Ledger, type Operation, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { descriptorsIn, systemCallsIn } from '../harness/system-calls.ts';

interface Kind {
  readonly call: string;
  readonly of: 'server' | 'workers';
  /** How many there are in a put and in a drop, at most. */
  readonly puts: number;
  readonly drops: number;
  /** Below the private folder: other calls of this name are none of the disk's. */
  readonly path?: (handle: string, ownFolder: string) => string;
  /** Where it fails the server can do without: it reads by another name, or tidies up later. */
  readonly isSpared?: boolean;
}

const pendingRecord = (handle: string, own: string): string => join(own, `pending-${handle}.json`);

/** What matters most, so every other fault is one of these. */
const syncOfServer: Kind = { call: 'fsync', of: 'server', puts: 5, drops: 3 };

const kinds: readonly Kind[] = [
  { call: 'fsync', of: 'workers', puts: 1, drops: 0 },
  { call: 'rename', of: 'server', puts: 2, drops: 1 },
  { call: 'link', of: 'server', puts: 3, drops: 1, isSpared: true },
  { call: 'unlink', of: 'server', puts: 3, drops: 4, isSpared: true },
  { call: 'write', of: 'server', puts: 1, drops: 0, path: pendingRecord },
  { call: 'close', of: 'server', puts: 1, drops: 0, path: pendingRecord },
  { call: 'openat', of: 'server', puts: 1, drops: 0, path: pendingRecord },
  { call: 'openat', of: 'server', puts: 1, drops: 0, path: () => 'manifests' },
  { call: 'openat', of: 'server', puts: 0, drops: 1, path: () => 'tombstones' },
  { call: 'close', of: 'server', puts: 1, drops: 0, path: () => 'manifests' },
  { call: 'close', of: 'server', puts: 0, drops: 1, path: () => 'tombstones' },
  { call: 'write', of: 'workers', puts: 4, drops: 0 },
];

/** Not called by what we use now. Should that change, it must fail as well. */
const kindsOfOtherVersions: readonly Kind[] = ['fdatasync', 'ftruncate', 'pwrite64'].map((call) => {
  return { call, of: 'workers', puts: 1, drops: 0 };
});

/** D4: one call to the disk after another fails with EIO in the middle of a write. */
export const failingCalls: Scenario = {
  id: 'D4',
  promise: 'a write that the disk fails is not acknowledged, and after a failed fsync nothing is until a restart',
  rounds: { ci: 3, release: 600 },
  secondsPerRound: 12,
  needs: ['strace'],
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const ledger = new Ledger();
    const counts = { faults: 0, 'failed fsyncs': 0, 'acknowledged all the same': 0 };
    let lastNumber = 0;
    await using current = new RestartedServer(directory.path);
    for (let round = 0; round < rounds; round++) {
      const server = await current.running();
      await checkAll(server, ledger);
      const verb = random.pick<Verb>(['create', 'overwrite', 'append', 'append', 'drop']);
      const most = verb === 'drop' ? 'drops' : 'puts';
      const possible = random.chance(0.05) ? kindsOfOtherVersions : kinds;
      const others = possible.filter((one) => one[most] > 0 || possible === kindsOfOtherVersions);
      const kind = round % 2 === 0 ? syncOfServer : random.pick(others);
      const handle = await prepare(server, ledger, verb, random, () => ++lastNumber);
      const operation = { handle, verb, n: ++lastNumber };
      const when = `${random.between(1, kind[most] || 1)}${random.chance(0.3) ? '+' : ''}`;
      const door = random.pick(doorsFor(verb));
      const what = `${kind.call} number ${when} of the ${kind.of} in ${verb} of ${handle} through ${door}`;

      const fault = await begin(server, kind, when, handle, directory.path);
      const outcome = await write(server, door, operation).finally(() => fault.end());
      ledger.note(operation, outcome);
      const trace = await fault.end();
      const failed = trace.includes('(INJECTED)');
      const mayBeDone = kind.isSpared === true || isOfListing(trace) || wasRecordSafe(trace);
      progress(`${what}: ${failed ? 'failed' : 'never came'}, ${outcome}`);
      promised(!failed || outcome !== 'acknowledged' || mayBeDone, `what the disk fails is not acknowledged: ${what}`);
      promised(failed || outcome === 'acknowledged', `without a fault it is acknowledged: ${what}`, outcome);
      promised(!server.hasExited(), `the server goes on: ${what}`, server.stderr().slice(-1000));

      const isSync = kind.call.endsWith('sync');
      if (failed) await checkAfterFault(server, ledger, isSync, what, random, ++lastNumber);
      if ((failed && isSync) || random.chance(0.3)) await current.kill();
      counts.faults += Number(failed);
      counts['failed fsyncs'] += Number(failed && isSync);
      counts['acknowledged all the same'] += Number(failed && outcome === 'acknowledged');
    }
    await current.kill();
    await checkAll(await current.running(), ledger);
    promised(counts.faults > rounds / 3, 'there were enough faults to say anything', counts);
    return { writes: rounds, ...counts, acks: ledger.acknowledged, lost: 0 };
  },
};

/** With one thread for files, so that its calls are counted as one. */
class RestartedServer implements AsyncDisposable {
  readonly #dataDir: string;
  #server: SpawnedFramehold | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  async running(): Promise<SpawnedFramehold> {
    if (this.#server === undefined) {
      this.#server = await spawnFramehold({
        dataDir: this.#dataDir,
        // Recompression would make calls of its own.
        env: { UV_THREADPOOL_SIZE: '1', FRAMEHOLD_COMPRESSION_LEVEL: '1' },
      });
      // Answered when all folders were read: that no fault shall hit.
      await ask(`${this.#server.url}/handles`);
    }
    return this.#server;
  }

  async kill(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** A handle with something under it that the verb can be done to. */
async function prepare(
  server: SpawnedFramehold,
  ledger: Ledger,
  verb: Verb,
  random: Random,
  nextNumber: () => number,
): Promise<string> {
  const handle = `h${random.between(1, 5)}`;
  const noted = async (step: Verb): Promise<void> => {
    const operation: Operation = { handle, verb: step, n: nextNumber() };
    const outcome = await write(server, random.pick(doorsFor(step)), operation);
    promised(outcome === 'acknowledged', `${step} works without a fault`, outcome);
    ledger.note(operation, outcome);
  };
  const isThere = ledger.possible(handle)[0] !== undefined;
  if (verb === 'create') {
    if (isThere) await noted('drop');
  } else {
    if (!isThere || random.chance(0.5)) await noted('overwrite');
    if (random.chance(0.5)) await noted('append');
  }
  return handle;
}

function begin(
  server: SpawnedFramehold,
  { call, of, path }: Kind,
  when: string,
  handle: string,
  dataDir: string,
): Promise<InjectedFault> {
  const folder = join(dataDir, 'cold', '.framehold');
  const own = readdirSync(join(folder, 'tmp')).find((name) => name.startsWith(`${server.pid}-`));
  return injectFault({
    processes: of === 'server' ? [server.pid] : childrenOf(server.pid),
    call,
    when,
    ...(path && { paths: [join(folder, path(handle, join('tmp', own ?? 'none')))] }),
    traceFile: join(dataDir, 'trace'),
  });
}

/** Whether it was not the write that failed but a look at what is in a folder, which goes on beside it. */
function isOfListing(trace: string): boolean {
  return /O_DIRECTORY.*\(INJECTED\)/.test(trace);
}

/** Whether the record of the write was synced before the fault: then the rest is tidying up. */
function wasRecordSafe(trace: string): boolean {
  const failedAt = trace.split('\n').findIndex((line) => line.includes('(INJECTED)'));
  return systemCallsIn(trace).some(({ name, args, endedAt }) => {
    return name === 'fsync' && endedAt < failedAt && /\/(manifests|tombstones)$/.test(descriptorsIn(args)[0] ?? '');
  });
}

async function checkAfterFault(
  server: SpawnedFramehold,
  ledger: Ledger,
  isSync: boolean,
  what: string,
  random: Random,
  n: number,
): Promise<void> {
  await checkAll(server, ledger);
  const operation: Operation = { handle: 'after', verb: 'overwrite', n };
  const outcome = await write(server, random.pick(doorsFor('overwrite')), operation);
  ledger.note(operation, outcome);
  promised((outcome === 'acknowledged') === !isSync, `after ${what} the next write is ${isSync ? 'not ' : ''}done`);
  if (!isSync) return;
  const answer = await ask(`${server.url}/imp?name=after&overwrite=true`, { method: 'POST', body: 'a\n1\n' });
  const { code } = answer.json();
  promised(answer.status === 503 && code === 'storage_read_only', `after ${what} writes are refused`, answer.text);
}

async function checkAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
}
