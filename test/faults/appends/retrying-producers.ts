import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Outcome } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { boundMs, SharedServers } from '../shared/shared-servers.ts';
import type { AppendDoor, ProducerHeaders } from './append-client.ts';
import { type Append, AppendLedger } from './append-ledger.ts';
import { Clients, makeFrame } from './append-load.ts';
import { Follower } from './follower.ts';

const producers = 6;
const acksPerKill = { ci: 15, release: 300 };
const doorsOfProducers: readonly AppendDoor[] = ['imp', 'write', 'doPut'];
const answersWithinMs = 60_000;

/** G5: producers send each append again and again, at two servers of which one after the other is killed. */
export const retryingProducers: Scenario = {
  id: 'G5',
  promise:
    'producers that send everything again, also after kill -9 and at another server, find each append there once',
  rounds: { ci: 1, release: 200 },
  secondsPerRound: 60,
  async run({ rounds, random, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using shared = new SharedServers(directory.path, 2);
    await shared.startAll();
    const ledger = new AppendLedger('ledger');
    await makeFrame(ledger, shared.at(0));
    await delay(boundMs);
    const counts = { sent: 0, 'sent again': 0 };
    let goesOn = true;
    const produce = async (writer: number, mine: Random): Promise<void> => {
      using clients = new Clients();
      const send = async (append: Append): Promise<Outcome> => {
        const client = clients.of(mine.pick(shared.living));
        if (client === undefined) return 'refused';
        counts.sent++;
        return client.append(mine.pick(doorsOfProducers), ledger.handle, append, headersOf(append));
      };
      const sent: Append[] = [];
      while (goesOn) {
        const append = ledger.begin(writer);
        const deadline = performance.now() + answersWithinMs;
        while (append.outcome !== 'acknowledged') {
          const attempts = Array.from({ length: mine.between(1, 2) }, () => send(append));
          if ((await Promise.all(attempts)).includes('acknowledged')) ledger.end(append, 'acknowledged');
          else await delay(20);
          promised(performance.now() < deadline, 'a producer gets its acknowledgement', append);
        }
        sent.push(append);
        // Also what was acknowledged, long ago or just now.
        const again = mine.chance(0.5) ? append : mine.pick(sent);
        await send(again);
        counts['sent again']++;
      }
    };
    const work = Promise.all(Array.from({ length: producers }, (_, index) => produce(index + 1, random.fork())));
    const kill = async (): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        const wanted = ledger.acks + random.between(1, 2 * acksPerKill[size]);
        await until('appends are acknowledged', answersWithinMs, () => ledger.acks >= wanted);
        const at = random.between(0, 1);
        shared.at(at).kill('SIGKILL');
        await shared.at(at).exited;
        await shared.start(at);
        if (round % 10 === 9) progress(`${round + 1} kills, ${ledger.acks} appends acknowledged, ${counts.sent} sent`);
      }
      const wanted = ledger.acks + acksPerKill[size];
      await until('appends are acknowledged', answersWithinMs, () => ledger.acks >= wanted);
    };
    await Promise.race([work, kill()]);
    goesOn = false;
    await work;
    await delay(boundMs);
    const follower = new Follower(ledger.handle);
    for (const server of shared.living) ledger.settle(await follower.readAll(server));
    return { kills: rounds, acks: ledger.acks, ...counts, rows: follower.rows, lost: 0, double: 0 };
  },
};

function headersOf({ writer, n }: Append): ProducerHeaders {
  return { 'producer-id': `p${writer}`, 'producer-epoch': '0', 'producer-seq': String(n) };
}
