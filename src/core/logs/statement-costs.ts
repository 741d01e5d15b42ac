import type { Deadline } from '../async/deadline.ts';
import { inSpan, type Span } from './span.ts';

/** The costs of a statement, added up by its workers. */
export class StatementCosts {
  /** It waited for a process, or a session of a cluster. */
  queueMs = 0;
  /** A process worked. */
  workMs = 0;
  /** A process waited for the reader of its rows. */
  readerMs = 0;
  rows = 0;
  bytes = 0;
  /** Written to disk for want of memory. */
  spilledBytes = 0;
  /** The time limit of the statement as a whole, if it has one. */
  clock: Pick<Deadline, 'pause' | 'resume'> | undefined;
  #waits = 0;

  /** Waits for others: that does not count for the statement's time. */
  async waiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.clock?.pause();
    try {
      return await wait();
    } finally {
      if (--this.#waits === 0) this.clock?.resume();
    }
  }
}

/** Waits for its turn, and adds the wait to the trace and the costs, if there are any. */
export async function inQueue<T>(
  { span, costs }: { readonly span?: Span | undefined; readonly costs?: StatementCosts | undefined },
  wait: () => Promise<T>,
): Promise<T> {
  const begunAt = performance.now();
  try {
    const queued = (): Promise<T> => inSpan(span, 'queue', wait);
    return costs === undefined ? await queued() : await costs.waiting(queued);
  } finally {
    if (costs !== undefined) costs.queueMs += performance.now() - begunAt;
  }
}
