import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { leavesNothing } from './private-files.ts';
import { smallDisk } from './small-disk.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'drop'];

/** D3: room for bytes, but none for another file. */
export const noMoreFiles: Scenario = {
  id: 'D3-files',
  promise: 'a disk that holds no more files fails writes as a full one does, and reads and drops go on',
  rounds: { ci: 6, release: 400 },
  secondsPerRound: 1,
  needs: ['mount'],
  async run({ rounds, random }: Trial) {
    await using disk = await smallDisk({ bytes: 64 * 2 ** 20, files: 400 });
    await disk.leaveFiles(random.between(1, 3));
    await using server = await spawnFramehold({ dataDir: disk.path });
    const ledger = new Ledger();
    for (let round = 0; round < rounds; round++) {
      const verb = random.pick(verbs);
      const handle = random.pick(['a', 'b', 'c']);
      const operation = { handle, verb, n: round + 1 };
      const isThere = ledger.possible(handle)[0] !== undefined;
      await disk.leaveFiles(random.between(0, 8));
      const outcome = await write(server, random.pick(doorsFor(verb)), operation);
      promised(outcome !== 'unknown', 'a write that finds no room for a file is refused as such', operation);
      const makesRoom = verb === 'drop' && isThere;
      promised(!makesRoom || outcome === 'acknowledged', 'a frame can be dropped', operation);
      ledger.note(operation, outcome);
      for (const each of ledger.handles) ledger.settle(each, await contentOf(server, each));
      disk.makeRoom();
      await leavesNothing(disk.path);
    }
    promised(ledger.refused >= rounds / 8, 'there was too little room often enough', ledger.refused);
    return { writes: rounds, refused: ledger.refused };
  },
};
