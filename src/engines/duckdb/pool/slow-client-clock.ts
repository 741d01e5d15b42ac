import { Deadline } from '../../../core/async/deadline.ts';

export interface SlowClientClockOptions {
  /** A worker that waits for its client for longer is held by it. */
  readonly heldAfterMs: number;
  readonly onHeld: () => void;
  readonly onFreed: () => void;
}

/** Reports when a job is blocked by a slow client. */
export class SlowClientClock {
  readonly #options: SlowClientClockOptions;
  #deadline: Deadline | undefined;

  constructor(options: SlowClientClockOptions) {
    this.#options = options;
  }

  /** From now on it is the client's turn. */
  start(): void {
    if (this.#deadline === undefined) this.#deadline = new Deadline(this.#options.heldAfterMs, this.#options.onHeld);
    else this.#deadline.restart();
  }

  /** The client has done its part. */
  stop(): void {
    this.#deadline?.pause();
    if (this.#deadline?.isOver !== true) return;
    this.#deadline = undefined;
    this.#options.onFreed();
  }

  /** The job is over. */
  end(): void {
    this.stop();
    this.#deadline?.stop();
  }
}
