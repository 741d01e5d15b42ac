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
}

/** Waits for its turn, which is told of a trace and among the costs, where there are these. */
export async function inQueue<T>(
  { span, costs }: { readonly span?: Span | undefined; readonly costs?: StatementCosts | undefined },
  wait: () => Promise<T>,
): Promise<T> {
  const begunAt = performance.now();
  try {
    return await inSpan(span, 'queue', wait);
  } finally {
    if (costs !== undefined) costs.queueMs += performance.now() - begunAt;
  }
}
