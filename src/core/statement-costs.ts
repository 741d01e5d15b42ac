import type { Deadline } from './async/deadline.ts';
import { inSpan, type Span } from './span.ts';

/** What a statement takes, noted by those who work for it. */
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
  /** Of the time that the statement has, if that is limited as a whole. */
  clock: Pick<Deadline, 'pause' | 'resume'> | undefined;
  #waits = 0;

  /** Waits for others: that takes nothing of the statement's own time. */
  async waiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.clock?.pause();
    try {
      return await wait();
    } finally {
      if (--this.#waits === 0) this.clock?.resume();
    }
  }
}

/** Waits for its turn, which is told of a trace and among the costs, where there are these. */
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
