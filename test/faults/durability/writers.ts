import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised } from '../harness/scenario.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'append', 'drop'];
const handlesPerWriter = 3;

/** Writers at every door, each with handles of its own, and a record of what they were told. */
export class Writers {
  readonly ledger = new Ledger();
  readonly #random: Random;
  #lastNumber = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Writes until the server is gone. Calls `strike` once in between, a moment after at most so many acknowledgements. */
  async writeUntilGone(server: SpawnedFramehold, mostAcks: number, strike: () => void): Promise<void> {
    const random = this.#random;
    // Sometimes before anything was written, mostly in the middle of much.
    const lastAck = this.ledger.acknowledged + (random.chance(0.2) ? 0 : random.between(1, mostAcks));
    const strikeAfterMs = random.between(0, 40);
    let isStruck = false;
    const goesOn = (): boolean => {
      if (this.ledger.acknowledged >= lastAck && !isStruck) {
        isStruck = true;
        setTimeout(strike, strikeAfterMs);
      }
      return !server.hasExited();
    };
    goesOn();
    await Promise.all([0, 1, 2].map((writer) => this.#keepWriting(server, random.fork(), `w${writer}`, goesOn)));
    promised(isStruck, 'every write has an answer as long as the server runs', server.stderr().slice(-2000));
    await server.exited;
  }

  async checkAll(server: SpawnedFramehold): Promise<void> {
    for (const handle of this.ledger.handles) this.ledger.settle(handle, await contentOf(server, handle));
  }

  async #keepWriting(server: SpawnedFramehold, random: Random, prefix: string, goesOn: () => boolean): Promise<void> {
    for (;;) {
      const verb = random.pick(verbs);
      const handle = `${prefix}_${random.between(1, handlesPerWriter)}`;
      const operation = { handle, verb, n: ++this.#lastNumber };
      const outcome = await write(server, random.pick(doorsFor(verb)), operation);
      this.ledger.note(operation, outcome);
      if (!goesOn() || outcome === 'unknown') return;
    }
  }
}
