import type { ByteCache, CacheSpace } from '../../cache/byte-cache.ts';
import type { DiskCache } from '../../cache/disk-cache.ts';
import { serverStopping } from '../../core/errors/app-error.ts';
import type { ChunkForm, FrameEngine } from '../../core/rows/frame-engine.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import { DiskFill } from './disk-fill.ts';
import { LoadRun, RowLoad, type RowPieces } from './row-load.ts';
import { chunkKey, chunkOf, chunkRange, diskKey, isOfChunk, type VersionRows } from './version-rows.ts';

/** With less, a chunk could seldom be cached, so loading whole chunks would be waste. */
const leastKeptBytes = 2 * 1024 * 1024;
const mostLoadBytes = 8 * 1024 * 1024;
const mostAheadBytes = 4 * 1024 * 1024;
const nearChunks = 8;
const heavyLoadBytes = 4 * 1024 * 1024;
/** After this many reads of its parts from disk a chunk returns to memory; sooner if there is room. */
const readsToReturn = 32;

/** Chunks in the cache and on their way into it: one load serves all readers of a chunk. */
export class ChunkLoads {
  readonly #engine: FrameEngine;
  readonly #memory: ByteCache;
  readonly #hot: CacheSpace<RowPieces>;
  readonly #disk: DiskCache | undefined;
  readonly #fill: DiskFill | undefined;
  readonly #keepsChunks: boolean;
  readonly #loadLimitBytes: number;
  readonly #loads = new Map<string, RowLoad>();
  readonly #running = new Map<LoadRun, Promise<void>>();
  /** Chunks on their way from disk into memory. */
  readonly #returning = new Set<string>();
  #isClosed = false;

  constructor(engine: FrameEngine, memory: ByteCache, disk?: DiskCache) {
    this.#engine = engine;
    this.#memory = memory;
    this.#hot = memory.space();
    this.#keepsChunks = memory.maxEntryBytes >= leastKeptBytes;
    this.#disk = this.#keepsChunks ? disk : undefined;
    this.#loadLimitBytes = this.#keepsChunks ? Math.min(memory.maxEntryBytes, mostLoadBytes) : mostLoadBytes;
    this.#fill = this.#disk && new DiskFill(engine, this.#disk, this.#loadLimitBytes);
  }

  hot(range: VersionRows, row: number): RowPieces | undefined {
    const { version, form } = range;
    return isOfChunk(range, row) ? this.#hot.get(version.contentId, chunkKey(version, form, row)) : undefined;
  }

  /** Whether no engine is needed for it: it is in memory or on disk. */
  isKept(range: VersionRows, row: number): boolean {
    const { version, form } = range;
    if (!isOfChunk(range, row)) return false;
    const isHot = this.#hot.has(version.contentId, chunkKey(version, form, row));
    return isHot || this.#disk?.has(diskKey(range, row)) === true;
  }

