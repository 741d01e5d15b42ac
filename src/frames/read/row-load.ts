import { abortable, withTimeout } from '@framehold/async';
import type { EncodedRows } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { FrameEngine, ReadRows } from '../../core/rows/frame-engine.ts';

/** Consecutive encoded rows of a frame in the pieces in which they arrived. */
export interface RowPieces {
  readonly fromRow: number;
  readonly pieces: readonly EncodedRows[];
}

/** Rows on their way from the engine. All readers get the pieces as they arrive, each at its own pace. */
export class RowLoad implements RowPieces {
  readonly run: LoadRun;
  readonly fromRow: number;
  readonly toRow: number;
  /** No other reader finds it, and it is not cached. */
  readonly isOfOneReader: boolean;
  readonly pieces: EncodedRows[] = [];
  /** Rows before this one have arrived. */
  nextRow: number;
  bytes = 0;
  /** `stopped`: ended before its last row, because no reader wanted the rest or there was too much of it. */
  state: 'loading' | 'complete' | 'stopped' | 'failed' = 'loading';
  error: unknown;
  #changed = Promise.resolve();
  #wake = (): void => {};

  constructor(run: LoadRun, fromRow: number, toRow: number, { isOfOneReader = false } = {}) {
    this.run = run;
    this.isOfOneReader = isOfOneReader;
    this.fromRow = fromRow;
    this.toRow = toRow;
    this.nextRow = fromRow;
    this.#arm();
  }

  push(piece: EncodedRows): void {
    this.pieces.push(piece);
    this.nextRow += piece.rows;
    this.bytes += piece.bytes.byteLength + piece.rowEnds.byteLength;
    this.#wakeAll();
  }

  end(state: 'complete' | 'stopped' | 'failed', error?: unknown): void {
    if (this.state !== 'loading') return;
    this.state = state;
    this.error = error;
    this.#wakeAll();
  }

  /** Resolves when a piece has arrived or the load has ended. */
  changed(signal: AbortSignal): Promise<void> {
    return abortable(this.#changed, signal);
  }

  #wakeAll(): void {
    this.#wake();
    this.#arm();
  }

  #arm(): void {
    this.#changed = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

export interface LoadJob {
  readonly engine: FrameEngine;
  readonly lane: string | undefined;
  /** Makes the job when the parts are pinned. */
  readonly prepare: () => Promise<ReadRows>;
  readonly loaded: (load: RowLoad) => void;
  readonly tooLarge: (load: RowLoad) => void;
  /** A load that grows beyond this many bytes is stopped where it is. */
  readonly loadLimitBytes: number;
  /** Most bytes that are loaded beyond the rows of the fastest reader. */
  readonly aheadLimitBytes: number;
}

/** Most time that a run waits for its readers before it gives the engine back. They begin another run when they need it. */
const mostWaitMs = 1000;

/**
 * One engine job that fills one or more loads. It goes on for as long as its readers keep up: reading a frame in many jobs
 * decodes the same row groups again and again. For a slow reader it waits a moment and ends, since it would block an idle engine
 * process.
 */
export class LoadRun {
  /** The loads that a reader may still need. */
  readonly loads: RowLoad[] = [];
  readonly #controller = new AbortController();
  #users = 0;
  #finishing = false;
  /** Rows before this one have been taken by the fastest reader. */
  #takenRow = 0;
  #taken = (): void => {};
  /** The row that the engine has reached. */
  #loadingRow = 0;

  /** Whether the engine reaches this row soon. */
  isNear(row: number, rows: number): boolean {
    return row - this.#loadingRow <= rows;
  }

  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Its end, unless it is stopped early. */
  get toRow(): number {
    return this.loads.at(-1)?.toRow ?? this.#takenRow;
  }

  loadAt(row: number): RowLoad | undefined {
    return this.loads.find((load) => load.fromRow <= row && row < load.toRow);
  }

  attach(): void {
    this.#users++;
  }

  /** A reader has the rows before this one. */
  passed(row: number): void {
    if (row <= this.#takenRow) return;
    this.#takenRow = row;
    // The last one stays: it says where the run ends.
    while (this.loads.length > 1 && (this.loads[0] as RowLoad).toRow <= row) this.loads.shift();
    this.#taken();
  }

  /** `finish`: the reader has all it wanted; the rest of the last chunk is loaded for the next one. */
  detach({ finish }: { readonly finish: boolean }): void {
    this.#users--;
    this.#finishing ||= finish;
    if (this.#users === 0 && !this.#finishing) this.abort();
  }

  abort(): void {
    this.#controller.abort(new Error('nobody reads these rows any more'));
    this.#taken();
  }

  async start(job: LoadJob): Promise<void> {
    const { signal } = this.#controller;
    const queue = [...this.loads];
    this.#loadingRow = queue[0]?.fromRow ?? 0;
    const readAhead = new AheadBytes(queue[0]?.fromRow ?? 0);
    let isCut = false;
    try {
      for await (const piece of job.engine.read(await job.prepare(), { signal, lane: job.lane })) {
        const load = queue[0];
        if (load === undefined) break;
        load.push(load.isOfOneReader ? piece : compact(piece));
        this.#loadingRow = load.nextRow;
        readAhead.loaded(piece);
        if (load.nextRow >= load.toRow) {
          load.end('complete');
          job.loaded(load);
          queue.shift();
          isCut = this.#users === 0 || !(await this.#hasRoom(readAhead, job.aheadLimitBytes));
        } else if (load.bytes > job.loadLimitBytes) {
          job.tooLarge(load);
          isCut = true;
        }
        if (isCut) break;
      }
      if (!isCut && queue.length > 0) throw new AppError('frame_damaged', 'the frame ended early');
      for (const load of queue) load.end('stopped');
    } catch (error) {
      for (const load of queue) load.end('failed', error);
    }
  }

  /** Whether the readers are near enough, or will be in time. */
  async #hasRoom(readAhead: AheadBytes, limit: number): Promise<boolean> {
    const until = performance.now() + mostWaitMs;
    while (readAhead.beyond(this.#takenRow) > limit) {
      const leftMs = until - performance.now();
      if (leftMs <= 0 || this.isAborted) return false;
      const taken = new Promise<void>((resolve) => {
        this.#taken = resolve;
      });
      await withTimeout(taken, leftMs, () => {});
    }
    return true;
  }
}

/** Bytes of a run that no reader has taken yet, by the size of its rows so far. */
class AheadBytes {
  readonly #fromRow: number;
  #rows = 0;
  #bytes = 0;

  constructor(fromRow: number) {
    this.#fromRow = fromRow;
  }

  loaded({ rows, bytes }: EncodedRows): void {
    this.#rows += rows;
    this.#bytes += bytes.byteLength;
  }

  beyond(takenRow: number): number {
    const taken = Math.max(0, takenRow - this.#fromRow);
    return this.#rows === 0 ? 0 : (this.#bytes / this.#rows) * (this.#rows - taken);
  }
}

/** A piece may be a view of a larger buffer; cached, it would hold all of it. */
export function compact(piece: EncodedRows): EncodedRows {
  const { rows, bytes, rowEnds } = piece;
  const used = bytes.byteLength + rowEnds.byteLength;
  const buffers = bytes.buffer === rowEnds.buffer ? [bytes.buffer] : [bytes.buffer, rowEnds.buffer];
  const kept = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
  return kept <= used * 1.25 + 1024 ? piece : { rows, bytes: bytes.slice(), rowEnds: rowEnds.slice() };
}
