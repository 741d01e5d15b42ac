import { Deadline } from '../../../core/async/deadline.ts';

export interface ClientWatchOptions {
  /** A worker that waits for its client for longer is held by it. */
  readonly heldAfterMs: number;
  readonly onHeld: () => void;
  readonly onFreed: () => void;
}

/** Tells when the work of a job stands still because its client is slow. */
export class ClientWatch {
  readonly #options: ClientWatchOptions;
  #patience: Deadline | undefined;

  constructor(options: ClientWatchOptions) {
    this.#options = options;
  }

  /** From now on it is the client's turn. */
  waits(): void {
    if (this.#patience === undefined) this.#patience = new Deadline(this.#options.heldAfterMs, this.#options.onHeld);
    else this.#patience.restart();
  }

  /** The client has done its part. */
  goesOn(): void {
    this.#patience?.pause();
    if (this.#patience?.isOver !== true) return;
    this.#patience = undefined;
    this.#options.onFreed();
  }

  /** The job is over. */
  end(): void {
    this.goesOn();
    this.#patience?.stop();
  }
}
