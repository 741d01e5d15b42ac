import type { Column } from '@framehold/columns';
import { LinkedAbort } from '../core/async/linked-abort.ts';
import type { Principal } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { FrameName } from '../core/names/frame-name.ts';
import type { ChunkForm } from '../core/rows/frame-engine.ts';
import type { SqlResult } from '../core/sql/sql.ts';
import { frameDamaged, isView } from '../frames/catalog/frame-errors.ts';
import type { HeldSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames } from '../frames/frames.ts';
import type { SentRows } from '../frames/read/row-slices.ts';
import { selectColumns } from '../frames/read/select-columns.ts';
import type { RowFilter, RowPredicate } from '../query/row-filter.ts';
import type { Followers } from './followers.ts';

export interface FollowRequest {
  readonly handle: FrameName;
  /** The number of the first row. `end`: only later rows. */
  readonly from: number | 'end';
  /** Only while the frame has this one. Default: its first one. */
  readonly lineage?: string | undefined;
  readonly columns?: readonly string[] | undefined;
  /** A predicate of SQL: only rows for which it holds. */
  readonly where?: string | undefined;
  readonly form: ChunkForm;
}

export interface FollowParts {
  readonly frames: Pick<Frames, 'describe' | 'read' | 'watch'>;
  readonly followers: Followers;
  readonly filter: RowFilter;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly lane: string;
  /** Called before it waits for the first time: it does nothing for anyone from then on. */
  readonly onWaiting?: (() => void) | undefined;
}

/** The next rows. */
export interface FollowedRows extends AsyncDisposable {
  /** The predicate held for none of the tested rows. */
  readonly isEmpty?: boolean | undefined;
  readonly columns: readonly Column[];
  /** In order. May be read once. */
  rows(): AsyncIterable<SentRows>;
}

/** So few are read for all followers that want them at once. */
const mostSharedRows = 1000;

/** Reads the rows of a frame and waits for new ones. Between two reads it holds nothing of the frame. */
export class Follower implements Disposable {
  readonly #parts: FollowParts;
  readonly #principal: Principal;
  readonly #request: FollowRequest;
  readonly #options: FollowOptions;
  readonly #predicate: RowPredicate | undefined;
  readonly #abort: LinkedAbort;
  readonly lineage: string;
  /** The selected columns, as they were at first. */
  readonly columns: readonly Column[];
  #next: number;
  #rowsKnown: number;
  #watch: Disposable | undefined;
  #leave: (() => void) | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  /** Rejects if the frame is missing, was replaced, or may not be read. */
  static async open(
    parts: FollowParts,
    principal: Principal,
    request: FollowRequest,
    options: FollowOptions,
  ): Promise<Follower> {
    const frame = await describe(parts, principal, request.handle, request.lineage, options.signal);
    const selected = selectColumns(request.handle, frame.columns, request.columns);
    const { handle, where } = request;
    if (where === undefined) return new Follower(parts, principal, request, options, { ...frame, columns: selected });
    const predicate = await parts.filter.parse(principal, handle, where, options);
    const range = { ...request, predicate, from: 0, to: 0, assertFrame: () => {} };
    // A wrong name in it is an error before anything is sent.
    await using none = await parts.filter.run(principal, range, options);
    return new Follower(parts, principal, request, options, { ...frame, columns: none.columns }, predicate);
  }

  private constructor(
    parts: FollowParts,
    principal: Principal,
    request: FollowRequest,
    options: FollowOptions,
    frame: HeldSummary,
    predicate?: RowPredicate,
  ) {
    this.#parts = parts;
    this.#principal = principal;
    this.#request = request;
    this.#options = options;
    this.#predicate = predicate;
    this.#abort = new LinkedAbort([options.signal]);
    this.#abort.signal.addEventListener('abort', () => this.#wake?.());
    this.lineage = frame.lineage;
    this.#next = request.from === 'end' ? frame.rows : request.from;
    this.#rowsKnown = frame.rows;
    this.columns = frame.columns;
  }

  /** The number of the row behind the last one. */
  get next(): number {
    return this.#next;
  }

