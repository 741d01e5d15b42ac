import { join } from 'node:path';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { cuttableDisk } from '../harness/cuttable-disk.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { Writers } from './writers.ts';

/** Rounds on one disk: what is written early is looked at after every cut that follows. */
const cutsPerDisk = 25;

const mostAcks = 40;

/** D2b: writers at every door on a disk whose power is cut, so that it holds only what was fsynced. */
export const powerLoss: Scenario = {
  id: 'D2b',
  promise: 'a power cut at any moment loses nothing that was acknowledged and shows nothing half',
  rounds: { ci: 1, release: 500 },
  secondsPerRound: 12,
  needs: ['mount'],
  async run({ rounds, random, progress }: Trial) {
    const total = { acks: 0, unanswered: 0 };
    for (let cut = 0; cut < rounds; ) {
      // Inodes of 128 bytes keep times in whole seconds, so that no file is what it was by its time.
      await using disk = await cuttableDisk({ inodeBytes: random.chance(0.2) ? 128 : 256 });
      const dataDir = join(disk.path, 'data');
      const writers = new Writers(random.fork());
      for (let last = Math.min(rounds, cut + cutsPerDisk); cut < last; cut++) {
        await using server = await spawnFramehold({ dataDir });
        await writers.checkAll(server);
        const killAfterMs = random.between(0, 40);
        await writers.writeUntilGone(server, mostAcks, () => {
          disk.cutPower();
          setTimeout(() => server.kill('SIGKILL'), killAfterMs);
        });
        await disk.restart();
        if (cut % 20 === 19) progress(`${cut + 1} cuts, ${total.acks + writers.ledger.acknowledged} acknowledged`);
      }
      await using server = await spawnFramehold({ dataDir });
      await writers.checkAll(server);
      total.acks += writers.ledger.acknowledged;
      total.unanswered += writers.ledger.unknown;
      server.kill('SIGKILL');
      await server.exited;
    }
    promised(total.acks >= rounds, 'there were enough writes to say anything', total.acks);
    return { 'power cuts': rounds, ...total, lost: 0, torn: 0 };
  },
};
