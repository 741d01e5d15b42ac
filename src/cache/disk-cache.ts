import { rm, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../core/logs/logger.ts';
import { ByteCache, type CacheSpace } from './byte-cache.ts';
import { type Chunk, encodeChunk } from './chunk-file.ts';
import {
  type CachedChunk,
  chunkPath,
  type Leftover,
  leftoverBytes,
  markFolder,
  readLeftovers,
  writeParts,
} from './chunk-folder.ts';
import { OpenChunks } from './open-chunks.ts';

export interface DiskCacheOptions {
  /** Made when it is first needed; only ours. */
  readonly folder: string;
  /** Undefined: half of the space that is free, at most 50 GB. */
  readonly budgetBytes?: number | undefined;
  readonly logger: Logger;
}

/** A chunk of a version, by its key in memory. */
export interface ChunkKey {
  readonly contentId: string;
  /** Which rows, in which form. */
  readonly key: string;
}

/** The parts that readers may use. */
interface Held {
  /** If it differs after a restart, no old chunk is used. */
  state: string;
  /** The state in the folder; undefined if there is none. */
  marked: string | undefined;
}

const mostDefaultBytes = 50e9;
/** Rows wait here until they are written; more are dropped. */
const mostQueuedBytes = 16 * 1024 * 1024;
const pauseMs = 60_000;
const watchMs = 5000;
/** Oldest measurement of the free space for a write. */
const lookMs = 1000;
/** Share of the file system, and its limit: kept free for frames. */
const reservedShare = 0.05;
const mostReservedBytes = 5e9;
/** Says nothing of the file. */
const tooManyOpen: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);
/** To be counted up when the same rows are encoded in another way. */
const encodingVersion = 2;

/**
 * Encoded rows on local disk, beyond the memory cache: below it, and above Parquet. They are found again after a restart. Nothing
 * depends on it: damaged and missing chunks and failed writes are misses.
 */
export class DiskCache {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #cache: ByteCache;
  readonly #chunks: CacheSpace<CachedChunk>;
  readonly #open = new OpenChunks();
  readonly #configuredBytes: number;
  readonly #watch: NodeJS.Timeout;
  /** By content id. Another object when one is made anew. */
  readonly #held = new Map<string, Held>();
  readonly #leftovers: Map<string, Leftover>;
  /** One after the other: a write for a version is before or after its removal. */
  #tasks: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  #pausedUntil = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Damaged chunks since the start. */
  damaged = 0;

  private constructor(folder: string, budgetBytes: number, leftovers: Map<string, Leftover>, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
    this.#configuredBytes = budgetBytes;
    this.#leftovers = leftovers;
    this.#cache = new ByteCache(budgetBytes, (value) => this.#removed(value as CachedChunk));
    this.#chunks = this.#cache.space();
    this.#watch = setInterval(() => void this.#leaveRoom(), watchMs).unref();
  }

  static async open({ folder, budgetBytes, logger }: DiskCacheOptions): Promise<DiskCache> {
    const leftovers = await readLeftovers(folder);
    const kept = leftoverBytes(leftovers.values());
    const free = budgetBytes === undefined ? await freeBytes(folder) : 0;
    return new DiskCache(folder, budgetBytes ?? Math.min(mostDefaultBytes, (free + kept) / 2), leftovers, logger);
  }

  get budgetBytes(): number {
    return this.#cache.budgetBytes;
  }

  get usedBytes(): number {
    return this.#cache.usedBytes;
  }

  get entries(): number {
    return this.#cache.entries;
  }

  get hits(): number {
    return this.#cache.hits;
  }

  get misses(): number {
    return this.#cache.misses;
  }

  get evictions(): number {
    return this.#cache.evictions;
  }

