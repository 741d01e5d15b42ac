import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateFiles } from '../../support/private-files.ts';
import { beginFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Writers } from './writers.ts';

const readyMs = 2000;

const mostAcks = 120;

/** D1: writers at every door, and the server killed in the middle of it, or of its own start. */
export const killAnytime: Scenario = {
  id: 'D1',
  promise: 'kill -9 at any moment loses nothing that was acknowledged and shows nothing half',
  rounds: { ci: 4, release: 1000 },
  secondsPerRound: 8,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const writers = new Writers(random.fork());
    const { ledger } = writers;
    const startsMs: number[] = [];
    for (let cycle = 0; cycle < rounds; cycle++) {
      if (random.chance(0.1)) await killAtStart(directory.path, random);
      const startedAt = performance.now();
      await using server = await spawnFramehold({ dataDir: directory.path });
      startsMs.push(performance.now() - startedAt);
      await writers.checkAll(server);
      const left = () => temporaryFiles(directory.path).filter((name) => !name.includes(`${server.pid}-`));
      await until('nothing half-written is left after a start', readyMs, () => left().length === 0, left);
      if (cycle === rounds - 1) break;
      await writers.writeUntilGone(server, mostAcks, () => server.kill('SIGKILL'));
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

async function killAtStart(dataDir: string, random: Random): Promise<void> {
  const child = beginFramehold({ dataDir });
  const exited = once(child, 'exit');
  await delay(random.between(0, 500));
  child.kill('SIGKILL');
  await exited;
}

function temporaryFiles(dataDir: string): string[] {
  return ['tmp', 'pins', 'locks'].flatMap((folder) => privateFiles(join(dataDir, 'cold'), folder));
}
