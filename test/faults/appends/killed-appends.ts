import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { AppendLedger } from './append-ledger.ts';
import { AppendLoad, makeFrame } from './append-load.ts';
import { Follower } from './follower.ts';

const writers = 16;
const acksPerKill = { ci: 80, release: 1200 };

/** G1: sixteen append to one frame through four doors, it is flushed and merged all the time, and the server is killed. */
export const killedAppends: Scenario = {
  id: 'G1',
  promise:
    'kill -9 amid appends, flushes and merges: each acknowledged append is there once, in order, its rows numbered for good',
  rounds: { ci: 1, release: 100 },
  secondsPerRound: 20,
  async run({ rounds, random, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const ledger = new AppendLedger('ledger');
    const follower = new Follower(ledger.handle);
    let flushes = 0;
    for (let kill = 0; kill < rounds; kill++) {
      await using server = await spawnFramehold({ dataDir: directory.path });
      if (kill === 0) await makeFrame(ledger, server);
      ledger.settle(await follower.readAll(server));
      const lastAck = ledger.acks + random.between(acksPerKill[size] >> 1, (3 * acksPerKill[size]) >> 1);
      const killAfterMs = random.between(0, 40);
      let isStruck = false;
      const goesOn = (): boolean => {
        // Not before the frame was flushed: a slow machine acknowledges them all before its first flush ends.
        if (ledger.acks >= lastAck && flushes + load.flushes > kill / 2 && !isStruck) {
          isStruck = true;
          setTimeout(() => server.kill('SIGKILL'), killAfterMs);
        }
        return !server.hasExited();
      };
      const mayFail = (): boolean => isStruck;
      const load = new AppendLoad({ ledger, random: random.fork(), writers, servers: () => [server], goesOn, mayFail });
      await Promise.all([load.run(), follower.follow(server, { goesOn, mayFail })]);
      flushes += load.flushes;
      promised(isStruck, 'the server runs until it is killed', server.stderr().slice(-2000));
      if (kill % 10 === 9) progress(`${kill + 1} kills, ${ledger.acks} appends acknowledged, ${follower.rows} rows`);
    }
    await using server = await spawnFramehold({ dataDir: directory.path });
    ledger.settle(await follower.readAll(server));
    return {
      kills: rounds,
      acks: ledger.acks,
      unanswered: ledger.unanswered,
      flushes,
      rows: follower.rows,
      lost: 0,
      double: 0,
    };
  },
};
