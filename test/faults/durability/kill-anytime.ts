import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beginFramehold, type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'append', 'drop'];
const handlesPerWriter = 3;
const readyMs = 2000;

/** D1: writers at every door, and the server killed in the middle of it, or of its own start. */
export const killAnytime: Scenario = {
  id: 'D1',
  promise: 'kill -9 at any moment loses nothing that was acknowledged and shows nothing half',
  rounds: { ci: 30, release: 1000 },
  secondsPerRound: 4,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const ledger = new Ledger();
    const numbers = countFrom(1);
    const startsMs: number[] = [];
    for (let cycle = 0; cycle < rounds; cycle++) {
      if (random.chance(0.1)) await killAtStart(directory.path, random);
      const startedAt = performance.now();
      await using server = await spawnFramehold({ dataDir: directory.path });
      startsMs.push(performance.now() - startedAt);
      await checkAll(server, ledger);
      const left = (await temporaryFiles(directory.path)).filter((name) => !name.startsWith(`${server.pid}-`));
      promised(left.length === 0, 'nothing half-written is left after a start', left);
      if (cycle === rounds - 1) break;
      await writeUntilKilled(server, ledger, numbers, random);
      if (cycle % 20 === 19) progress(`${cycle + 1} kills, ${ledger.acknowledged} writes acknowledged`);
    }
    startsMs.sort((one, other) => one - other);
    const startMs = startsMs[startsMs.length >> 1] ?? 0;
    promised(startMs < readyMs, `a start after a kill takes less than ${readyMs} ms`, startMs);
    promised(ledger.acknowledged >= rounds, 'there were enough writes to say anything', ledger.acknowledged);
    return {
      kills: rounds - 1,
      acks: ledger.acknowledged,
      unanswered: ledger.unknown,
      lost: 0,
      torn: 0,
      'start ms': Math.round(startMs),
      'slowest start ms': Math.round(startsMs.at(-1) ?? 0),
    };
  },
};

async function writeUntilKilled(
  server: SpawnedFramehold,
  ledger: Ledger,
  numbers: Iterator<number, never>,
  random: Random,
): Promise<void> {
  // Sometimes before anything was written, mostly in the middle of much.
  const lastAck = ledger.acknowledged + (random.chance(0.2) ? 0 : random.between(1, 120));
  const killAfterMs = random.between(0, 40);
  let isKilled = false;
  const goesOn = (): boolean => {
    if (ledger.acknowledged >= lastAck && !isKilled) {
      isKilled = true;
      setTimeout(() => server.kill('SIGKILL'), killAfterMs);
    }
    return !server.hasExited();
  };
  goesOn();
  await Promise.all(
    [0, 1, 2].map((writer) => keepWriting(server, ledger, numbers, random.fork(), `w${writer}`, goesOn)),
  );
  promised(isKilled, 'every write has an answer as long as the server runs', server.stderr().slice(-2000));
  await server.exited;
}

/** Writes at one door after another until the server is gone. */
async function keepWriting(
  server: SpawnedFramehold,
  ledger: Ledger,
  numbers: Iterator<number, never>,
  random: Random,
  prefix: string,
  goesOn: () => boolean,
): Promise<void> {
  for (;;) {
    const verb = random.pick(verbs);
    const operation = { handle: `${prefix}_${random.between(1, handlesPerWriter)}`, verb, n: numbers.next().value };
    const outcome = await write(server, random.pick(doorsFor(verb)), operation);
    ledger.note(operation, outcome);
    if (!goesOn() || outcome === 'unknown') return;
  }
}

async function killAtStart(dataDir: string, random: Random): Promise<void> {
  const child = beginFramehold({ dataDir });
  const exited = once(child, 'exit');
  await delay(random.between(0, 500));
  child.kill('SIGKILL');
  await exited;
}

async function checkAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
}

async function temporaryFiles(dataDir: string): Promise<string[]> {
  const folders = ['tmp', 'pins'].map((folder) => join(dataDir, 'cold', '.framehold', folder));
  return (await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))).flat();
}

function* countFrom(first: number): Generator<number, never> {
  for (let n = first; ; n++) yield n;
}
