import { setTimeout as delay } from 'node:timers/promises';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { boundMs, SharedServers } from '../shared/shared-servers.ts';
import { AppendLedger } from './append-ledger.ts';
import { AppendLoad, makeFrame } from './append-load.ts';
import { Follower } from './follower.ts';

const writers = 8;
const acksBefore = { ci: 20, release: 300 };
/** A server that gave no sign of life for 5 s is taken for dead; the rest is for a busy machine. */
const passesOnMs = 60_000;

/** G4: two servers append to one frame and flush it; one is killed, or stands still and goes on. */
export const handedOverAppends: Scenario = {
  id: 'G4',
  promise:
    'of two servers that append to a frame one dies or stands still: no acknowledged row is lost, double or out of order',
  rounds: { ci: 2, release: 200 },
  secondsPerRound: 60,
  async run({ rounds, random, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using shared = new SharedServers(directory.path, 2);
    await shared.startAll();
    const ledger = new AppendLedger('ledger');
    const follower = new Follower(ledger.handle);
    await makeFrame(ledger, shared.at(0));
    // The other server shows the frame within its bound; INSERT needs it.
    await delay(boundMs);
    const counts = { kills: 0, stops: 0, flushes: 0 };
    for (let round = 0; round < rounds; round++) {
      const at = random.between(0, 1);
      const struck = shared.at(at);
      const other = shared.at(1 - at);
      let goesOn = true;
      let isStruck = false;
      let wasStruck = false;
      const servers = (): SpawnedFramehold[] => (isStruck ? [other] : shared.living);
      const mayFail = (): boolean => isStruck;
      const load = new AppendLoad({
        ledger,
        random: random.fork(),
        writers,
        servers,
        goesOn: () => goesOn,
        // A flush that was under way when its server stood still may be answered when it goes on.
        mayFail: () => wasStruck,
      });
      const work = Promise.all([load.run(), follower.follow(other, { goesOn: () => goesOn, mayFail })]);
      const acksMore = (more: number): Promise<number> => {
        const wanted = ledger.acks + more;
        const isThere = (): boolean => ledger.acks >= wanted;
        return until('appends are acknowledged', passesOnMs, isThere, () => other.stderr().slice(-1000));
      };
      const strike = async (): Promise<void> => {
        await acksMore(random.between(1, acksBefore[size]));
        isStruck = true;
        wasStruck = true;
        if (round % 2 === 0) {
          counts.stops++;
          await standStill(struck, random, () => acksMore(random.between(1, acksBefore[size])));
        } else {
          counts.kills++;
          struck.kill('SIGKILL');
          await struck.exited;
          await acksMore(random.between(1, acksBefore[size]));
          await shared.start(at);
        }
        isStruck = false;
        await acksMore(random.between(1, acksBefore[size]));
      };
      await Promise.race([work, strike()]);
      goesOn = false;
      await work;
      counts.flushes += load.flushes;
      await delay(boundMs);
      const shown = await Promise.all(shared.living.map((server) => follower.readAll(server)));
      for (const lines of shown) ledger.settle(lines);
      promised(
        shown[0]?.length === shown[1]?.length,
        'both servers show the same',
        shown.map(({ length }) => length),
      );
      if (round % 10 === 9) progress(`${round + 1} rounds, ${ledger.acks} appends acknowledged`);
    }
    return {
      ...counts,
      acks: ledger.acks,
      unanswered: ledger.unanswered,
      refused: ledger.refused,
      rows: follower.rows,
      lost: 0,
      double: 0,
    };
  },
};

/** For longer than the other waits, or for less. What the other acknowledged meanwhile stays. */
async function standStill(server: SpawnedFramehold, random: Random, othersGoOn: () => Promise<unknown>): Promise<void> {
  server.kill('SIGSTOP');
  try {
    if (random.chance(0.7)) await othersGoOn();
    else await delay(random.between(100, 2000));
  } finally {
    server.kill('SIGCONT');
  }
}
