import { FairQueue } from './fair-queue.ts';

/** There is one event loop in a process, and so one queue for it. */
const queue = new FairQueue<void>();

/** Work for fewer bytes need not ask. */
export const lightBytes = 64 * 1024;

/**
 * Before work that holds the event loop for some milliseconds, and between the slices of longer work: resolves in a turn of the
 * event loop that nobody else who asks works in. Many callers who each do a bit would else make one long turn together. They come in
 * the order of their lanes, as `FairQueue` has it.
 */
export function ownTurn(lane: string): Promise<void> {
  if (queue.size === 0) setImmediate(serveNext);
  return queue.wait({ lane });
}

function serveNext(): void {
  queue.serve();
  if (queue.size > 0) setImmediate(serveNext);
}

const sliceMs = 10;

/** Work of many small steps, some of which wait for others. */
export class WorkSlices {
  readonly #lane: string;
  #sinceMs = performance.now();

  constructor(lane: string) {
    this.#lane = lane;
  }

  /** Between two steps: gives others their turn where the last one was some time ago. Undefined where it was not. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.#sinceMs < sliceMs) return undefined;
    return ownTurn(this.#lane).then(() => {
      this.#sinceMs = performance.now();
    });
  }
}
