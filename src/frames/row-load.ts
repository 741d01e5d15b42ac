import { AppError } from '../core/app-error.ts';
import type { EncodedRows, FrameEngine, ReadRows } from '../core/frame-engine.ts';
import { abortable } from './abortable.ts';

/** Consecutive encoded rows of a frame in as many pieces as they came. */
export interface RowPieces {
  readonly fromRow: number;
  readonly pieces: readonly EncodedRows[];
}

/** Rows on their way from the engine. Everybody who needs them reads the pieces as they arrive, at a pace of their own. */
export class RowLoad implements RowPieces {
  readonly run: LoadRun;
  readonly fromRow: number;
  readonly toRow: number;
  readonly pieces: EncodedRows[] = [];
  /** Rows before this one have arrived. */
  nextRow: number;
  bytes = 0;
  /** `stopped`: ended before its last row, because nobody wanted the rest or there was too much of it. */
  state: 'loading' | 'complete' | 'stopped' | 'failed' = 'loading';
  error: unknown;
  #changed = Promise.resolve();
  #wake = (): void => {};

  constructor(run: LoadRun, fromRow: number, toRow: number) {
    this.run = run;
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

  /** Resolves when a piece has come or the load has ended. */
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
  readonly runLimitBytes: number;
}

/**
 * One engine job that fills one or more loads. It never waits for those who read them: a slow reader would keep an
 * engine's process busy doing nothing. Bounded by its limits instead.
 */
export class LoadRun {
  readonly loads: RowLoad[] = [];
  readonly #controller = new AbortController();
  #users = 0;
  #finishing = false;

  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  get lastLoad(): RowLoad | undefined {
    return this.loads.at(-1);
  }

  loadAt(row: number): RowLoad | undefined {
    return this.loads.find((load) => load.fromRow <= row && row < load.toRow);
  }

  attach(): void {
    this.#users++;
  }

  /** `finish`: the reader has all it wanted; the rest of the last chunk is loaded for the next one. */
  detach({ finish }: { readonly finish: boolean }): void {
    this.#users--;
    this.#finishing ||= finish;
    if (this.#users === 0 && !this.#finishing) this.abort();
  }

  abort(): void {
    this.#controller.abort(new Error('nobody reads these rows any more'));
  }

  async start(job: LoadJob): Promise<void> {
    const { signal } = this.#controller;
    let bytes = 0;
    let at = 0;
    let isCut = false;
    try {
      const options = job.lane === undefined ? { signal } : { signal, lane: job.lane };
      for await (const piece of job.engine.read(await job.prepare(), options)) {
        const load = this.loads[at];
        if (load === undefined) break;
        load.push(compact(piece));
        bytes += piece.bytes.byteLength;
        if (load.nextRow >= load.toRow) {
          load.end('complete');
          job.loaded(load);
          at++;
          isCut = bytes > job.runLimitBytes || this.#users === 0;
        } else if (load.bytes > job.loadLimitBytes) {
          job.tooLarge(load);
          isCut = true;
        }
        if (isCut) break;
      }
      if (!isCut && at < this.loads.length) throw new AppError('frame_damaged', 'the frame ended early');
      for (const load of this.loads) load.end('stopped');
    } catch (error) {
      for (const load of this.loads) load.end('failed', error);
    }
  }
}

/** A piece may be a window on a larger buffer; kept for long it would keep all of it. */
function compact(piece: EncodedRows): EncodedRows {
  const { rows, bytes, rowEnds } = piece;
  const used = bytes.byteLength + rowEnds.byteLength;
  const buffers = bytes.buffer === rowEnds.buffer ? [bytes.buffer] : [bytes.buffer, rowEnds.buffer];
  const kept = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
  return kept <= used * 1.25 + 1024 ? piece : { rows, bytes: bytes.slice(), rowEnds: rowEnds.slice() };
}
