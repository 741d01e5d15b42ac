import { createHash } from 'node:crypto';
import type { ByteCache } from '../../cache/byte-cache.ts';
import type { DiskCache } from '../../cache/disk-cache.ts';
import type { Semaphore } from '../../core/async/semaphore.ts';
import type { Tenant, TenantLimits } from '../../core/callers/principal.ts';
import { AppError, isTransient } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Compression, FrameEngine } from '../../core/rows/frame-engine.ts';
import { Commits } from '../disk/commit.ts';
import type { DurableFiles } from '../disk/durable-file.ts';
import { contentIdOf, lineageOf, type Manifest, rowsOf } from '../disk/manifest.ts';
import { ManifestFiles } from '../disk/manifest-files.ts';
import { isToExamine, type Part, sameFiles } from '../disk/part.ts';
import { PartCheck } from '../disk/part-check.ts';
import { hasPartChecksum } from '../disk/part-checksum.ts';
import { type HeldPart, PartLinks } from '../disk/part-links.ts';
import { TenantDirectory } from '../disk/tenant-directory.ts';
import type { UploadDisk } from '../disk/upload-disk.ts';
import { LogFolder } from '../log/log-folder.ts';
import type { OpenLogs } from '../log/open-logs.ts';
import { Tail } from '../log/tail.ts';
import { TailFiles } from '../log/tail-files.ts';
import type { PeerParts } from '../peers/peer-group.ts';
import { SharedLocks, tenantLock } from '../peers/shared-locks.ts';
import { Catalog, type Entry } from './catalog.ts';
import type { FrameChanges } from './frame-changes.ts';
import { FrameVersion, type ReadElsewhere } from './frame-version.ts';
import { HandleLocks } from './handle-locks.ts';

/** The shared parts of all tenants of a store. */
export interface StoreContext extends PeerParts {
  readonly coldDirectory: string;
  readonly engine: FrameEngine;
  readonly backgroundEngine: FrameEngine;
  readonly compression: Compression;
  readonly defaultTtlMs: number | null;
  readonly tombstoneTtlMs: number;
  readonly cache: ByteCache;
  readonly diskCache: DiskCache | undefined;
  readonly durable: DurableFiles;
  readonly openLogs: OpenLogs;
  /** For bytes on their way in. */
  readonly uploadDisk: UploadDisk;
  /** Undefined: by the size of a part. */
  readonly recompressionTimeoutMs: number | undefined;
  /** Limits the files from outside that are examined at once. */
  readonly adoptions: Semaphore;
  readonly logger: Logger;
  readonly now: () => number;
  /** Aborts when the store closes. */
  readonly signal: AbortSignal;
  /** The directory of another tenant. */
  readonly directoryOf: (tenant: Tenant) => TenantDirectory;
  /** Listeners stay when all other state of a tenant is made anew. */
  readonly changesOf: (tenant: Tenant) => FrameChanges;
  /** Limits of a tenant. Undefined: none. */
  readonly limitsOf: (tenant: Tenant) => Promise<Pick<TenantLimits, 'maxBytes' | 'maxFrames'> | undefined>;
  /** A frame was dropped or has expired. The lock of its handle is held: none is made anew meanwhile. */
  readonly onRemoved: (tenant: Tenant, handle: Handle) => Promise<void>;
  /** A frame has parts that may have to be merged, or compressed as configured. */
  readonly wantsRewrite: (tenant: Tenant, manifest: Manifest) => void;
  /** Rows of a log stay there for now. */
  readonly onFlushFailed: () => void;
}

export interface ChangeOptions {
  /** Without a writable disk there is no lock either; tasks that only remove, or change nothing then, may run without it. */
  readonly evenUnlocked?: boolean;
  /** Default: true. */
  readonly tells?: boolean;
}

/** One tenant's frames in memory and on disk, for all operations. */
export class TenantState {
  readonly context: StoreContext;
  readonly directory: TenantDirectory;
  readonly records: ManifestFiles;
  readonly commits: Commits;
  readonly partLinks: PartLinks;
  readonly catalog: Catalog;
  readonly changes: FrameChanges;
  readonly logs: LogFolder;
  readonly locks = new HandleLocks();
  /** Parts that took too long to rewrite, or cannot be, and stay unchanged until a restart. */
  readonly slowParts = new WeakSet<PartCheck>();
  readonly #sharedLocks: SharedLocks;
  readonly #elsewhere: ReadElsewhere;
  /** Everything on the disk is in the catalog. */
  isLoaded = false;

