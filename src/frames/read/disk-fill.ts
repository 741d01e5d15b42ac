import { withTimeout } from '@framehold/async';
import type { EncodedRows } from '@framehold/columns';
import type { DiskCache } from '../../cache/disk-cache.ts';
import type { FrameEngine } from '../../core/rows/frame-engine.ts';
import { compact } from './row-load.ts';
import { chunkOf, diskKey, type VersionRows } from './version-rows.ts';

/** Chunks of one read, of about 1 MiB each: most of the cost of a few rows is the decoding of their neighbours. */
const stretchChunks = 64;
const mostStretchBytes = 128 * 1024 * 1024;
const mostWaitMs = 1000;
const mostRemembered = 10_000;
const mostWaiting = 100;

/** Consecutive chunks. */
interface Stretch {
  readonly id: string;
  readonly range: VersionRows;
  readonly fromRow: number;
  readonly toRow: number;
  readonly lane: string | undefined;
}

/**
 * Brings stretches of frames into the disk cache, one after the other, where more than one chunk was missing: pages at random
 * then pay for decoding once, and not once a page.
 */
export class DiskFill implements AsyncDisposable {
  readonly #engine: FrameEngine;
  readonly #disk: DiskCache;
  readonly #mostChunkBytes: number;
  /** Stretches that one chunk was missing of, oldest first. */
  readonly #missedOnce = new Set<string>();
  readonly #waiting = new Map<string, Stretch>();
  readonly #controller = new AbortController();
  #running: Promise<void> | undefined;

  /** `mostChunkBytes`: largest chunk for memory. */
  constructor(engine: FrameEngine, disk: DiskCache, mostChunkBytes: number) {
    this.#engine = engine;
    this.#disk = disk;
    this.#mostChunkBytes = mostChunkBytes;
  }

  /** A chunk had to be read from the frame. */
  missed(range: VersionRows, row: number, lane: string | undefined): void {
    const stretch = stretchOf(range, row, lane);
    const { id } = stretch;
    if (this.#waiting.has(id)) return;
    if (!this.#missedOnce.delete(id)) {
      this.#missedOnce.add(id);
      const [oldest] = this.#missedOnce;
      if (this.#missedOnce.size > mostRemembered && oldest !== undefined) this.#missedOnce.delete(oldest);
      return;
    }
    if (this.#waiting.size >= mostWaiting || this.#controller.signal.aborted) return;
    range.parts.acquire();
    this.#waiting.set(id, stretch);
    this.#running ??= this.#fillAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort(new Error('the server is stopping'));
    await this.#running;
  }

  async #fillAll(): Promise<void> {
    for (const stretch of this.#waiting.values()) {
      try {
        await this.#fill(stretch);
      } catch {
        // The next reader of these rows gets the error.
      } finally {
        stretch.range.parts.release();
        this.#waiting.delete(stretch.id);
      }
    }
    this.#running = undefined;
  }

  async #fill({ range, fromRow, toRow, lane }: Stretch): Promise<void> {
    const { version, form, parts } = range;
    const chunkRows = version.chunkRows(form);
    const { signal } = this.#controller;
    let row = fromRow;
    while (row < toRow && this.#disk.has(diskKey(range, row))) row += chunkRows;
    // Rows that would evict others are loaded on demand only.
    if (row >= toRow || signal.aborted || version.isReplaced || !this.#disk.hasRoom(mostStretchBytes)) return;
    const job = { columns: version.manifest.columns, form, fromRow: row, toRow, chunkRows };
    let stretchBytes = 0;
    let chunk: EncodedRows[] = [];
    let [chunkRow, chunkBytes] = [row, 0];
    for await (const piece of this.#engine.read({ ...job, parts: await parts.sources() }, { signal, lane })) {
      chunk.push(compact(piece));
      row += piece.rows;
      chunkBytes += piece.bytes.byteLength;
      stretchBytes += piece.bytes.byteLength;
      if (chunkBytes > this.#mostChunkBytes || stretchBytes > mostStretchBytes) return;
      if (row < Math.min(toRow, chunkRow + chunkRows)) continue;
      if (!this.#disk.isHeld(version.contentId)) return;
      const writing = this.#disk.write(diskKey(range, chunkRow), { fromRow: chunkRow, pieces: chunk });
      // Meanwhile a process of the engine waits.
      const isWritten = await withTimeout(
        writing.then(() => true),
        mostWaitMs,
        () => false,
      );
      if (!isWritten) return;
      chunk = [];
      [chunkRow, chunkBytes] = [row, 0];
    }
  }
}

function stretchOf(range: VersionRows, row: number, lane: string | undefined): Stretch {
  const { version, form } = range;
  const rows = stretchChunks * version.chunkRows(form);
  const number = Math.floor(chunkOf(version, form, row) / stretchChunks);
  const fromRow = number * rows;
  const id = `${version.contentId}:${form}:${number}`;
  return { id, range, fromRow, toRow: Math.min(version.storedRows, fromRow + rows), lane };
}
