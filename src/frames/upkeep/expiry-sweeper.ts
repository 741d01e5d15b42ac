import type { Logger } from '../../core/logs/logger.ts';
import type { FrameExpiry } from './frame-expiry.ts';

const sweepMs = 1000;
const tombstonesEverySweeps = 60;

/** Drops expired frames now and then. Answers do not depend on it: each request checks the clock. */
export class ExpirySweeper {
  readonly #timer: NodeJS.Timeout;
  #sweeps = 0;
  #isSweeping = false;

  constructor(all: () => readonly FrameExpiry[], logger: Logger) {
    this.#timer = setInterval(() => {
      if (this.#isSweeping) return;
      this.#isSweeping = true;
      this.#sweep(all(), logger).finally(() => {
        this.#isSweeping = false;
      });
    }, sweepMs).unref();
  }

  dispose(): void {
    clearInterval(this.#timer);
  }

  async #sweep(all: readonly FrameExpiry[], logger: Logger): Promise<void> {
    const isTombstonesTurn = this.#sweeps++ % tombstonesEverySweeps === 0;
    for (const one of all) {
      try {
        await one.expire();
        if (isTombstonesTurn) await one.forgetOldTombstones();
      } catch (error) {
        logger.debug('could not drop what has expired', { error: String(error) });
      }
    }
  }
}
