import type { ByteCache, CacheSpace } from '../../cache/byte-cache.ts';
import { serverStopping } from '../../core/app-error.ts';
import type { ChunkForm, FrameEngine } from '../../core/frame-engine.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { PinnedParts } from '../disk/part-links.ts';
import { LoadRun, RowLoad, type RowPieces } from './row-load.ts';

/** Rows of one version in one form. */
export interface VersionRows {
  readonly version: FrameVersion;
  /** The files that the reader has pinned or may still pin. */
  readonly parts: PinnedParts;
  readonly form: ChunkForm;
  /** Only these columns, by position. Default: all. */
  readonly select?: readonly number[] | undefined;
  readonly fromRow: number;
  readonly toRow: number;
}

/** Below this a chunk could seldom be kept, so loading whole chunks would be waste. */
const leastKeptBytes = 2 * 1024 * 1024;
const mostLoadBytes = 8 * 1024 * 1024;
const mostAheadBytes = 4 * 1024 * 1024;
const nearChunks = 8;
const heavyLoadBytes = 4 * 1024 * 1024;

/** Chunks in the cache and on their way into it: one load for everybody who wants the same chunk. */
export class ChunkLoads {
  readonly #engine: FrameEngine;
  readonly #hot: CacheSpace<RowPieces>;
  readonly #keepsChunks: boolean;
  readonly #loadLimitBytes: number;
  readonly #loads = new Map<string, RowLoad>();
  readonly #running = new Map<LoadRun, Promise<void>>();
  #isClosed = false;

  constructor(engine: FrameEngine, hot: ByteCache) {
    this.#engine = engine;
    this.#hot = hot.space();
    this.#keepsChunks = hot.maxEntryBytes >= leastKeptBytes;
    this.#loadLimitBytes = this.#keepsChunks ? Math.min(hot.maxEntryBytes, mostLoadBytes) : mostLoadBytes;
  }

  hot(range: VersionRows, row: number): RowPieces | undefined {
    const { version, form } = range;
    return isOfChunk(range, row) ? this.#hot.get(version.contentId, hotKey(version, form, row)) : undefined;
  }

  isHot(range: VersionRows, row: number): boolean {
    const { version, form } = range;
    return isOfChunk(range, row) && this.#hot.has(version.contentId, hotKey(version, form, row));
  }

  /** A load whose rows include `row`: one under way, or a new run of up to `chunks` chunks. */
  at(range: VersionRows, row: number, chunks: number, lane: string | undefined): RowLoad {
    if (this.#isClosed) throw serverStopping();
    const { version, form } = range;
    const heavyRowBytes = version.heavyRowBytes(form, chunkOf(version, form, row));
    const run = new LoadRun();
    if (this.#keepsChunks && heavyRowBytes === undefined && isOfChunk(range, row)) {
      const under = this.#underWay(version, form, row);
      if (under !== undefined) return under;
      this.#addChunks(run, range, row, chunks);
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
    await Promise.all(this.#running.values());
  }

  #addChunks(run: LoadRun, range: VersionRows, row: number, chunks: number): void {
    const { version, form } = range;
    let fromRow = chunkOf(version, form, row) * version.chunkRows(form);
    for (let count = 0; count < chunks && fromRow < range.toRow; count++) {
      const isTaken =
        this.isHot(range, fromRow) ||
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
    // A run of somebody else's may take minutes to come there.
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
    const kept = this.#hot.set(version.contentId, hotKey(version, form, fromRow), { fromRow, pieces }, bytes);
    if (!kept) markHeavy(load, version, form);
  }

  #forget(load: RowLoad, version: FrameVersion, form: ChunkForm): boolean {
    const key = loadKey(version, form, load.fromRow);
    return this.#loads.get(key) === load && this.#loads.delete(key);
  }
}

/** Loads that are nobody else's: from the row on, each up to the end of its chunk. */
function addLoads(run: LoadRun, { version, form, toRow }: VersionRows, row: number, chunks: number): void {
  let fromRow = row;
  for (let count = 0; count < chunks && fromRow < toRow; count++) {
    const end = Math.min(toRow, (chunkOf(version, form, fromRow) + 1) * version.chunkRows(form));
    run.loads.push(new RowLoad(run, fromRow, end));
    fromRow = end;
  }
}

/**
 * Whether a whole chunk, as it is kept, serves the range from this row on. Rows of JSON can be cut out of one; a record
 * batch of Arrow goes out as it is or not at all.
 */
function isOfChunk({ version, form, select, toRow }: VersionRows, row: number): boolean {
  if (select !== undefined) return false;
  if (form !== 'arrow') return true;
  const start = chunkOf(version, form, row) * version.chunkRows(form);
  return row === start && Math.min(version.storedRows, start + version.chunkRows(form)) <= toRow;
}

function markHeavy(load: RowLoad, version: FrameVersion, form: ChunkForm): void {
  version.markHeavy(form, chunkOf(version, form, load.fromRow), load.bytes / (load.nextRow - load.fromRow));
}

function chunkOf(version: FrameVersion, form: ChunkForm, row: number): number {
  return Math.floor(row / version.chunkRows(form));
}

/** The last chunk of a frame that grows is another one later. */
function hotKey(version: FrameVersion, form: ChunkForm, row: number): string {
  const chunkRows = version.chunkRows(form);
  const from = Math.floor(row / chunkRows) * chunkRows;
  return `${form}:${from}:${Math.min(version.storedRows, from + chunkRows)}`;
}

function loadKey(version: FrameVersion, form: ChunkForm, row: number): string {
  return `${version.contentId}:${hotKey(version, form, row)}`;
}
