import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { allReadings, type FrameAnswer, readings } from './frame-answers.ts';
import { mutate } from './mutations.ts';
import { type Manner, rewrite, type StoredFrame, settledCompression, storeFrame } from './stored-frames.ts';

const manners: readonly Manner[] = ['silent', 'silent', 'fresh', 'aged', 'moved'];
/** The clock by which a file system stamps changes ticks every 4 ms, on some machines every 10. */
const tickMs = 20;

/** D6: bytes of frames go wrong while the server runs. */
export const mutatedFiles: Scenario = {
  id: 'D6',
  promise: 'a file whose bytes change under a running server gives an error or another version, never wrong rows',
  rounds: { ci: 6, release: 30_000 },
  secondsPerRound: 2,
  async run({ rounds, random, progress }: Trial) {
    const counts = { right: 0, damaged: 0, 'other versions': 0, 'other errors': 0 };
    for (const cache of ['0', '1']) {
      await using directory = await temporaryDirectory();
      await using server = await spawnFramehold({
        dataDir: directory.path,
        flags: [...settledCompression, '--cache-size', cache],
      });
      const bystander = await storeFrame(server, directory.path, 'bystander', random);
      const others = [bystander].map(({ files }) => readFileSync(join(directory.path, 'cold', files[0] ?? '')));
      for (let round = 0; round < rounds / 2; round++) {
        await oneMutation(server, directory.path, random, others, counts);
        const beside = random.pick(allReadings);
        const answer = await readings[beside](server, 'bystander');
        promised(isRight(bystander, beside, answer), `others are served (${beside})`, answer);
        if (round % 500 === 499) progress(`${round + 1} mutations with a cache of ${cache} GB`);
      }
      promised(!server.hasExited(), 'the server runs on');
    }
    return { mutations: rounds, wrong: 0, ...counts };
  },
};

async function oneMutation(
  server: SpawnedFramehold,
  dataDir: string,
  random: Random,
  others: readonly Buffer[],
  counts: { right: number; damaged: number; 'other versions': number; 'other errors': number },
): Promise<void> {
  const frame = await storeFrame(server, dataDir, 'victim', random);
  const path = join(dataDir, 'cold', random.pick(frame.files));
  const manner = random.pick(manners);
  const mutated = mutate(readFileSync(path), random, others, { keepsLength: manner === 'silent' });
  await delay(tickMs);
  rewrite(path, mutated.bytes, manner);
  const what = `${mutated.kind}, ${manner}`;
  for (const reading of shuffled(allReadings, random)) {
    const answer = await readings[reading](server, frame.handle);
    if (isRight(frame, reading, answer)) counts.right++;
    else if ('error' in answer) {
      promised(manner !== 'silent' || answer.error === 'frame_damaged', `${reading} says what it is (${what})`, answer);
      promised(foreseen.has(answer.error), `${reading} says what it is (${what})`, answer);
      counts[answer.error === 'frame_damaged' ? 'damaged' : 'other errors']++;
    } else {
      promised(
        manner !== 'silent',
        `${reading} never gives what was not written (${what})`,
        answer.content.slice(0, 500),
      );
      const isOther = answer.version === undefined || answer.version !== frame.version;
      promised(isOther, `${reading} calls other bytes another version (${what})`, answer.version);
      counts['other versions']++;
    }
  }
}

/** What a file from outside that cannot be read may be answered with, beside `frame_damaged`. */
const foreseen: ReadonlySet<string> = new Set([
  'frame_damaged',
  'cut',
  'handle_gone',
  'engine_crashed',
  'sql_out_of_memory',
]);

export function isRight(frame: StoredFrame, reading: keyof typeof readings, answer: FrameAnswer): boolean {
  return 'content' in answer && answer.content === frame.answers.get(reading);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.between(0, left.length - 1), 1)[0] as T);
}
