import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import type { Outcome } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import type { WriteNumber } from '../harness/written-rows.ts';

const appenders = 4;
const readers = 2;

interface Append {
  readonly n: WriteNumber;
  readonly beganAt: number;
  endedAt: number;
  outcome: Outcome | 'under way';
}

/** D1b: many append to one frame at once, others read it, and the server is killed. */
export const sharedHandle: Scenario = {
  id: 'D1b',
  promise: 'of many who append to one frame each is there once, in the order of the answers, and what was read stays',
  rounds: { ci: 1, release: 300 },
  secondsPerRound: 20,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const counts = { acks: 0, unanswered: 0, reads: 0 };
    let lastNumber = 0;
    for (let round = 0; round < rounds; round++) {
      const handle = `shared_${round}`;
      const appends: Append[] = [];
      const seen: WriteNumber[][] = [[]];
      {
        await using server = await spawnFramehold({ dataDir: directory.path });
        const lastAck = random.between(1, 25);
        const acked = () => appends.filter(({ outcome }) => outcome === 'acknowledged');
        const append = async (mine: Random): Promise<void> => {
          while (!server.hasExited()) {
            const one: Append = { n: ++lastNumber, beganAt: performance.now(), endedAt: 0, outcome: 'under way' };
            appends.push(one);
            one.outcome = await write(server, mine.pick(doorsOfAppends), { handle, verb: 'append', n: one.n });
            one.endedAt = performance.now();
            if (acked().length >= lastAck) server.kill('SIGKILL');
          }
        };
        const read = async (): Promise<void> => {
          while (!server.hasExited()) {
            const before = acked().map(({ n }) => n);
            const found = await contentOrGone(server, handle);
            if (found === undefined) continue;
            promised(isSubset(before, found), 'a read shows all that was acknowledged before it', { before, found });
            seen.push(found);
          }
        };
        const work = Array.from({ length: appenders }, () => append(random.fork()));
        await Promise.all([...work, ...Array.from({ length: readers }, read)]);
      }
      await using server = await spawnFramehold({ dataDir: directory.path });
      const found = [...((await contentOf(server, handle)) ?? [])];
      assertEachOnce(appends, found);
      assertOrder(appends, found);
      for (const earlier of seen) promised(isPrefix(earlier, found), 'what was read stays', { earlier, found });
      counts.acks += appends.filter(({ outcome }) => outcome === 'acknowledged').length;
      counts.unanswered += appends.filter(({ outcome }) => outcome === 'unknown').length;
      counts.reads += seen.length - 1;
      if (round % 20 === 19) progress(`${round + 1} kills, ${counts.acks} appends acknowledged`);
    }
    return { kills: rounds, ...counts, lost: 0, 'out of order': 0 };
  },
};

/** Not INSERT: it needs a frame that is there. */
const doorsOfAppends = doorsFor('append').filter((door) => door !== 'insertInto');

async function contentOrGone(server: SpawnedFramehold, handle: string): Promise<WriteNumber[] | undefined> {
  try {
    return [...((await contentOf(server, handle)) ?? [])];
  } catch (error) {
    // The connection breaks with the server, also in the middle of an answer.
    if (['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes((error as { code?: string }).code ?? '')) return undefined;
    throw error;
  }
}

function assertEachOnce(appends: readonly Append[], found: readonly WriteNumber[]): void {
  for (const { n, outcome } of appends) {
    const times = found.filter((one) => one === n).length;
    const isRight = outcome === 'acknowledged' ? times === 1 : outcome === 'refused' ? times === 0 : times <= 1;
    promised(isRight, `append ${n}, which was ${outcome}, is there ${times} times`, found);
  }
}

/** One that was answered before another began comes before it. */
function assertOrder(appends: readonly Append[], found: readonly WriteNumber[]): void {
  const held = appends.filter(({ n }) => found.includes(n));
  for (const one of held) {
    for (const later of held) {
      if (one.outcome !== 'acknowledged' || one.endedAt >= later.beganAt) continue;
      promised(found.indexOf(one.n) < found.indexOf(later.n), `append ${one.n} comes before ${later.n}`, found);
    }
  }
}

function isSubset(some: readonly WriteNumber[], all: readonly WriteNumber[]): boolean {
  return some.every((n) => all.includes(n));
}

function isPrefix(start: readonly WriteNumber[], all: readonly WriteNumber[]): boolean {
  return start.every((n, index) => all[index] === n);
}
