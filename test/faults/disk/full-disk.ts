import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { type Ending, fullStatuses, largeWriteDoors, largeWrites } from './large-writes.ts';
import { leavesNothing } from './private-files.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'drop'];
const pageBytes = 4096;

/** D3: the disk runs full at some point of a write, through every door; then room is made. */
export const fullDisk: Scenario = {
  id: 'D3',
  promise: 'a disk that is full fails the one write, shows and leaves nothing of it, and hinders nothing else',
  rounds: { ci: 3, release: 200 },
  secondsPerRound: 4,
  needs: ['mount'],
  async run({ rounds, random, progress }: Trial) {
    await using disk = await smallDisk({ bytes: 24 * 2 ** 20 });
    await using server = await spawnFramehold({ dataDir: disk.path });
    const ledger = new Ledger();
    const counts = { refused: 0, kept: 0 };
    let n = 1;
    for (let round = 0; round < rounds; round++) {
      await dropAll(server, ledger);
      const kept = { handle: 'kept', verb: 'overwrite', n: n++ } as const;
      ledger.note(kept, await write(server, 'impCsv', kept));
      if (round % 2 === 0) {
        await largeWriteInLittleRoom(server, disk, random, round, counts);
      } else {
        for (let step = 0; step < 6; step++) {
          const verb = random.pick(verbs);
          const handle = random.pick(['a', 'b', 'c']);
          const operation = { handle, verb, n: n++ };
          await disk.leave(random.between(0, 4) * pageBytes);
          const isThere = ledger.possible(handle)[0] !== undefined;
          const outcome = await write(server, random.pick(doorsFor(verb)), operation);
          promised(outcome !== 'unknown', 'a write that finds no room is refused as such', operation);
          const makesRoom = verb === 'drop' && isThere;
          promised(!makesRoom || outcome === 'acknowledged', 'a frame can be dropped from a full disk', operation);
          ledger.note(operation, outcome);
          await checkAll(server, ledger);
        }
        disk.makeRoom();
      }
      await leavesNothing(disk.path);
      await checkAll(server, ledger);
      if (round % 20 === 19) progress(`${round + 1} rounds, ${ledger.refused + counts.refused} writes refused`);
    }
    const refused = ledger.refused + counts.refused;
    promised(counts.refused >= rounds / 8, 'there was too little room often enough', counts);
    promised(!server.hasExited(), 'the server runs on');
    return { points: rounds, refused, kept: ledger.acknowledged + counts.kept };
  },
};

/** A write that does not fit, or just so, is refused as such, and fits once there is room. */
async function largeWriteInLittleRoom(
  server: SpawnedFramehold,
  disk: SmallDisk,
  random: Random,
  round: number,
  counts: { refused: number; kept: number },
): Promise<void> {
  const door = largeWriteDoors[(round / 2) % largeWriteDoors.length] ?? 'impCsv';
  const rows = Array.from({ length: 20_000 }, () => random.next().toString(36) + random.next().toString(36));
  const handle = `large_${round}`;
  await disk.leave(random.between(0, 200) * pageBytes);
  const ending = await largeWrites[door](server, { handle, rows });
  const found = await ask(`${server.url}/exec?handle=${handle}&fmt=json&limit=1,`);
  promised(wasFull(ending) || ending === 'kept', `a full disk is called so at ${door}`, ending);
  if (ending === 'kept') {
    counts.kept++;
    promised(found.json().count === rows.length, 'what was acknowledged is there', found.text.slice(0, 300));
  } else {
    counts.refused++;
    promised(found.status === 404, 'nothing of a refused write is shown', found.text.slice(0, 300));
  }
  disk.makeRoom();
  await leavesNothing(disk.path);
  if (ending !== 'kept') {
    const again = await largeWrites[door](server, { handle, rows });
    promised(again === 'kept', `with room the next write at ${door} works, without a restart`, again);
  }
  const dropped = await ask(`${server.url}/handles/${handle}`, { method: 'DELETE' });
  promised(dropped.status === 200, 'a frame can be dropped', dropped.text);
}

export function wasFull(ending: Ending): boolean {
  return ending !== 'kept' && ending.code === 'storage_full' && fullStatuses.includes(ending.status);
}

async function checkAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
}

/** Dropping must work on a full disk too: it is how room is made. */
async function dropAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) {
    if (ledger.possible(handle)[0] === undefined) continue;
    const operation = { handle, verb: 'drop', n: 0 } as const;
    const outcome = await write(server, 'delete', operation);
    promised(outcome === 'acknowledged', 'a frame can be dropped', handle);
    ledger.note(operation, outcome);
  }
}