  constructor(context: StoreContext, tenant: Tenant) {
    this.context = context;
    this.changes = context.changesOf(tenant);
    this.catalog = new Catalog((handle, before, after) => this.changes.changed(handle, before, after));
    this.directory = new TenantDirectory(context.coldDirectory, tenant, context.durable, context.lease);
    this.records = new ManifestFiles(this.directory, context.durable);
    this.commits = new Commits(this.directory, this.records, context.durable, context.logger);
    this.logs = new LogFolder(this.directory, context.durable, context.openLogs);
    const hasPeers = (): boolean => context.peers.hasPeers;
    const checkPart = (part: Part, path: string): Promise<boolean> => isAsWritten(this, part, path);
    this.partLinks = new PartLinks(this.directory, checkPart, hasPeers, context.directoryOf);
    const announceRead = (handle: Handle): void => void context.lease.announce(`read ${tenant} ${handle}`);
    const isWatched = (handle: Handle): boolean => this.changes.isWatched(handle);
    this.#elsewhere = { hasPeers, announceRead, isWatched };
    this.#sharedLocks = new SharedLocks({
      directory: this.directory,
      hasPeers,
      releaseUnknown: (id) => context.releaseUnknown(this.directory, id),
      signal: context.signal,
    });
  }

  /** One task at a time for the whole tenant, in all processes. Not for tasks that hold the lock of a handle. */
  alone<T>(task: () => Promise<T>): Promise<T> {
    return this.locks.run(tenantLock, () => this.#sharedLocks.run(tenantLock, task));
  }

  /** For changes of a handle: one at a time, here and in all processes, and the others hear of it. */
  change<T>(handle: Handle, task: () => Promise<T>, options: ChangeOptions = {}): Promise<T> {
    return this.locks.run(handle, () => this.changeHeld(handle, task, options));
  }

  /** The same for a task that holds the lock of this process. */
  async changeHeld<T>(handle: Handle, task: () => Promise<T>, options: ChangeOptions = {}): Promise<T> {
    const { evenUnlocked = false, tells = true } = options;
    const { lease } = this.context;
    let isBegun = false;
    try {
      return await this.#sharedLocks.run(handle, async () => {
        isBegun = true;
        try {
          return await task();
        } finally {
          if (tells) await this.announceChange(handle);
        }
      });
    } catch (error) {
      if (!isBegun) {
        if (evenUnlocked && isUnwritable(error) && !this.context.peers.hasPeers) return task();
        throw error;
      }
      const isOfDisk = errnoOf(error) !== undefined || !(error instanceof AppError);
      throw isOfDisk && (await lease.hasLostLease()) ? perhapsWritten(error) : error;
    }
  }

  /** Whether another handle's change waits for this tenant: for the lock of the tenant, or because all locks are in use. */
  get hasWaitingFrames(): boolean {
    return this.locks.hasWaiting(tenantLock) || this.#sharedLocks.hasWaiting;
  }

  /** Resolves when the other processes can know that the handle has changed. */
  announceChange(handle: Handle): Promise<void> {
    return this.context.lease.announce(`changed ${this.directory.tenant} ${handle}`);
  }

  /** Another process moved the rows of the version, or gave it another time to live. */
  async adoptManifest(version: FrameVersion, manifest: Manifest): Promise<void> {
    const before = version.parts;
    const isMoved = !sameFiles(before.parts, manifest.parts);
    version.manifest = manifest;
    if (isMoved) version.parts = this.partLinks.set(partsFound(manifest));
    version.keepAlive(this.context.now());
    this.catalog.set(manifest.handle, { kind: 'held', version });
    if (isMoved) await before.retire();
  }

  /** Makes this the current version; readers of the one before keep it. */
  async hold(
    manifest: Manifest,
    parts: readonly HeldPart[],
    tail = Tail.empty(rowsOf(manifest.parts)),
  ): Promise<FrameVersion> {
    const before = this.catalog.get(manifest.handle);
    const isGrown = before?.kind === 'held' && contentIdOf(before.version.manifest) === contentIdOf(manifest);
    const tailFiles = isGrown ? before.version.tailFiles : this.#newTailFiles();
    tailFiles.endBefore(tail.fromRow);
    const held = { tenant: this.directory.tenant, parts: this.partLinks.set(parts), tail, tailFiles };
    const isOfLineage = before?.kind === 'held' && lineageOf(before.version.manifest) === lineageOf(manifest);
    const readers = isOfLineage ? before.version.readers : undefined;
    const version = new FrameVersion(manifest, held, this.context.now(), this.#elsewhere, readers);
    await this.setEntry(manifest.handle, { kind: 'held', version });
    this.context.diskCache?.hold(version.contentId, stateOf(manifest));
    return version;
  }

  /** Makes the version that has these rows behind its parts the current one. */
  async grow(version: FrameVersion, tail: Tail): Promise<FrameVersion> {
    const grown = version.grown(tail, this.context.now());
    await this.setEntry(version.manifest.handle, { kind: 'held', version: grown });
    return grown;
  }

  #newTailFiles(): TailFiles {
    const { engine, directoryOf, signal } = this.context;
    return new TailFiles({ directory: this.directory, directoryOf, engine, signal });
  }

  /** Enqueues a frame whose parts are not compressed as configured, not examined, or many. */
  rewriteLater(manifest: Manifest): void {
    const { parts } = manifest;
    if (parts.length > 1 || parts.some((part) => !part.final || isToExamine(part))) {
      this.context.wantsRewrite(this.directory.tenant, manifest);
    }
  }

  /** Whether rows of it can be read without its files. */
  isCached({ contentId }: FrameVersion): boolean {
    const { cache, diskCache } = this.context;
    return cache.hasVersion(contentId) || diskCache?.hasVersion(contentId) === true;
  }

  /** Puts an entry in the place of the one before. */
  async setEntry(handle: Handle, entry: Entry | undefined): Promise<void> {
    const before = this.catalog.get(handle);
    if (entry === undefined) this.catalog.delete(handle);
    else this.catalog.set(handle, entry);
    if (before?.kind !== 'held') return;
    const { version } = before;
    const next = entry?.kind === 'held' ? entry.version : undefined;
    // A version with fewer rows was restored from a copy, and may grow in another way.
    const isReplaced = next?.contentId !== version.contentId || next.storedRows < version.storedRows;
    version.retire({ isReplaced });
    if (next?.versionId !== version.versionId) this.context.cache.deleteVersion(version.versionId);
    if (isReplaced) {
      this.context.cache.deleteVersion(version.contentId);
      this.context.diskCache?.deleteVersion(version.contentId);
      version.tailFiles.end();
    }
    if (next?.parts !== version.parts) await version.parts.retire();
  }
}

