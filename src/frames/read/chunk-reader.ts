import { sleep } from '@framehold/async';
import { AppError } from '../../core/errors/app-error.ts';
import type { ChunkLoads } from './chunk-loads.ts';
import { ReadAhead } from './read-ahead.ts';
import type { LoadRun, RowLoad } from './row-load.ts';
import { type SentRows, sliceRows, slicesOf } from './row-slices.ts';
import type { VersionRows } from './version-rows.ts';

export interface ReadOptions {
  readonly signal: AbortSignal;
  readonly lane?: string | undefined;
}

const mostRunsAhead = 8;
const nearChunks = 8;

/** Walks through ranges of rows, chunk by chunk. */
export class ChunkReader {
  readonly #loads: ChunkLoads;
  /** Of all readers together: rows that are loaded ahead are memory without a reader yet. */
  #runsAhead = 0;

  constructor(loads: ChunkLoads) {
    this.#loads = loads;
  }

  async *rows(range: VersionRows, { signal, lane }: ReadOptions): AsyncGenerator<SentRows, void, void> {
    const { fromRow, toRow } = range;
    const readAhead = new ReadAhead({ isWhole: !range.form.startsWith('exec-json') });
    const retry = new ReadRetry();
    let row = fromRow;
    let current: LoadRun | undefined;
    let ahead: LoadRun | undefined;
    let hasAll = false;
    try {
      while (row < toRow) {
        signal.throwIfAborted();
        let load = usable(current?.loadAt(row) ?? ahead?.loadAt(row), row);
        if (load === undefined) {
          const kept = this.#loads.hot(range, row) ?? (await this.#loads.fromDisk(range, row));
          if (kept !== undefined) {
            for (const sent of slicesOf(kept, row, toRow)) {
              row += sent.rows;
              yield sent;
            }
            continue;
          }
          load = this.#loads.at(range, row, readAhead.chunks, lane);
        }
        if (load.run !== current) {
          load.run.attach();
          current?.detach({ finish: true });
          current = load.run;
          if (ahead?.loadAt(row) !== undefined) ahead = this.#dropAhead(ahead);
        }
        if (readAhead.isFast && isNearEnd(current, load)) ahead ??= this.#startAhead(range, current, readAhead, lane);

        for (let piece = 0, pieceRow = load.fromRow; row < toRow && row < load.toRow; ) {
          const next = load.pieces[piece];
          if (next === undefined) {
            if (load.state !== 'loading') break;
            await load.changed(signal);
            continue;
          }
          const sent = sliceRows(next, pieceRow, row, toRow);
          piece++;
          pieceRow += next.rows;
          if (sent === undefined) continue;
          row += sent.rows;
          retry.progressed();
          readAhead.sent(sent.bytes.byteLength);
          yield load.isOfOneReader && sent.bytes === next.bytes ? { ...sent, isOwned: true } : sent;
          readAhead.resumed();
          current.passed(row);
        }
        if (row < toRow && row < load.toRow && load.state === 'failed') {
          await retry.waitOrThrow(load.error, row > fromRow, signal);
        }
        if (current.toRow === load.toRow) readAhead.runEnded();
      }
      hasAll = true;
    } finally {
      current?.detach({ finish: hasAll });
      if (ahead !== undefined) this.#dropAhead(ahead);
    }
  }

  #startAhead(
    range: VersionRows,
    current: LoadRun,
    readAhead: ReadAhead,
    lane: string | undefined,
  ): LoadRun | undefined {
    const row = current.toRow;
    if (row >= range.toRow || this.#runsAhead >= mostRunsAhead || this.#loads.isKept(range, row)) return undefined;
    const { run } = this.#loads.at(range, row, readAhead.chunks, lane);
    run.attach();
    this.#runsAhead++;
    return run;
  }

  #dropAhead(ahead: LoadRun): undefined {
    ahead.detach({ finish: false });
    this.#runsAhead--;
    return undefined;
  }
}

/** The next run is begun while there is still something of this one to send. */
function isNearEnd(run: LoadRun, load: RowLoad): boolean {
  return run.toRow - load.fromRow <= nearChunks * (load.toRow - load.fromRow);
}

/** A load that still has, or will have, the row. */
function usable(load: RowLoad | undefined, row: number): RowLoad | undefined {
  const isOver = load !== undefined && (load.state === 'failed' || load.state === 'stopped');
  return isOver && load.nextRow <= row ? undefined : load;
}

const busyPauseMs = 100;
const mostBusyMs = 10_000;
const mostCrashes = 1;

/** Retry policy of a read that has already sent rows. It cannot restart, but it can continue. */
class ReadRetry {
  #busyMs = 0;
  #crashes = 0;

  progressed(): void {
    this.#busyMs = 0;
  }

  /** Resolves when the rest may be retried, else throws the error. */
  async waitOrThrow(error: unknown, hasSent: boolean, signal: AbortSignal): Promise<void> {
    const code = error instanceof AppError ? error.code : undefined;
    if (code === 'engine_crashed' && this.#crashes < mostCrashes) {
      this.#crashes++;
      return;
    }
    if (code !== 'overloaded' || !hasSent || this.#busyMs >= mostBusyMs) throw error;
    this.#busyMs += busyPauseMs;
    await sleep(busyPauseMs, signal);
  }
}
