import { FairQueue } from './fair-queue.ts';

/** There is one event loop in a process, and so one queue for it. */
const queue = new FairQueue<void>();
let isServing = false;

/** Work for fewer bytes need not ask for a turn of its own. */
export const lightBytes = 64 * 1024;
/** So long a turn may be for all who share it. */
const turnMs = 2;
/** So many small pieces of work in a turn need no look at the clock. */
const uncounted = 16;

let pieces = 0;
/** Undefined until there are that many. */
let turnSinceMs: number | undefined;

/**
 * Before work that holds the event loop for some milliseconds, and between the slices of longer work: resolves in a turn of the
 * event loop that has not been long yet. Many callers who each do a bit would else make one long turn together. They come in the order
 * of their lanes, as `FairQueue` has it.
 */
export function ownTurn(lane: string): Promise<void> {
  if (!isServing) setImmediate(serve);
  isServing = true;
  return queue.wait({ lane });
}

/**
 * Before a small piece of work, as a request that begins or some bytes of its body: undefined where it may go on at once, which it
 * mostly may. Where a thousand come in one turn, all but the first wait, in the order of their lanes, for one of the next.
 */
export function sharedTurn(lane: () => string): Promise<void> | undefined {
  if (isServing) return ownTurn(lane());
  pieces++;
  if (pieces < uncounted) return undefined;
  const nowMs = performance.now();
  if (turnSinceMs === undefined) {
    turnSinceMs = nowMs;
    setImmediate(beginTurn);
  }
  return nowMs - turnSinceMs < turnMs ? undefined : ownTurn(lane());
}

function beginTurn(): void {
  pieces = 0;
  turnSinceMs = undefined;
}

/** Serves those that wait one by one, until the turn has been long enough. */
function serve(): void {
  const untilMs = performance.now() + turnMs;
  const next = (): void => {
    queue.serve();
    // Behind the work of the one that was served, as far as that waits for nothing else.
    queueMicrotask(() => process.nextTick(goOn));
  };
  const goOn = (): void => {
    if (queue.size === 0) isServing = false;
    else if (performance.now() < untilMs) next();
    else setImmediate(serve);
  };
  next();
}

/** All steps of work that is short. */
export function atOnce<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** All steps of some work, with turns for others between them. */
export async function inTurns<T>(steps: Generator<void, T, void>, lane: string): Promise<T> {
  await ownTurn(lane);
  const slices = new WorkSlices(lane);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const rest = slices.rest();
    if (rest !== undefined) await rest;
  }
}

/** Work of many small steps, some of which wait for others. */
export class WorkSlices {
  readonly #lane: string;
  #sinceMs = performance.now();

  constructor(lane: string) {
    this.#lane = lane;
  }

  /** Between two steps: gives others their turn where the last one was some time ago. Undefined where it was not. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.#sinceMs < turnMs) return undefined;
    return ownTurn(this.#lane).then(() => {
      this.#sinceMs = performance.now();
    });
  }
}
