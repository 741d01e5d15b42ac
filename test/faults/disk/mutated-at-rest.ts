import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { privateFiles } from '../../support/private-files.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { allReadings, readings } from './frame-answers.ts';
import { isRight } from './mutated-files.ts';
import { mutate } from './mutations.ts';
import { rewrite, type StoredFrame, setTime, settledCompression, storeFrame } from './stored-frames.ts';

const framesAStart = 16;

/** D6: bytes of frames, manifests and tombstones go wrong while no server runs. */
export const mutatedAtRest: Scenario = {
  id: 'D6-rest',
  promise: 'what went wrong on the disk between two starts is never served, and the other frames are',
  rounds: { ci: 1, release: 420 },
  secondsPerRound: 20,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const cold = join(directory.path, 'cold');
    const flags = [...settledCompression, '--cache-size', '0'];
    const frames: StoredFrame[] = [];
    {
      await using server = await spawnFramehold({ dataDir: directory.path, flags });
      for (let n = 0; n < framesAStart; n++) frames.push(await storeFrame(server, directory.path, `f${n}`, random));
      await storeFrame(server, directory.path, 'dropped', random);
      await ask(`${server.url}/handles/dropped`, { method: 'DELETE' });
    }
    const saved = save(cold);
    const counts = { damaged: 0, 'damaged records': 0, right: 0 };
    for (let round = 0; round < rounds; round++) {
      const fates = new Map(frames.map((frame) => [frame, random.pick(['bytes', 'manifest', 'nothing'] as const)]));
      for (const [frame, fate] of fates) {
        if (fate === 'bytes') damageBytes(cold, frame, random);
        if (fate === 'manifest') damageRecord(join(cold, '.framehold', 'manifests', `${frame.handle}.json`), random);
      }
      if (random.chance(0.5)) damageRecord(join(cold, '.framehold', 'tombstones', 'dropped.json'), random);
      writeFileSync(join(cold, '.framehold', 'pending', `f${random.between(0, 30)}.json`), random.bytes(300));
      await using server = await spawnFramehold({ dataDir: directory.path, flags });
      for (const [frame, fate] of fates) {
        for (const reading of random.chance(0.3) ? allReadings : [random.pick(allReadings)]) {
          const answer = await readings[reading](server, frame.handle);
          const isDamaged = 'error' in answer && answer.error === 'frame_damaged';
          const isKept = fate === 'bytes' ? isDamaged : isRight(frame, reading, answer);
          promised(isKept, `${reading} after damage to ${fate} of ${frame.handle}`, answer);
          counts[fate === 'bytes' ? 'damaged' : fate === 'manifest' ? 'damaged records' : 'right']++;
        }
      }
      const dropped = await ask(`${server.url}/exec?handle=dropped&fmt=json`);
      promised(
        [404, 410].includes(dropped.status),
        'what was dropped stays so, also without its tombstone',
        dropped.text,
      );
      await server[Symbol.asyncDispose]();
      restore(cold, saved);
      if (round % 20 === 19) progress(`${round + 1} starts`);
    }
    return { starts: rounds, wrong: 0, ...counts };
  },
};

/** Inode, size and time stay as they were: nothing but the checksum can tell. */
function damageBytes(cold: string, frame: StoredFrame, random: Random): void {
  const path = join(cold, random.pick(frame.files));
  rewrite(path, mutate(readFileSync(path), random, [], { keepsLength: true }).bytes, 'silent');
}

function damageRecord(path: string, random: Random): void {
  const others = readdirSync(join(path, '..')).map((name) => readFileSync(join(path, '..', name)));
  writeFileSync(path, mutate(readFileSync(path), random, others, { keepsLength: false }).bytes);
}

type Saved = readonly { readonly path: string; readonly bytes: Buffer; readonly mtimeNs: bigint }[];

/** What belongs to a process goes with it. */
const notOfProcesses = ['pins', 'tmp', 'leases', 'locks'].flatMap((name) => [
  '-not',
  '-path',
  `*/.framehold/${name}/*`,
]);

function save(cold: string): Saved {
  const names = execFileSync('find', [cold, '-type', 'f', ...notOfProcesses, '-printf', '%T@ %p\\n'], {
    encoding: 'utf8',
  }).trim();
  return names.split('\n').map((line) => {
    const [time = '', path = ''] = line.split(' ');
    const [seconds = '0', rest = '0'] = time.split('.');
    return { path, bytes: readFileSync(path), mtimeNs: BigInt(seconds) * 10n ** 9n + BigInt(rest.slice(0, 9)) };
  });
}

/** Into the same inodes where they are still there. */
function restore(cold: string, saved: Saved): void {
  const kept = new Set(saved.map(({ path }) => path));
  const records = join(cold, '.framehold');
  for (const folder of ['manifests', 'tombstones', 'pending', 'tmp', 'pins']) {
    for (const name of privateFiles(cold, folder)) {
      if (!kept.has(join(records, folder, name))) rmSync(join(records, folder, name), { force: true });
    }
  }
  for (const { path, bytes, mtimeNs } of saved) {
    if (path.endsWith('.parquet') && readFileSync(path).equals(bytes)) continue;
    writeFileSync(path, bytes);
    if (path.endsWith('.parquet')) setTime(path, mtimeNs);
  }
}
