export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Parts from the widest to the narrowest, with `#` between them: `tenant#name#connection`. Default: one lane for all. */
  readonly lane?: string | undefined;
  /** Units that the caller needs. Default 1. */
  readonly units?: number | undefined;
}

interface Waiter<T> {
  readonly units: number;
  take(value: T): void;
  refuse(error: unknown): void;
}

/** Those who wait in one part of a lane, and the narrower parts. The part whose turn it is comes first. */
interface Turns<T> {
  readonly parts: Map<string, Turns<T>>;
  readonly waiting: Waiter<T>[];
}

/**
 * Callers that wait for a value. They take turns by the first part of their lane, those with the same first part by the second,
 * and so on: neither a busy connection, nor a caller with many of them, nor a tenant with many callers holds up the others.
 */
export class FairQueue<T> {
  readonly #turns: Turns<T> = noTurns();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The units that the first in the queue needs; undefined where nobody waits. */
  get nextUnits(): number | undefined {
    return first(this.#turns)?.units;
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
        if (remove(this.#turns, lane.split('#'), waiter)) this.#size--;
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      push(this.#turns, lane.split('#'), waiter);
      this.#size++;
    });
  }

  /** Gives the value to the caller whose turn it is; the parts of its lane go to the end. False where nobody waits. */
  serve(value: T): boolean {
    const waiter = this.#shift();
    waiter?.take(value);
    return waiter !== undefined;
  }

  refuseAll(error: unknown): void {
    for (let waiter = this.#shift(); waiter !== undefined; waiter = this.#shift()) waiter.refuse(error);
  }

  #shift(): Waiter<T> | undefined {
    const waiter = shift(this.#turns);
    if (waiter !== undefined) this.#size--;
    return waiter;
  }
}

function noTurns<T>(): Turns<T> {
  return { parts: new Map(), waiting: [] };
}

function isEmpty({ parts, waiting }: Turns<unknown>): boolean {
  return parts.size === 0 && waiting.length === 0;
}

function first<T>({ parts, waiting }: Turns<T>): Waiter<T> | undefined {
  const [next] = parts.values();
  return waiting[0] ?? (next === undefined ? undefined : first(next));
}

function push<T>(turns: Turns<T>, [part, ...narrower]: readonly string[], waiter: Waiter<T>): void {
  if (part === undefined) {
    turns.waiting.push(waiter);
    return;
  }
  const next = turns.parts.get(part) ?? noTurns<T>();
  turns.parts.set(part, next);
  push(next, narrower, waiter);
}

function shift<T>({ parts, waiting }: Turns<T>): Waiter<T> | undefined {
  if (waiting.length > 0) return waiting.shift();
  const [entry] = parts;
  if (entry === undefined) return undefined;
  const [part, next] = entry;
  const waiter = shift(next);
  parts.delete(part);
  if (!isEmpty(next)) parts.set(part, next);
  return waiter;
}

/** False where it does not wait any more. */
function remove<T>({ parts, waiting }: Turns<T>, [part, ...narrower]: readonly string[], waiter: Waiter<T>): boolean {
  if (part === undefined) {
    const index = waiting.indexOf(waiter);
    if (index >= 0) waiting.splice(index, 1);
    return index >= 0;
  }
  const next = parts.get(part);
  if (next === undefined || !remove(next, narrower, waiter)) return false;
  if (isEmpty(next)) parts.delete(part);
  return true;
}