  /** A frame is in this state now. Chunks of an earlier process are used if it was in the very same. */
  hold(contentId: string, state: string): void {
    if (this.#isClosed) return;
    const current = `${encodingVersion} ${state}`;
    const known = this.#held.get(contentId);
    if (known !== undefined) {
      known.state = current;
      if (known.marked !== undefined) void this.#later(() => this.#markAgain(contentId, known));
      return;
    }
    const leftover = this.#leftovers.get(contentId);
    const isSame = leftover?.state === current;
    this.#held.set(contentId, { state: current, marked: isSame ? current : undefined });
    if (leftover === undefined) return;
    this.#leftovers.delete(contentId);
    if (!isSame) this.#removeFolder(contentId);
    else for (const chunk of leftover.chunks) this.#take(contentId, chunk);
  }

  #take(contentId: string, chunk: CachedChunk): void {
    if (!this.#chunks.set(contentId, chunk.key, chunk, chunk.bytes)) this.#removed(chunk);
  }

  async #markAgain(contentId: string, held: Held): Promise<void> {
    if (this.#held.get(contentId) !== held || held.marked === held.state) return;
    try {
      await mark(join(this.#folder, contentId), held);
    } catch {
      // After a restart none of it is used.
    }
  }

  /** Whether anything that is written for it now is kept. */
  isHeld(contentId: string): boolean {
    return this.#held.has(contentId);
  }

  /** All frames are known: other chunks belong to none. */
  sweep(): void {
    for (const contentId of this.#leftovers.keys()) this.#removeFolder(contentId);
    this.#leftovers.clear();
  }

  /** Does not count as a read. */
  has({ contentId, key }: ChunkKey): boolean {
    return this.#chunks.has(contentId, key);
  }

  hasVersion(contentId: string): boolean {
    return this.#cache.hasVersion(contentId);
  }

  bytesOf(contentId: string): number {
    return this.#cache.bytesOf(contentId);
  }

  /**
   * Rows [fromRow, toRow) of a chunk, counted from its first, and perhaps some around them. Undefined if they are missing or
   * damaged.
   */
  async read({ contentId, key }: ChunkKey, fromRow: number, toRow: number): Promise<ReadChunk | undefined> {
    const chunk = this.#chunks.get(contentId, key);
    if (chunk === undefined) return undefined;
    let read: Chunk | undefined;
    let reason = 'it is damaged';
    try {
      read = await this.#open.read(chunk, fromRow, toRow);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (tooManyOpen.has(code)) {
        this.#open.closeAll();
        return undefined;
      }
      if (code === 'ENOENT') {
        // Somebody has removed it.
        this.#chunks.delete(contentId, key);
        return undefined;
      }
      reason = String(error);
    }
    if (read !== undefined) return { ...read, reads: ++chunk.reads };
    if (this.#chunks.has(contentId, key) && !this.#isClosed) {
      this.damaged++;
      this.#logger.warn('rows kept on disk are read from the frame instead', { file: chunk.path, reason });
      this.#chunks.delete(contentId, key);
    }
    return undefined;
  }

  /** Writes it, if there is room and time, and resolves when that is done. The bytes must not change. */
  async write({ contentId, key }: ChunkKey, { pieces }: Chunk): Promise<void> {
    const held = this.#held.get(contentId);
    if (held === undefined || this.#isClosed || performance.now() < this.#pausedUntil) return;
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.byteLength + piece.rowEnds.byteLength, 0);
    if (bytes > this.#cache.maxEntryBytes || this.#queuedBytes + bytes > mostQueuedBytes) return;
    if (this.#chunks.has(contentId, key)) return;
    this.#queuedBytes += bytes;
    const isWanted = (): boolean =>
      !this.#isClosed && this.#held.get(contentId) === held && !this.#chunks.has(contentId, key);
    await this.#later(async () => {
      try {
        if (performance.now() - this.#lookedAt > lookMs) await this.#leaveRoom();
        if (isWanted()) await this.#writeChunk(contentId, held, key, pieces, isWanted);
      } catch (error) {
        this.#pausedUntil = performance.now() + pauseMs;
        this.#logger.warn('rows cannot be kept on disk', { error: String(error), again_in_s: pauseMs / 1000 });
      } finally {
        this.#queuedBytes -= bytes;
      }
    });
  }

  /** It is read no longer. */
  deleteVersion(contentId: string): void {
    const held = this.#held.get(contentId);
    if (held === undefined) return;
    this.#held.delete(contentId);
    if (held.marked === undefined && this.#queuedBytes === 0) return;
    this.#removeFolder(contentId);
    this.#cache.deleteVersion(contentId);
  }

  /** Whether `bytes` can be written without evicting anything. */
  hasRoom(bytes: number): boolean {
    return this.usedBytes + this.#queuedBytes + bytes <= this.budgetBytes && performance.now() >= this.#pausedUntil;
  }

  /** A frame has found no room: the whole cache is emptied. */
  giveWay(): void {
    this.#pausedUntil = performance.now() + pauseMs;
    if (this.entries > 0) this.#logger.warn('the disk is full: rows kept on it are removed', { bytes: this.usedBytes });
    this.#cache.resize(0);
    this.sweep();
  }

  /** Resolves when everything that was to be written or removed is. */
  async idle(): Promise<void> {
    let last: Promise<void> | undefined;
    while (last !== this.#tasks) {
      last = this.#tasks;
      await last;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    await this.idle();
    this.#open.closeAll();
  }

  async #writeChunk(
    contentId: string,
    held: Held,
    key: string,
    pieces: Chunk['pieces'],
    isWanted: () => boolean,
  ): Promise<void> {
    const folder = join(this.#folder, contentId);
    if (held.marked !== held.state) await mark(folder, held);
    const name = `${contentId} ${key}`;
    const parts = encodeChunk(name, pieces);
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    const path = chunkPath(folder, key, bytes);
    try {
      try {
        await writeParts(path, parts);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        // Somebody has removed the folder.
        await mark(folder, held);
        await writeParts(path, parts);
      }
    } catch (error) {
      await unlink(path).catch(() => {});
      throw error;
    }
    const isKept = isWanted() && this.#chunks.set(contentId, key, { path, name, key, bytes, reads: 0 }, bytes);
    if (!isKept) await unlink(path).catch(() => {});
  }

  #removed(chunk: CachedChunk): void {
    this.#open.close(chunk);
    // If a file of the same name replaced it, that one is written later.
    void this.#later(async () => {
      await unlink(chunk.path).catch(() => {});
    });
  }

  #removeFolder(contentId: string): void {
    void this.#later(async () => {
      await rm(join(this.#folder, contentId), { recursive: true, force: true }).catch(() => {});
    });
  }

  #later(task: () => Promise<void>): Promise<void> {
    this.#tasks = this.#tasks.then(task);
    return this.#tasks;
  }

  get #leftoverBytes(): number {
    return leftoverBytes(this.#leftovers.values());
  }

  /** Frames come first: when the disk fills up, the cache shrinks. */
  async #leaveRoom(): Promise<void> {
    this.#lookedAt = performance.now();
    try {
      const { bavail, blocks, bsize } = await statfs(this.#folder);
      const reserved = Math.min(mostReservedBytes, blocks * bsize * reservedShare);
      const most = Math.max(0, this.usedBytes + this.#leftoverBytes + bavail * bsize - reserved);
      const target = Math.min(this.#configuredBytes, most);
      if (target < this.budgetBytes || this.#lookedAt >= this.#pausedUntil) this.#cache.resize(target);
    } catch {
      // No folder yet.
    }
  }
}

/** The rows of a read, and the number of reads of the chunk. */
export interface ReadChunk extends Chunk {
  readonly reads: number;
}

async function mark(folder: string, held: Held): Promise<void> {
  const { state } = held;
  await markFolder(folder, state);
  held.marked = state;
}

async function freeBytes(folder: string): Promise<number> {
  for (let path = folder; ; path = join(path, '..')) {
    try {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path === '/') return 0;
    }
  }
}
