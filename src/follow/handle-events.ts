import { LinkedAbort } from '../core/async/linked-abort.ts';
import type { Principal } from '../core/callers/principal.ts';
import type { FrameChange } from '../frames/catalog/frame-changes.ts';
import type { Frames } from '../frames/frames.ts';
import type { Followers } from './followers.ts';

export interface HandleEventsOptions {
  readonly signal: AbortSignal;
  readonly lane: string;
  /** Only names that begin so. */
  readonly prefix: string;
  /** Called once the rights are checked: nothing is done for the caller from now on but waiting. */
  readonly onWaiting: () => void;
}

const appendsEveryMs = 1000;

/** Changes of the frames of a caller: puts and drops at once, appends of a handle summed to one a second. `undefined` is a progress mark. */
export async function* handleEvents(
  { frames, followers }: { readonly frames: Pick<Frames, 'watchAll'>; readonly followers: Followers },
  principal: Principal,
  { signal, lane, prefix, onWaiting }: HandleEventsOptions,
): AsyncGenerator<FrameChange | undefined, void, undefined> {
  using abort = new LinkedAbort([signal]);
  using pending = new PendingChanges(followers);
  const place = followers.enter(lane, (error) => abort.abort(error), abort.signal);
  abort.signal.addEventListener('abort', () => pending.wake());
  try {
    await place.entered;
    onWaiting();
    const tell = (change: FrameChange): void => {
      if (change.handle.startsWith(prefix)) pending.add(change);
    };
    using _watch = await frames.watchAll(principal, tell, abort);
    yield undefined;
    for (;;) {
      // It may have aborted while the reader had the last change.
      abort.signal.throwIfAborted();
      await pending.wait(followers.progressIntervalMs);
      abort.signal.throwIfAborted();
      const changes = pending.take();
      if (changes.length === 0) yield undefined;
      yield* changes;
    }
  } finally {
    place.leave();
  }
}

/** At most two for each handle, for any speed of the reader: appends, and the put or drop after them. */
class PendingChanges implements Disposable {
  readonly #followers: Followers;
  readonly #ready = new Map<string, readonly FrameChange[]>();
  readonly #appends = new Map<string, FrameChange>();
  #wake: (() => void) | undefined;
  #cancelFlush: (() => void) | undefined;

  constructor(followers: Followers) {
    this.#followers = followers;
  }

  add(change: FrameChange): void {
    const { handle } = change;
    if (change.kind === 'append') {
      this.#appends.set(handle, merged(this.#appends.get(handle), change));
      this.#cancelFlush ??= this.#followers.timers.after(appendsEveryMs, () => this.#flush());
      return;
    }
    const append = this.#appends.get(handle);
    this.#appends.delete(handle);
    if (append !== undefined) this.#makeReady(append);
    const [first] = this.#ready.get(handle) ?? [];
    this.#ready.set(handle, first?.kind === 'append' ? [first, change] : [change]);
    this.wake();
  }

  take(): FrameChange[] {
    const changes = [...this.#ready.values()].flat();
    this.#ready.clear();
    return changes;
  }

  /** Until there is something, or the time is over. */
  async wait(timeoutMs: number): Promise<void> {
    if (this.#ready.size > 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#followers.timers.after(timeoutMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }

  wake(): void {
    this.#wake?.();
  }

  [Symbol.dispose](): void {
    this.#cancelFlush?.();
  }

  #flush(): void {
    this.#cancelFlush = undefined;
    for (const append of this.#appends.values()) this.#makeReady(append);
    this.#appends.clear();
    this.wake();
  }

  #makeReady(append: FrameChange): void {
    const before = this.#ready.get(append.handle) ?? [];
    this.#ready.set(append.handle, [...before.slice(0, -1), merged(before.at(-1), append)]);
  }
}

/** Both as one. */
function merged(before: FrameChange | undefined, append: FrameChange): FrameChange {
  if (append.kind === 'drop' || before === undefined || before.kind === 'drop') return append;
  return { ...append, kind: before.kind, rowsAdded: before.rowsAdded + append.rowsAdded };
}
