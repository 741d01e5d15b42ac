import { AppError } from '../../core/app-error.ts';

export interface FairPlacesOptions {
  readonly max: number;
  readonly maxWaiting: number;
  /** For errors. */
  readonly engine: string;
}

type Turn = () => void;

/** A number of places for queries. Who must wait gets one in turn with other lanes, however many stand in each. */
export class FairPlaces {
  readonly #options: FairPlacesOptions;
  #taken = 0;
  #waiting = 0;
  /** The lane whose turn is next stands first. */
  readonly #lanes = new Map<string, Turn[]>();

  constructor(options: FairPlacesOptions) {
    this.#options = options;
  }

  /** Gives what frees the place again. Rejects with `overloaded`, or with the signal's reason. */
  async take(lane: string, signal: AbortSignal): Promise<() => void> {
    const { max, maxWaiting, engine } = this.#options;
    signal.throwIfAborted();
    if (this.#taken < max) this.#taken += 1;
    else if (this.#waiting >= maxWaiting) {
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
      const queue = this.#lanes.get(lane) ?? [];
      this.#lanes.set(lane, queue);
      const leave = (): void => {
        this.#waiting -= 1;
        signal.removeEventListener('abort', onAbort);
      };
      const turn = (): void => {
        leave();
        resolve();
      };
      const onAbort = (): void => {
        queue.splice(queue.indexOf(turn), 1);
        if (queue.length === 0) this.#lanes.delete(lane);
        leave();
        reject(signal.reason);
      };
      this.#waiting += 1;
      queue.push(turn);
      signal.addEventListener('abort', onAbort);
    });
  }

  #free(): void {
    const [first] = this.#lanes;
    if (first === undefined) {
      this.#taken -= 1;
      return;
    }
    const [lane, queue] = first;
    const turn = queue.shift();
    this.#lanes.delete(lane);
    if (queue.length > 0) this.#lanes.set(lane, queue);
    turn?.();
  }
}
