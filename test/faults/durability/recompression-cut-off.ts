import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateFiles } from '../../support/private-files.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { type CuttableDisk, cuttableDisk } from '../harness/cuttable-disk.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';

const handles = ['r1', 'r2', 'r3', 'r4'];
const beginsWithinMs = 30_000;
/** So that most cuts come in the middle. */
const slowly = ['--compression-level', '19'];

/** D2c: acknowledged files are rewritten in the background, and the power is cut, or the server killed, meanwhile. */
export const recompressionCutOff: Scenario = {
  id: 'D2c',
  promise: 'a power cut or a kill while frames are compressed again loses nothing of them',
  rounds: { ci: 1, release: 300 },
  secondsPerRound: 20,
  needs: ['mount'],
  async run({ rounds, random, progress }: Trial) {
    await using disk = await cuttableDisk();
    const dataDir = join(disk.path, 'data');
    const ledger = new Ledger();
    let lastNumber = 0;
    let finalBefore = 0;
    let halfDone = 0;
    for (let round = 0; round < rounds; round++) {
      await using server = await spawnFramehold({ dataDir, flags: slowly });
      await checkAll(server, ledger);
      for (let count = random.between(3, 8); count > 0; count--) {
        const handle = random.pick(handles);
        // INSERT makes no table.
        const verb = ledger.handles.includes(handle) ? random.pick<Verb>(['overwrite', 'append', 'append']) : 'create';
        const operation = { handle, verb, n: ++lastNumber };
        const outcome = await write(server, random.pick(doorsFor(verb)), operation);
        promised(outcome === 'acknowledged', 'a write without a fault is acknowledged', { ...operation, outcome });
        ledger.note(operation, outcome);
      }
      await recompressionUnderWay(server, dataDir);
      await strike(server, disk, random);
      const { final, all } = await partsOf(dataDir);
      finalBefore += final;
      halfDone += Number(final > 0 && final < all);
      if (round % 20 === 19) progress(`${round + 1} rounds, ${halfDone} of them half compressed`);
    }
    await using server = await spawnFramehold({ dataDir });
    await checkAll(server, ledger);
    return { rounds, acks: ledger.acknowledged, 'parts found compressed': finalBefore, 'half done': halfDone, lost: 0 };
  },
};

/** Nothing else writes now, so that a temporary file is one of recompression. */
async function recompressionUnderWay(server: SpawnedFramehold, dataDir: string): Promise<void> {
  const deadline = performance.now() + beginsWithinMs;
  for (;;) {
    if (privateFiles(join(dataDir, 'cold'), 'tmp').some((name) => name.startsWith(`${server.pid}-`))) return;
    promised(performance.now() < deadline, 'recompression begins', server.stderr().slice(-1000));
    await delay(1);
  }
}

async function strike(server: SpawnedFramehold, disk: CuttableDisk, random: Random): Promise<void> {
  // A part takes some milliseconds; several follow each other.
  await delay(random.between(0, 150));
  if (random.chance(0.7)) disk.cutPower();
  server.kill('SIGKILL');
  await server.exited;
  await disk.restart();
}

async function partsOf(dataDir: string): Promise<{ final: number; all: number }> {
  const folder = join(dataDir, 'cold', '.framehold', 'manifests');
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const parts = texts.flatMap((text) => text.match(/"final":(true|false)/g) ?? []);
  return { final: parts.filter((part) => part.endsWith('true')).length, all: parts.length };
}

async function checkAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
}
