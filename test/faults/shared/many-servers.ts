import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { SharedHistory } from './shared-history.ts';
import { boundMs, SharedClients, SharedServers } from './shared-servers.ts';

const servers = 3;
const writers = 5;
const readers = 3;
const handles = ['a', 'b', 'c', 'd'];

/** M1: three servers of one directory, everybody at the same frames, and one server after another killed. */
export const manyServers: Scenario = {
  id: 'M1',
  promise:
    'servers of one directory lose nothing when some are killed, and show within a second what another acknowledged',
  rounds: { ci: 2, release: 300 },
  secondsPerRound: 15,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using shared = new SharedServers(directory.path, servers);
    await shared.startAll();
    const history = new SharedHistory(boundMs);
    const clients = new SharedClients(shared, history, handles);
    let goesOn = true;
    const work = Promise.all([
      ...Array.from({ length: writers }, () => clients.keepWriting(random.fork(), () => goesOn)),
      ...Array.from({ length: readers }, () => clients.keepReading(random.fork(), () => goesOn)),
    ]).finally(() => {
      goesOn = false;
    });
    const kill = async (): Promise<void> => {
      for (let round = 0; round < rounds && goesOn; round++) {
        const wanted = history.count('acknowledged') + random.between(3, 25);
        const isThere = (): boolean => history.count('acknowledged') >= wanted;
        const deadline = performance.now() + 60_000;
        while (goesOn && !isThere()) {
          promised(
            performance.now() < deadline,
            'writes are acknowledged',
            shared.living.map((one) => one.stderr().slice(-500)),
          );
          await delay(5);
        }
        const at = random.between(0, servers - 1);
        const victim = shared.at(at);
        victim.kill('SIGKILL');
        await victim.exited;
        if (random.chance(0.5)) await delay(random.between(0, 500));
        await shared.start(at);
        if (round % 10 === 9) progress(`${round + 1} kills, ${history.count('acknowledged')} writes acknowledged`);
      }
      goesOn = false;
    };
    await Promise.all([work, kill()]);
    await clients.assertAgreement();
    return {
      kills: rounds,
      acks: history.count('acknowledged'),
      unanswered: history.count('unknown'),
      refused: history.count('refused'),
      reads: clients.reads,
      'refused reads': clients.refusedReads,
      'slowest write ms': Math.round(clients.slowestWriteMs),
      lost: 0,
    };
  },
};
