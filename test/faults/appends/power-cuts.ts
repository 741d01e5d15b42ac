import { join } from 'node:path';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { cuttableDisk } from '../harness/cuttable-disk.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { AppendLedger } from './append-ledger.ts';
import { AppendLoad, makeFrame } from './append-load.ts';
import { Follower } from './follower.ts';

/** Rounds on one disk: what is written early is looked at after every cut that follows. */
const cutsPerDisk = 25;
const writers = 8;
const mostAcks = 200;

/** G2: appends and flushes on a disk whose power is cut, so that it holds only what was synced. */
export const powerCuts: Scenario = {
  id: 'G2',
  promise:
    'a power cut amid appends, flushes and merges loses no acknowledged row, doubles none, and shows nothing half',
  rounds: { ci: 1, release: 300 },
  secondsPerRound: 20,
  needs: ['mount'],
  async run({ rounds, random, progress }: Trial) {
    const total = { acks: 0, unanswered: 0, flushes: 0, rows: 0 };
    for (let cut = 0; cut < rounds; ) {
      await using disk = await cuttableDisk({ inodeBytes: random.chance(0.2) ? 128 : 256 });
      const dataDir = join(disk.path, 'data');
      const ledger = new AppendLedger('ledger');
      const follower = new Follower(ledger.handle);
      const first = cut;
      for (let last = Math.min(rounds, cut + cutsPerDisk); cut < last; cut++) {
        await using server = await spawnFramehold({ dataDir });
        if (cut === first) await makeFrame(ledger, server);
        ledger.isCut = false;
        ledger.settle(await follower.readAll(server));
        const lastAck = ledger.acks + (random.chance(0.1) ? 0 : random.between(1, mostAcks));
        const strikeAfterMs = random.between(0, 30);
        const killAfterMs = random.between(0, 40);
        let isStruck = false;
        const strike = (): void => {
          // The kernel lets a sync that is under way succeed although its power is cut: answers count up to here.
          ledger.isCut = true;
          disk.cutPower();
          setTimeout(() => server.kill('SIGKILL'), killAfterMs);
        };
        const goesOn = (): boolean => {
          if (ledger.acks >= lastAck && !isStruck) {
            isStruck = true;
            setTimeout(strike, strikeAfterMs);
          }
          return !server.hasExited();
        };
        const mayFail = (): boolean => isStruck;
        const load = new AppendLoad({
          ledger,
          random: random.fork(),
          writers,
          servers: () => [server],
          goesOn,
          mayFail,
        });
        await Promise.all([load.run(), follower.follow(server, { goesOn, mayFail, isCut: () => ledger.isCut })]);
        promised(isStruck, 'the server runs until its power is cut', server.stderr().slice(-2000));
        total.flushes += load.flushes;
        await disk.restart();
        if (cut % 20 === 19) progress(`${cut + 1} cuts, ${total.acks + ledger.acks} acknowledged`);
      }
      await using server = await spawnFramehold({ dataDir });
      ledger.settle(await follower.readAll(server));
      total.acks += ledger.acks;
      total.unanswered += ledger.unanswered;
      total.rows += follower.rows;
      server.kill('SIGKILL');
      await server.exited;
    }
    promised(total.acks >= rounds, 'there were enough appends to say anything', total.acks);
    return { 'power cuts': rounds, ...total, lost: 0, double: 0 };
  },
};
