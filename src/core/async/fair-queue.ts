export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** `client#connection`; without a `#` it is the client's only one. Default: one lane for all. */
  readonly lane?: string | undefined;
  /** Units that the caller needs. Default 1. */
  readonly units?: number | undefined;
}

interface Waiter<T> {
  readonly units: number;
  take(value: T): void;
  refuse(error: unknown): void;
}

/**
 * Callers that wait for a value. Clients take turns, and among the calls of one client its connections: neither a busy
 * connection nor a client with many of them holds up the others.
 */
export class FairQueue<T> {
  readonly #clients = new Map<string, Map<string, Waiter<T>[]>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The units that the first in the queue needs; undefined where nobody waits. */
  get nextUnits(): number | undefined {
    return this.#first()?.waiting[0]?.units;
  }

  /** Rejects with the signal's reason, or with what the queue is refused with. */
  wait({ signal, lane = '', units = 1 }: WaitOptions): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle =
        <V>(action: (value: V) => void) =>
        (value: V): void => {
          signal?.removeEventListener('abort', onAbort);
          action(value);
        };
      const waiter = { units, take: settle(resolve), refuse: settle(reject) };
      const onAbort = (): void => {
        this.#remove(lane, waiter);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#push(lane, waiter);
    });
  }

  /** Gives the value to the caller whose turn it is; its lane and its client go to the end. False where nobody waits. */
  serve(value: T): boolean {
    const waiter = this.#shift();
    waiter?.take(value);
    return waiter !== undefined;
  }

  refuseAll(error: unknown): void {
    for (let waiter = this.#shift(); waiter !== undefined; waiter = this.#shift()) waiter.refuse(error);
  }

  #push(lane: string, waiter: Waiter<T>): void {
    const client = clientOf(lane);
    const lanes = this.#clients.get(client) ?? new Map<string, Waiter<T>[]>();
    this.#clients.set(client, lanes);
    const waiting = lanes.get(lane);
    if (waiting === undefined) lanes.set(lane, [waiter]);
    else waiting.push(waiter);
    this.#size++;
  }

  #first() {
    for (const [client, lanes] of this.#clients) {
      for (const [lane, waiting] of lanes) return { client, lanes, lane, waiting };
    }
    return undefined;
  }

  #shift(): Waiter<T> | undefined {
    const first = this.#first();
    if (first === undefined) return undefined;
    const { client, lanes, lane, waiting } = first;
    const waiter = waiting.shift();
    lanes.delete(lane);
    if (waiting.length > 0) lanes.set(lane, waiting);
    this.#clients.delete(client);
    if (lanes.size > 0) this.#clients.set(client, lanes);
    this.#size--;
    return waiter;
  }

  #remove(lane: string, waiter: Waiter<T>): void {
    const client = clientOf(lane);
    const lanes = this.#clients.get(client);
    const waiting = lanes?.get(lane);
    const index = waiting?.indexOf(waiter) ?? -1;
    if (lanes === undefined || waiting === undefined || index < 0) return;
    waiting.splice(index, 1);
    if (waiting.length === 0) lanes.delete(lane);
    if (lanes.size === 0) this.#clients.delete(client);
    this.#size--;
  }
}

function clientOf(lane: string): string {
  const end = lane.indexOf('#');
  return end < 0 ? lane : lane.slice(0, end);
}
