import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { allReadings, type Reading, readings } from './frame-answers.ts';
import { mutate } from './mutations.ts';
import { becomes } from './private-files.ts';
import { type StoredFrame, settledCompression, storeFrame } from './stored-frames.ts';

const framesKept = 12;
/** In forms that are kept on disk. */
export const keptReadings = ['exec', 'csv', 'doGet'] as const;

/** D7: rows that are kept on disk beside the frames go wrong, while the server runs and while it does not, and after kill -9. */
export const mutatedDiskCache: Scenario = {
  id: 'D7',
  promise: 'rows kept on disk beside the frames never give a wrong byte or fail a read, and their disk is given back',
  rounds: { ci: 1, release: 300 },
  secondsPerRound: 20,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const cache = join(directory.path, 'cache');
    const flags = [...settledCompression, '--cache-size', '0.02'];
    const counts = { reads: 0, 'files harmed': 0, kills: 0 };
    const frames: StoredFrame[] = [];
    let server = await spawnFramehold({ dataDir: directory.path, flags });
    try {
      for (let n = 0; n < framesKept; n++) frames.push(await storeFrame(server, directory.path, `f${n}`, random));
      for (let round = 0; round < rounds; round++) {
        counts.reads += await readAll(server, frames, random.chance(0.3) ? allReadings : keptReadings);
        await becomes('rows are kept on disk', async () => filesOf(cache).length >= framesKept);
        counts['files harmed'] += harm(cache, random);
        counts.reads += await readAll(server, frames, random.chance(0.3) ? allReadings : keptReadings);
        const isKilled = random.chance(0.5);
        if (isKilled) {
          counts.kills++;
          server.kill('SIGKILL');
          await server.exited;
        }
        await server[Symbol.asyncDispose]();
        counts['files harmed'] += harm(cache, random);
        server = await spawnFramehold({ dataDir: directory.path, flags });
        counts.reads += await readAll(server, frames, random.chance(0.3) ? allReadings : keptReadings);
        const at = random.between(0, framesKept - 1);
        frames[at] = await storeFrame(server, directory.path, `f${at}`, random);
        if (round % 20 === 19) progress(`${round + 1} starts`);
      }
      for (const { handle } of frames) await ask(`${server.url}/handles/${handle}`, { method: 'DELETE' });
      await becomes('the disk of dropped frames is given back', async () => filesOf(cache).length === 0);
    } finally {
      await server[Symbol.asyncDispose]();
    }
    return { starts: rounds + 1, wrong: 0, ...counts };
  },
};

/** Gives how many reads there were. */
export async function readAll(
  server: SpawnedFramehold,
  frames: readonly StoredFrame[],
  kinds: readonly Reading[],
): Promise<number> {
  let reads = 0;
  for (const frame of frames) {
    for (const reading of kinds) {
      const answer = await readings[reading](server, frame.handle);
      const isRight = 'content' in answer && answer.content === frame.answers.get(reading);
      promised(isRight, `${reading} of ${frame.handle}`, answer);
      reads++;
    }
  }
  return reads;
}

/** Some files, each in another way: other bytes, another length, another chunk's content, none at all. */
function harm(cache: string, random: Random): number {
  let harmed = 0;
  const files = filesOf(cache);
  for (const path of files) {
    if (!random.chance(0.5)) continue;
    harmed++;
    if (random.chance(0.1)) {
      rmSync(path);
      continue;
    }
    const others = files.filter((other) => existsSync(other)).map((other) => readFileSync(other));
    const bytes = readFileSync(path);
    writeFileSync(
      path,
      bytes.length === 0 ? random.bytes(50) : mutate(bytes, random, others, { keepsLength: false }).bytes,
    );
  }
  return harmed;
}

export function filesOf(cache: string): string[] {
  if (!existsSync(cache)) return [];
  return readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