  /** As far as it last saw. */
  get isUpToDate(): boolean {
    return this.#next >= this.#rowsKnown;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Counts among the followers from now on, and keeps the frame alive. */
  async begin(): Promise<void> {
    if (this.#watch !== undefined) return;
    const { frames, followers } = this.#parts;
    if (this.#leave === undefined) {
      const place = followers.enter(this.#options.lane, (error) => this.#abort.abort(error), this.signal);
      this.#leave = place.leave;
      await place.entered;
    }
    this.#options.onWaiting?.();
    const wake = (): void => {
      this.#hasChanged = true;
      this.#wake?.();
    };
    const watch = await frames.watch(this.#principal, this.#request.handle, wake, { signal: this.signal });
    if (this.#leave === undefined) watch[Symbol.dispose]();
    else this.#watch = watch;
    this.#hasChanged = true;
  }

  /** At most this many present rows. Undefined: there are none. */
  async read(mostRows: number): Promise<FollowedRows | undefined> {
    const { handle } = this.#request;
    this.#hasChanged = false;
    const frame = await describe(this.#parts, this.#principal, handle, this.lineage, this.signal);
    this.#rowsKnown = frame.rows;
    if (this.isUpToDate) return undefined;
    const from = this.#next;
    const to = Math.min(frame.rows, from + mostRows);
    const isTail = to === frame.rows && to - from <= mostSharedRows && this.#watch !== undefined;
    const rows = isTail ? await this.#readTail(from, to) : await this.#readRange(from, to);
    this.#next = to;
    return rows;
  }

  /** The same, but waits for rows if there are none. Undefined: none came within the time. */
  async waitFor(mostRows: number, timeoutMs: number): Promise<FollowedRows | undefined> {
    const endMs = performance.now() + timeoutMs;
    for (let isFirst = true; ; isFirst = false) {
      if (isFirst || this.#hasChanged || !this.isUpToDate) {
        const rows = await this.read(mostRows);
        if (rows !== undefined && rows.isEmpty !== true) return rows;
        await rows?.[Symbol.asyncDispose]();
        if (rows !== undefined && performance.now() < endMs) continue;
      }
      if (this.#watch === undefined) await this.begin();
      else if (performance.now() >= endMs) return undefined;
      else await this.#change(endMs);
    }
  }

  [Symbol.dispose](): void {
    this.#leave?.();
    this.#leave = undefined;
    this.#watch?.[Symbol.dispose]();
    this.#abort[Symbol.dispose]();
  }

  /** Until the frame has changed or the time is over. */
  async #change(endMs: number): Promise<void> {
    this.signal.throwIfAborted();
    if (this.#hasChanged) return;
    const { timers } = this.#parts.followers;
    await new Promise<void>((resolve) => {
      const cancel = timers.after(Math.max(0, endMs - performance.now()), resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
    this.signal.throwIfAborted();
  }

  async #readRange(from: number, to: number, signal = this.signal): Promise<FollowedRows> {
    const { handle, columns, form } = this.#request;
    const { lineage } = this;
    const lane = this.#options.lane;
    if (this.#predicate !== undefined) {
      const assertFrame = (frame: { readonly lineage: string }): void => {
        if (frame.lineage !== lineage) throw frameReplaced(handle);
      };
      const range = { handle, predicate: this.#predicate, columns, form, from, to, assertFrame };
      return withFirst(await this.#parts.filter.run(this.#principal, range, { signal, lane }));
    }
    return this.#parts.frames.read(
      this.#principal,
      {
        handle,
        columns,
        form,
        from,
        to,
        needsRows(selected) {
          if (selected.lineage !== lineage) throw frameReplaced(handle);
          return true;
        },
      },
      { signal, lane },
    );
  }

  async #readTail(from: number, to: number): Promise<FollowedRows> {
    const { handle, columns, where, form } = this.#request;
    const key = JSON.stringify([this.#principal.tenant, handle, this.lineage, columns, where, form, from, to]);
    let isOwn = false;
    const tail = await this.#parts.followers.tails.get(key, async (signal) => {
      isOwn = true;
      await using rows = await this.#readRange(from, to, signal);
      const pieces: SentRows[] = [];
      for await (const piece of rows.rows()) pieces.push(piece);
      return { columns: rows.columns, pieces };
    });
    if (!isOwn) this.#principal.notes?.addRows(to - from);
    return {
      columns: tail.columns,
      isEmpty: tail.pieces.length === 0,
      async *rows() {
        yield* tail.pieces;
      },
      async [Symbol.asyncDispose]() {},
    };
  }
}

/** The first piece shows whether there are any. */
async function withFirst(result: SqlResult): Promise<FollowedRows> {
  const pieces = result.rows()[Symbol.asyncIterator]();
  try {
    let step = await pieces.next();
    return {
      columns: result.columns,
      isEmpty: step.done === true,
      async *rows() {
        for (; step.done !== true; step = await pieces.next()) yield step.value;
      },
      [Symbol.asyncDispose]: () => result[Symbol.asyncDispose](),
    };
  } catch (error) {
    await result[Symbol.asyncDispose]();
    throw error;
  }
}

async function describe(
  { frames }: FollowParts,
  principal: Principal,
  handle: FrameName,
  lineage: string | undefined,
  signal: AbortSignal,
): Promise<HeldSummary> {
  const frame = await frames.describe(principal, handle, { signal }).catch((error: unknown) => {
    // A tombstone is removed after a while.
    const isGone = lineage !== undefined && error instanceof AppError && error.code === 'handle_not_found';
    throw isGone ? new AppError('handle_gone', `${handle} is not there any more`, { cause: error }) : error;
  });
  if (frame.state === 'damaged') throw frameDamaged(handle, frame.reason);
  if (frame.view !== undefined) throw isView(handle);
  if (lineage !== undefined && frame.lineage !== lineage) throw frameReplaced(handle);
  return frame;
}

function frameReplaced(handle: FrameName): AppError {
  return new AppError('handle_gone', `the rows of ${handle} were replaced`, {
    hint: 'begin anew, without lineage and from row 0',
  });
}