  /** Rows of the chunk from `row` on, and perhaps some before it. Undefined where the disk cache does not have them. */
  async fromDisk(range: VersionRows, row: number): Promise<RowPieces | undefined> {
    if (this.#disk === undefined || !isOfChunk(range, row)) return undefined;
    const { version, form } = range;
    const [chunkRow, chunkEnd] = chunkRange(version, form, row);
    const toRow = Math.min(range.toRow, chunkEnd);
    const read = await this.#disk.read(diskKey(range, row), row - chunkRow, toRow - chunkRow);
    if (read === undefined) return undefined;
    if (read.reads % (this.#memory.isFull ? readsToReturn : 2) === 0) void this.#returnToMemory(range, row);
    return { fromRow: chunkRow + read.fromRow, pieces: read.pieces };
  }

  async #returnToMemory(range: VersionRows, row: number): Promise<void> {
    const { version, form } = range;
    const [fromRow, toRow] = chunkRange(version, form, row);
    const key = loadKey(version, form, row);
    if (this.#returning.has(key) || this.#hot.has(version.contentId, chunkKey(version, form, row))) return;
    this.#returning.add(key);
    const chunk = await this.#disk?.read(diskKey(range, row), 0, toRow - fromRow);
    this.#returning.delete(key);
    if (chunk === undefined || version.isReplaced || this.#isClosed) return;
    const bytes = chunk.pieces.reduce((sum, piece) => sum + piece.bytes.byteLength + piece.rowEnds.byteLength, 0);
    this.#hot.set(version.contentId, chunkKey(version, form, row), { fromRow, pieces: chunk.pieces }, bytes);
  }

  /** A load whose rows include `row`: a running one, or a new run of up to `chunks` chunks. */
  at(range: VersionRows, row: number, chunks: number, lane: string | undefined): RowLoad {
    if (this.#isClosed) throw serverStopping();
    const { version, form } = range;
    const heavyRowBytes = version.heavyRowBytes(form, chunkOf(version, form, row));
    const run = new LoadRun();
    if (this.#keepsChunks && heavyRowBytes === undefined && isOfChunk(range, row)) {
      const under = this.#underWay(version, form, row);
      if (under !== undefined) return under;
      this.#addChunks(run, range, row, chunks);
      // A reader that goes on already has a run that loads ahead.
      if (row === range.fromRow) this.#fill?.missed(range, row, lane);
    } else if (heavyRowBytes === undefined) {
      addLoads(run, range, row, chunks);
    } else {
      const rows = Math.min(version.chunkRows(form), Math.floor(heavyLoadBytes / heavyRowBytes));
      run.loads.push(new RowLoad(run, row, Math.min(range.toRow, row + Math.max(1, rows))));
    }
    this.#start(run, range, lane);
    return run.loads[0] as RowLoad;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const run of this.#running.keys()) run.abort();
    await Promise.all([...this.#running.values(), this.#fill?.[Symbol.asyncDispose]()]);
  }

  #addChunks(run: LoadRun, range: VersionRows, row: number, chunks: number): void {
    const { version, form } = range;
    let fromRow = chunkOf(version, form, row) * version.chunkRows(form);
    for (let count = 0; count < chunks && fromRow < range.toRow; count++) {
      const isTaken =
        this.isKept(range, fromRow) ||
        this.#underWay(version, form, fromRow) !== undefined ||
        version.heavyRowBytes(form, chunkOf(version, form, fromRow)) !== undefined;
      if (count > 0 && (isTaken || !isOfChunk(range, fromRow))) break;
      const toRow = Math.min(version.storedRows, fromRow + version.chunkRows(form));
      const load = new RowLoad(run, fromRow, toRow);
      run.loads.push(load);
      this.#loads.set(loadKey(version, form, fromRow), load);
      fromRow = toRow;
    }
  }

  #underWay(version: FrameVersion, form: ChunkForm, row: number): RowLoad | undefined {
    const load = this.#loads.get(loadKey(version, form, row));
    if (load?.state !== 'loading' || load.run.isAborted) return undefined;
    // A run of another reader may take minutes to get there.
    return load.run.isNear(load.fromRow, nearChunks * version.chunkRows(form)) ? load : undefined;
  }

  #start(run: LoadRun, range: VersionRows, lane: string | undefined): void {
    const { version, form, parts, select } = range;
    const fromRow = run.loads[0]?.fromRow ?? 0;
    const toRow = run.loads.at(-1)?.toRow ?? 0;
    parts.acquire();
    const running = run
      .start({
        engine: this.#engine,
        lane,
        loadLimitBytes: this.#loadLimitBytes,
        aheadLimitBytes: mostAheadBytes,
        prepare: async () => ({
          parts: await parts.sources(),
          columns: version.manifest.columns,
          select,
          form,
          fromRow,
          toRow,
          chunkRows: version.chunkRows(form),
        }),
        loaded: (load) => this.#keep(load, version, form),
        tooLarge: (load) => markHeavy(load, version, form),
      })
      .finally(() => {
        for (const load of run.loads) this.#forget(load, version, form);
        parts.release();
        this.#running.delete(run);
      });
    this.#running.set(run, running);
  }

  #keep(load: RowLoad, version: FrameVersion, form: ChunkForm): void {
    if (!this.#forget(load, version, form) || version.isReplaced) return;
    const { fromRow, pieces, bytes } = load;
    const key = chunkKey(version, form, fromRow);
    const kept = this.#hot.set(version.contentId, key, { fromRow, pieces }, bytes);
    if (!kept) markHeavy(load, version, form);
    else if (this.#disk !== undefined) void this.#disk.write({ contentId: version.contentId, key }, load);
  }

  #forget(load: RowLoad, version: FrameVersion, form: ChunkForm): boolean {
    const key = loadKey(version, form, load.fromRow);
    return this.#loads.get(key) === load && this.#loads.delete(key);
  }
}

/** Loads of their own: from the row on, each up to the end of its chunk. */
function addLoads(run: LoadRun, { version, form, toRow }: VersionRows, row: number, chunks: number): void {
  let fromRow = row;
  for (let count = 0; count < chunks && fromRow < toRow; count++) {
    const end = Math.min(toRow, (chunkOf(version, form, fromRow) + 1) * version.chunkRows(form));
    run.loads.push(new RowLoad(run, fromRow, end, { isOfOneReader: true }));
    fromRow = end;
  }
}

function markHeavy(load: RowLoad, version: FrameVersion, form: ChunkForm): void {
  version.markHeavy(form, chunkOf(version, form, load.fromRow), load.bytes / (load.nextRow - load.fromRow));
}

function loadKey(version: FrameVersion, form: ChunkForm, row: number): string {
  return `${version.contentId}:${chunkKey(version, form, row)}`;
}
