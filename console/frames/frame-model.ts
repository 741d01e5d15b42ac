import { type ReadonlySignal, signal } from '@preact/signals';
import { ConnectionError, FrameholdError } from '#client/errors.ts';
import { isAbort } from '../api/api-error.ts';
import { describeFrame, type Frame, lineageOf } from './frame.ts';
import { watchFrames } from './frame-changes.ts';
import { type FrameSource, frameSource } from './rows/frame-source.ts';

const describeMs = 1500;

/** One frame while it is shown. */
export class FrameModel {
  readonly handle: string;
  readonly #frame = signal<Frame | undefined>(undefined);
  readonly #source = signal<FrameSource | undefined>(undefined);
  readonly #error = signal<unknown>(undefined);
  readonly #isAway = signal(false);
  readonly #abort = new AbortController();
  #chosen: readonly string[];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `chosen`: columns that are shown; none means all. */
  constructor(handle: string, chosen: readonly string[]) {
    this.handle = handle;
    this.#chosen = chosen;
  }

  /** Its last known state: of the shown lineage, unless that was lost. */
  get frame(): ReadonlySignal<Frame | undefined> {
    return this.#frame;
  }

  get source(): ReadonlySignal<FrameSource | undefined> {
    return this.#source;
  }

  get error(): ReadonlySignal<unknown> {
    return this.#error;
  }

  /** Whether the server cannot be reached. */
  get isAway(): ReadonlySignal<boolean> {
    return this.#isAway;
  }

  /** Follows the frame until the returned function is called. */
  follow(): () => void {
    const stop = watchFrames(this.handle, {
      onChange: (change) => {
        if (change.handle !== this.handle) return;
        if (change.kind === 'drop') {
          this.#source.peek()?.lose('dropped');
          // A frame whose file was damaged is reported as dropped, too.
          this.#describeSoon();
        } else if (change.lineage === this.#source.peek()?.lineage) {
          this.#source.peek()?.grow(change.rows);
          const frame = this.#frame.peek();
          if (frame !== undefined) this.#frame.value = { ...frame, rows: change.rows };
          this.#describeSoon();
        } else if (this.#source.peek() === undefined) void this.describe();
        else this.#source.peek()?.lose('replaced');
      },
      onRefresh: () => void this.describe(),
    });
    void this.describe();
    return () => {
      stop();
      this.#abort.abort();
      clearTimeout(this.#timer);
    };
  }

  /** Asks for the frame again; rows of another lineage are not shown by that. */
  async describe(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.#take(await describeFrame(this.handle, this.#abort.signal));
    } catch (error) {
      if (this.#abort.signal.aborted || isAbort(error)) return;
      const isGone = error instanceof FrameholdError && (error.status === 404 || error.status === 410);
      this.#isAway.value = error instanceof ConnectionError && error.status === undefined;
      const isDamaged = error instanceof FrameholdError && error.code === 'frame_damaged';
      // Somebody is writing its file.
      if (isDamaged) this.#describeSoon();
      if (isDamaged && this.#source.peek() !== undefined) this.#source.peek()?.lose('damaged');
      else if (isGone && this.#source.peek() !== undefined) this.#source.peek()?.lose('dropped');
      else if (this.#frame.peek() === undefined || isGone) this.#error.value = error;
    }
  }

  /** In the place of a frame that was lost. */
  async showNew(): Promise<void> {
    this.#source.value = undefined;
    this.#frame.value = undefined;
    await this.describe();
  }

  #describeSoon(): void {
    this.#timer ??= setTimeout(() => void this.describe(), describeMs);
  }

  choose(chosen: readonly string[]): void {
    this.#chosen = chosen;
    const frame = this.#frame.peek();
    if (frame?.state === 'held') this.#open(frame);
  }

  #take(frame: Frame): void {
    this.#error.value = undefined;
    this.#isAway.value = false;
    const source = this.#source.peek();
    const before = this.#frame.peek();
    if (source === undefined) {
      this.#frame.value = frame;
      if (frame.state === 'held') this.#open(frame);
      return;
    }
    if (frame.state === 'damaged') {
      source.lose('damaged');
      return;
    }
    if (frame.versionId === null || lineageOf(frame.versionId) !== source.lineage) {
      source.lose('replaced');
      return;
    }
    this.#frame.value = frame;
    if (frame.columns?.length !== before?.columns?.length) this.#open(frame);
    else source.grow(frame.rows ?? 0);
  }

  #open(frame: Frame): void {
    const next = frameSource(frame, this.#chosen);
    const last = this.#source.peek();
    if (last !== undefined && last.lineage === next.lineage) {
      next.grow(last.rowCount.peek());
      const loss = last.lost.peek();
      if (loss !== undefined) next.lose(loss);
    }
    this.#source.value = next;
  }
}
