import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Verb } from '../harness/ledger.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { SharedHistory } from './shared-history.ts';
import { boundMs, SharedClients, SharedServers } from './shared-servers.ts';

const handles = ['a', 'b'];
/** A lock passes on when its owner gave no sign of life for 5 s; the rest is for a busy machine. */
const passesOnMs = 9000;
const puts: readonly Verb[] = ['overwrite', 'append'];

/** M2: a server stopped in the middle of its writes, for less or more than its neighbours wait, and continued. */
export const frozenWriter: Scenario = {
  id: 'M2',
  promise: 'a server that stands still holds up the others for seconds at most, and does no harm when it goes on',
  rounds: { ci: 1, release: 200 },
  secondsPerRound: 40,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using shared = new SharedServers(directory.path, 3);
    await shared.startAll();
    const history = new SharedHistory(boundMs);
    const clients = new SharedClients(shared, history, handles);
    let slowestMs = 0;
    let lostPlaces = 0;
    for (let round = 0; round < rounds; round++) {
      const frozen = shared.at(round % 3);
      const others = shared.living.filter((server) => server !== frozen);
      let goesOn = true;
      const atFrozen = Array.from({ length: 4 }, () =>
        clients.keepWriting(
          random.fork(),
          () => goesOn,
          () => [frozen],
        ),
      );
      const readers = [frozen, ...others].map((server) =>
        clients.keepReading(
          random.fork(),
          () => goesOn,
          () => [server],
        ),
      );
      const work = Promise.all([...atFrozen, ...readers]);
      await Promise.race([work, delay(random.between(200, 1200))]);
      frozen.kill('SIGSTOP');
      const isLong = random.chance(0.7);
      const thawed = delay(isLong ? random.between(6000, 9000) : random.between(300, 3000));
      for (const handle of handles) {
        const { endedAt, beganAt, outcome } = await clients.write(random.pick(others), handle, random.pick(puts));
        promised(outcome === 'acknowledged', `${handle} can be written beside a server that stands still`, outcome);
        slowestMs = Math.max(slowestMs, endedAt - beganAt);
        promised(endedAt - beganAt < passesOnMs, `a write waits for it less than ${passesOnMs} ms`, endedAt - beganAt);
      }
      const alone = clients.keepWriting(
        random.fork(),
        () => goesOn,
        () => others,
      );
      await thawed;
      frozen.kill('SIGCONT');
      await delay(random.between(300, 1500));
      goesOn = false;
      await Promise.all([work, alone]);
      await clients.assertAgreement();
      const { outcome } = await clients.write(frozen, random.pick(handles), 'overwrite');
      promised(
        outcome === 'acknowledged',
        'a server that stood still can be written to again',
        frozen.stderr().slice(-1500),
      );
      if (round % 10 === 9) progress(`${round + 1} times, ${history.count('acknowledged')} writes acknowledged`);
    }
    for (const server of shared.living) lostPlaces += server.stderr().split('took this one for dead').length - 1;
    return {
      stops: rounds,
      'places lost': lostPlaces,
      acks: history.count('acknowledged'),
      unanswered: history.count('unknown'),
      refused: history.count('refused'),
      reads: clients.reads,
      'refused reads': clients.refusedReads,
      'slowest write beside ms': Math.round(slowestMs),
      lost: 0,
    };
  },
};
