import type { Tenant } from '../../core/callers/principal.ts';
import type { Producer } from '../../core/callers/producer.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { ChunkForm } from '../../core/rows/frame-engine.ts';
import { contentIdOf, grownVersionId, type Manifest, totalBytes } from '../disk/manifest.ts';
import type { PinnedParts } from '../disk/part-links.ts';
import type { Tail } from '../log/tail.ts';
import type { TailFiles } from '../log/tail-files.ts';
import { chunkRowsOf } from './chunk-size.ts';

/** Reads elsewhere keep a frame alive as well. */
export interface ReadElsewhere {
  readonly hasPeers: () => boolean;
  readonly announceRead: (handle: Handle) => void;
  /** Followers keep it alive too, though they hold no reader while they wait. */
  readonly isWatched: (handle: Handle) => boolean;
}

/** As shares of the time to live: the pause between announcements of reads to peers, and the delay of expiry while there are peers. */
const announceShare = 1 / 8;
const mostAnnounceMs = 5000;
/** Time until peers know of a read. */
const hearMs = 1000;

/** A version of a frame, in memory. Its rows never change; their files may (recompression). */
export class FrameVersion {
  manifest: Manifest;
  readonly tenant: Tenant;
  parts: PinnedParts;
  /** The rows that are not in Parquet yet. */
  readonly tail: Tail;
  readonly tailFiles: TailFiles;
  /** Rows of the parts. */
  readonly storedRows: number;
  readonly rows: number;
  readonly #chunkRows: Map<ChunkForm, number>;
  /** No longer current: only present readers still read it. */
  isRetired = false;
  isReplaced = false;
  #retired: AbortController | undefined;
  expiresAt: number | undefined;
  /** Open ones, of all versions of the lineage: a frame that grows does not expire under them. */
  readonly readers: { count: number };
  /** Chunks that turned out too large to keep, with their bytes a row. */
  readonly #heavy: Map<string, number>;

  readonly #elsewhere: ReadElsewhere;
  #versionId: string | undefined;
  #announcedAt = Number.NEGATIVE_INFINITY;

  constructor(
    manifest: Manifest,
    { tenant, parts, tail, tailFiles }: Pick<FrameVersion, 'tenant' | 'parts' | 'tail' | 'tailFiles'>,
    now: number,
    elsewhere: ReadElsewhere,
    readers = { count: 0 },
    before?: FrameVersion,
  ) {
    this.manifest = manifest;
    this.tenant = tenant;
    this.parts = parts;
    this.tail = tail;
    this.tailFiles = tailFiles;
    this.storedRows = tail.fromRow;
    this.rows = tail.toRow;
    this.#chunkRows = before === undefined ? new Map() : before.#chunkRows;
    this.#heavy = before === undefined ? new Map() : before.#heavy;
    this.#elsewhere = elsewhere;
    this.readers = readers;
    this.keepAlive(now);
  }

  /** The version after an append to the log. */
  grown(tail: Tail, now: number): FrameVersion {
    const { manifest, tenant, parts, tailFiles } = this;
    return new FrameVersion(manifest, { tenant, parts, tail, tailFiles }, now, this.#elsewhere, this.readers, this);
  }

  /** Aborts when it is retired. */
  get retired(): AbortSignal {
    this.#retired ??= new AbortController();
    if (this.isRetired) this.#retired.abort();
    return this.#retired.signal;
  }

  /** `isReplaced`: the rows of the next version are not these and more. */
  retire({ isReplaced }: { readonly isReplaced: boolean }): void {
    this.isRetired = true;
    this.isReplaced = isReplaced;
    this.#retired?.abort();
  }

  get versionId(): string {
    this.#versionId ??= this.tail.rows === 0 ? this.manifest.versionId : grownVersionId(this.manifest, this.rows);
    return this.#versionId;
  }

  /** 1, 2, … */
  get number(): number {
    return Math.max(this.manifest.version, this.tail.version ?? 0);
  }

  /** The same while rows only grow: cached rows under it stay valid. A copy of the frame with another tenant may grow in another way. */
  get contentId(): string {
    return `${this.tenant}.${contentIdOf(this.manifest)}`;
  }

  get bytes(): number {
    return totalBytes(this.manifest.parts) + this.tail.bytes;
  }

  /** The progress of each producer. */
  get producers(): readonly Producer[] {
    const { producers = [] } = this.manifest;
    return [...producers, ...this.tail.records.flatMap((record) => record.producers)];
  }

  /** Number of rows that are loaded and cached together in a form. */
  chunkRows(form: ChunkForm): number {
    let rows = this.#chunkRows.get(form);
    if (rows === undefined) {
      const { columns, parts } = this.manifest;
      const uncompressedBytes = parts.reduce((sum, part) => sum + part.uncompressedBytes, 0);
      rows = chunkRowsOf(form, { rows: this.storedRows, columns, uncompressedBytes });
      this.#chunkRows.set(form, rows);
    }
    return rows;
  }

  /** A read keeps a frame alive. Also after a restart it has the whole time to live, so no frame is lost early. */
  touch(now: number): void {
    this.keepAlive(now);
    const { handle, ttlMs } = this.manifest;
    if (ttlMs === null || !this.#elsewhere.hasPeers()) return;
    if (now - this.#announcedAt < Math.min(mostAnnounceMs, ttlMs * announceShare)) return;
    this.#announcedAt = now;
    this.#elsewhere.announceRead(handle);
  }

  /** The same, where others know of it already. */
  keepAlive(now: number): void {
    const { ttlMs } = this.manifest;
    this.expiresAt = ttlMs === null ? undefined : now + ttlMs;
  }

  /** A frame does not expire under its readers and followers. */
  get isInUse(): boolean {
    return this.readers.count > 0 || this.#elsewhere.isWatched(this.manifest.handle);
  }

  isExpired(now: number): boolean {
    if (this.expiresAt === undefined || this.expiresAt > now || this.isInUse) return false;
    if (!this.#elsewhere.hasPeers()) return true;
    return this.expiresAt + (this.manifest.ttlMs ?? 0) * announceShare + hearMs <= now;
  }

  markHeavy(form: ChunkForm, chunk: number, rowBytes: number): void {
    this.#heavy.set(`${form}:${chunk}`, rowBytes);
  }

  heavyRowBytes(form: ChunkForm, chunk: number): number | undefined {
    return this.#heavy.size === 0 ? undefined : this.#heavy.get(`${form}:${chunk}`);
  }
}