/** Shows after a restart whether a frame is the very same: a frame restored from a copy may have grown to the same version id. */
function stateOf({ versionId, parts }: Manifest): string {
  const checksums = parts.map(({ file, checksum }) => `${file} ${checksum}`).join();
  return `${versionId} ${createHash('sha256').update(checksums).digest('hex')}`;
}

async function isAsWritten(
  { context, directory }: TenantState,
  { checksum, size }: Part,
  path: string,
): Promise<boolean> {
  if (checksum === null) return false;
  const { engine, signal } = context;
  try {
    const lane = `${directory.tenant}#verification`;
    return await hasPartChecksum(engine, { checksum, size }, path, { signal, lane });
  } catch (error) {
    if (signal.aborted || isTransient(error) || !(error instanceof AppError)) throw error;
    return false;
  }
}

/** Parts of a manifest that was found on disk: our own files are yet to be verified, files from outside cannot be. */
export function partsFound(manifest: Manifest): HeldPart[] {
  return manifest.parts.map((part) => ({ ...part, check: new PartCheck(part) }));
}

export function isUnwritable(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'storage_full' || error.code === 'storage_read_only');
}

export function perhapsWritten(cause: unknown): AppError {
  return new AppError('internal', 'this server stood still in the middle of a write, and the others took it for dead', {
    hint: 'read the frame to see whether the write is there, then try again',
    cause,
  });
}
