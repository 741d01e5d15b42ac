import { AppError } from '../../core/app-error.ts';
import { FairQueue } from '../../core/async/fair-queue.ts';

export interface FairPlacesOptions {
  readonly max: number;
  readonly maxWaiting: number;
  /** For errors. */
  readonly engine: string;
}

type Turn = () => void;

/** A number of places for queries. Who must wait gets one in turn with other clients, however many of theirs wait. */
export class FairPlaces {
  readonly #options: FairPlacesOptions;
  #taken = 0;
  readonly #waiting = new FairQueue<Turn>();

  constructor(options: FairPlacesOptions) {
    this.#options = options;
  }

  /** Gives what frees the place again. Rejects with `overloaded`, or with the signal's reason. */
  async take(lane: string, signal: AbortSignal): Promise<() => void> {
    const { max, maxWaiting, engine } = this.#options;
    signal.throwIfAborted();
    if (this.#taken < max) this.#taken += 1;
    else if (this.#waiting.size >= maxWaiting) {
      throw new AppError('overloaded', `engine ${engine} runs ${max} queries, and ${maxWaiting} more wait for it`, {
        hint: 'send the request again shortly',
        retryAfterSeconds: 1,
      });
    } else await this.#turn(lane, signal);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#free();
    };
  }

  #turn(lane: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.remove(lane, turn);
        reject(signal.reason);
      };
      this.#waiting.push(lane, turn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #free(): void {
    const turn = this.#waiting.shift();
    if (turn === undefined) this.#taken -= 1;
    else turn();
  }
}
