import { setMaxListeners } from 'node:events';
import { join, resolve } from 'node:path';
import type { Column, EncodedRows } from '@framehold/columns';
import type { ByteCache } from '../cache/byte-cache.ts';
import type { DiskCache } from '../cache/disk-cache.ts';
import { Semaphore } from '../core/async/semaphore.ts';
import { defaultTenant, type Principal, type Tenant } from '../core/callers/principal.ts';
import { AppError, serverStopping } from '../core/errors/app-error.ts';
import { errorType } from '../core/errors/error-type.ts';
import { errnoOf } from '../core/errors/storage-error.ts';
import type { Logger } from '../core/logs/logger.ts';
import { noTimings, type Timings } from '../core/logs/timings.ts';
import type { Handle } from '../core/names/handle.ts';
import type { ChunkForm, Compression, FrameEngine, PartRows } from '../core/rows/frame-engine.ts';
import { StoreChanges } from './catalog/frame-changes.ts';
import type { ChangeResult, FrameSummary, PutResult } from './catalog/frame-summary.ts';
import type { StoreContext } from './catalog/tenant-state.ts';
import { DurableFiles } from './disk/durable-file.ts';
import { otherTenants } from './disk/tenant-directory.ts';
import { UploadDisk } from './disk/upload-disk.ts';
import type {
  FilePreview,
  Frames,
  FrameUse,
  ListOptions,
  OpenOptions,
  Signal,
  StoreBacklog,
  StoreTotals,
  StoreTrouble,
  TemporaryPath,
} from './frames.ts';
import { OpenLogs } from './log/open-logs.ts';
import { PeerGroup, type PeerParts } from './peers/peer-group.ts';
import { ChunkLoads } from './read/chunk-loads.ts';
import { ChunkReader, type ReadOptions } from './read/chunk-reader.ts';
import {
  type FrameParts,
  type FrameRows,
  type FrameSelection,
  openParts,
  type ReadRequest,
  readFrame,
} from './read/read-frame.ts';
import { TenantFrames } from './tenant-frames.ts';
import { ExpirySweeper } from './upkeep/expiry-sweeper.ts';
import { RewriteQueue } from './upkeep/rewrite-queue.ts';
import { Scrubber, type ScrubOptions } from './upkeep/scrubber.ts';
import { writeAndRemove } from './upkeep/write-probe.ts';
import type { ChangeRequest } from './write/change-frame.ts';
import type { PutRequest } from './write/put-frame.ts';
import type { WriteOptions } from './write/staged-parts.ts';
import { firstCompression } from './write/staged-parts.ts';

export interface FrameStoreOptions {
  /** Made when absent. */
  readonly coldDirectory: string;
  readonly engine: FrameEngine;
  /** For work that can wait: recompression, verification of everything. */
  readonly backgroundEngine: FrameEngine;
  /** Encoded rows are cached in it, under the id of their version. */
  readonly cache: ByteCache;
  /** Default: none. */
  readonly diskCache?: DiskCache | undefined;
  /** Final compression of cold files. */
  readonly compression: Compression;
  /** For frames put without one. Default: they stay. */
  readonly defaultTtlMs?: number | undefined;
  /** How long requests for a removed handle get the answer that it is gone. */
  readonly tombstoneTtlMs: number;
  /** Limits of a tenant. Default: none. */
  readonly limitsOf?: StoreContext['limitsOf'] | undefined;
  readonly onRemoved?: StoreContext['onRemoved'] | undefined;
  /** Durations of puts and appends, by their mode. */
  readonly putTimings?: Timings | undefined;
  /** Durations of waits for the disk. */
  readonly diskTimings?: Timings | undefined;
  readonly logger: Logger;
  /** Milliseconds since 1970. Default: a clock that runs on evenly when the system's is set. */
  readonly now?: () => number;
  /** Time without a put before recompression begins. Default 1000. */
  readonly quietMs?: number;
  /** Time without new rows in a frame before its small parts are merged. Default 30,000. */
  readonly standstillMs?: number;
  /** Most time for a rewrite of parts. Default: by its size, far longer than it ever takes. */
  readonly recompressionTimeoutMs?: number;
  /** Log files that are open for writing at once, of all tenants. */
  readonly mostOpenLogs?: number;
  /** Default: frames are not scrubbed. */
  readonly scrub?: ScrubOptions | undefined;
}

const adoptionsAtOnce = 2;

/** Opens the frames of a directory. They are found in the background; a requested frame is looked up at once. */
export async function openFrameStore(options: FrameStoreOptions): Promise<FrameStore> {
  try {
    await new DurableFiles().makeFolder(resolve(options.coldDirectory));
  } catch (error) {
    // Present frames can still be read, and puts report the fault.
    if (!['EROFS', 'ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '')) throw error;
  }
  return new FrameStore(options);
}

/** All frames of all tenants. */
export class FrameStore implements Frames<Handle>, AsyncDisposable {
  readonly cache: ByteCache;
  readonly diskCache: DiskCache | undefined;
  readonly uploadDisk: UploadDisk;
  readonly #common: Omit<StoreContext, keyof PeerParts>;
  #peerGroup: PeerGroup;
  readonly #controller = new AbortController();
  readonly #tenants = new Map<Tenant, TenantFrames>();
  readonly #changes = new StoreChanges();
  /** Parts of a lost place that are being ended. */
  readonly #ending = new Set<Promise<void>>();
  readonly #loads: ChunkLoads;
  readonly #chunks: ChunkReader;
  readonly #rewrites: RewriteQueue;
  readonly #sweeper: ExpirySweeper;
  readonly #scrubber: Scrubber | undefined;
  readonly #found: Promise<void>;
  readonly #putTimings: Timings;
  #puts = 0;
  #rowsPut = 0;
  #bytesPut = 0;
  #flushFailures = 0;

  constructor(options: FrameStoreOptions) {
    const { logger } = options;
    // All running work listens to it.
    setMaxListeners(0, this.#controller.signal);
    const startedAt = Date.now() - performance.now();
    this.#putTimings = options.putTimings ?? noTimings;
    this.cache = options.cache;
    this.diskCache = options.diskCache;
    this.uploadDisk = UploadDisk.below(options.coldDirectory);
    this.#rewrites = new RewriteQueue({
      rewrite: async (tenant, handle, how, signal) => this.#of(tenant).rewrite(handle, how, signal),
      quietMs: options.quietMs ?? 1000,
      standstillMs: options.standstillMs ?? 30_000,
      logger,
    });
    this.#common = {
      coldDirectory: options.coldDirectory,
      engine: options.engine,
      backgroundEngine: options.backgroundEngine,
      compression: options.compression,
      recompressionTimeoutMs: options.recompressionTimeoutMs,
      defaultTtlMs: options.defaultTtlMs ?? null,
      tombstoneTtlMs: options.tombstoneTtlMs,
      cache: this.cache,
      diskCache: this.diskCache,
      durable: new DurableFiles(options.diskTimings),
      openLogs: new OpenLogs(options.mostOpenLogs),
      uploadDisk: this.uploadDisk,
      adoptions: new Semaphore(adoptionsAtOnce),
      logger,
      now: options.now ?? (() => Math.round(startedAt + performance.now())),
      signal: this.#controller.signal,
      directoryOf: (tenant) => this.#of(tenant).directory,
      changesOf: (tenant) => this.#changes.of(tenant),
      limitsOf: options.limitsOf ?? (async () => undefined),
      onRemoved: options.onRemoved ?? (async () => {}),
      onFlushFailed: () => {
        this.#flushFailures++;
      },
      wantsRewrite: (tenant, manifest) => this.#rewrites.changed(tenant, manifest),
    };
    this.#loads = new ChunkLoads(options.engine, this.cache, this.diskCache);
    this.#chunks = new ChunkReader(this.#loads);
    this.#peerGroup = this.#share();
    this.#of(defaultTenant);
    this.#found = this.#findTenants();
    void this.#sweepDiskCache();
    this.#scrubber = options.scrub && this.#scrubs(options.scrub);
    this.#sweeper = new ExpirySweeper(() => [...this.#tenants.values()].map(({ expiry }) => expiry), logger);
  }

  async put(principal: Principal, request: PutRequest<Handle>, options: Signal): Promise<PutResult> {
    const put = await this.#timed(principal, request.mode, options, (work) =>
      this.#of(principal.tenant).put(request, work),
    );
    this.#puts++;
    this.#rowsPut += put.rowsPut;
    this.#bytesPut += put.bytesPut;
    return put;
  }

  async change(principal: Principal, request: ChangeRequest<Handle>, options: Signal): Promise<ChangeResult> {
    return await this.#timed(principal, 'change', options, (work) => this.#of(principal.tenant).change(request, work));
  }

  async #timed<T>(
    { tenant, span: outer }: Principal,
    mode: PutRequest['mode'] | 'change',
    options: Signal,
    write: (work: WriteOptions) => Promise<T>,
  ): Promise<T> {
    const begunMs = performance.now();
    const span = outer?.child('put', { 'framehold.mode': mode });
    const end = (failure = ''): void => {
      span?.end(failure);
      this.#putTimings.add(performance.now() - begunMs, mode, failure, '', span?.traceId);
    };
    // Not a copy of the options: their signal may be made on demand.
    const { lane = tenant, costs } = options;
    const work = {
      lane,
      span,
      costs,
      get signal() {
        return options.signal;
      },
    };
    try {
      const written = await write(work);
      end();
      return written;
    } catch (error) {
      end(errorType(error));
      if (error instanceof AppError && error.code === 'storage_full') this.diskCache?.giveWay();
      throw error;
    }
  }

  /** As far as known by now. */
  get totals(): StoreTotals {
    let [frames, bytes, damaged] = [0, 0, 0];
    for (const tenant of this.#tenants.values()) {
      frames += tenant.known.frames;
      bytes += tenant.known.bytes;
      damaged += tenant.damaged;
    }
    return { frames, bytes, damaged, puts: this.#puts, rowsPut: this.#rowsPut, bytesPut: this.#bytesPut };
  }

  get backlog(): StoreBacklog {
    let [logBytes, oldestLogMs] = [0, 0];
    for (const tenant of this.#tenants.values()) {
      const { backlog } = tenant;
      logBytes += backlog.logBytes;
      oldestLogMs = Math.max(oldestLogMs, backlog.oldestLogMs);
    }
    const { waiting: rewritesWaiting, failures: rewriteFailures } = this.#rewrites;
    return { logBytes, oldestLogMs, rewritesWaiting, flushFailures: this.#flushFailures, rewriteFailures };
  }

  /** When all frames were last read and found sound, in milliseconds since 1970. Undefined where that was never. */
  get scrubbedAt(): number | undefined {
    return this.#scrubber?.lastSuccessAt;
  }

  /** Undefined where frames can be read, and nothing that was written is in doubt. */
  get trouble(): StoreTrouble | undefined {
    if (this.#common.durable.isReadOnly) return 'storage_failed';
    // It has another place by now, while open work of the lost one ends.
    return this.#ending.size > 0 ? 'lease_lost' : undefined;
  }

  /** Writes as puts do, and leaves nothing. Rejects where they would. */
  async tryWrite(): Promise<void> {
    const { directory } = this.#of(defaultTenant);
    this.#common.durable.assertWritable();
    await directory.prepare();
    await writeAndRemove(directory.newTemporaryPath('.probe'));
  }

  /** The use of each tenant, as far as known. */
  *uses(): Generator<readonly [tenant: Tenant, use: FrameUse]> {
    for (const [tenant, { known }] of this.#tenants) yield [tenant, known];
  }

  /** Callers of the store itself may write. */
  assertMayWrite(): void {}

  readonly refusePut = this.#each('refusePut');
  readonly use = this.#each('use');
  readonly temporaryFile = this.#each('temporaryFile');
  readonly incomingFolder = this.#each('incomingFolder');
  readonly open = this.#each('open');
  readonly describe = this.#each('describe');
  readonly watch = this.#each('watch');
  readonly watchAll = this.#each('watchAll');
  readonly drop = this.#each('drop');
  readonly renew = this.#each('renew');
  readonly redefine = this.#each('redefine');
  readonly flush = this.#each('flush');
  readonly saveView = this.#each('saveView');
  readonly definitions = this.#each('definitions');
  readonly define = this.#each('define');
  readonly undefine = this.#each('undefine');

  peek(principal: Principal, handle: Handle): string | undefined {
    return this.#of(principal.tenant).peek(handle);
  }

  appendColumns(principal: Principal, handle: Handle): readonly Column[] | undefined {
    return this.#of(principal.tenant).appendColumns(handle);
  }

  list(principal: Principal, options?: ListOptions): AsyncIterable<FrameSummary> {
    return this.#of(principal.tenant).list(options);
  }

  /** An operation on the frames of the caller's tenant. */
  #each<Method extends keyof Frames & keyof TenantFrames>(method: Method): Frames<Handle>[Method] {
    return (async (principal: Principal, ...call: unknown[]) => {
      const frames = this.#of(principal.tenant);
      return (frames[method] as (...call: unknown[]) => unknown).apply(frames, call);
    }) as Frames<Handle>[Method];
  }

  async writeParquet(
    principal: Principal,
    request: Parameters<Frames['writeParquet']>[1],
    { signal, lane, costs }: Signal,
  ): Promise<TemporaryPath & { readonly bytes: number }> {
    const { source: rows, compression = firstCompression(this.#common.compression).compression } = request;
    const { isForStatements = false } = request;
    const file = await this.#of(principal.tenant).temporaryFile(lane, isForStatements);
    // Rows of a change count as an upload, like those of a put.
    const isArriving = isForStatements && rows.kind === 'arrow';
    const source = isArriving ? { ...rows, stream: file.counted(rows.stream) } : rows;
    try {
      const part = { source, path: file.path, compression, isTemporary: isForStatements };
      const { bytes } = await this.#common.engine.write(part, { signal, lane: lane ?? principal.tenant, costs });
      return { ...file, bytes };
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }

  async preview(
    principal: Principal,
    { source, form, maxRows }: { readonly source: PartRows; readonly form: ChunkForm; readonly maxRows: number },
    { signal, lane }: Signal,
  ): Promise<FilePreview> {
    const { engine, compression: cold } = this.#common;
    const { compression } = firstCompression(cold);
    await using file = await this.temporaryFile(principal);
    const { path } = file;
    const written = await engine.write({ source, path, compression, isTemporary: true }, { signal, lane });
    const { columns, rows, report } = written;
    const job = {
      parts: [{ path, rows }],
      columns,
      form,
      fromRow: 0,
      toRow: Math.min(rows, maxRows),
      chunkRows: maxRows,
    };
    const firstRows: Pick<EncodedRows, 'rows' | 'bytes'>[] = [];
    for await (const piece of engine.read(job, { signal, lane })) {
      // A piece is valid only until the next one is read.
      firstRows.push({ rows: piece.rows, bytes: piece.bytes.slice() });
    }
    return { columns, rows, firstRows, report };
  }

  async read(
    principal: Principal,
    request: ReadRequest<Handle>,
    options: ReadOptions & OpenOptions,
  ): Promise<FrameRows> {
    return readFrame(() => this.open(principal, request.handle, options), request, options);
  }

  async openParts(principal: Principal, selection: FrameSelection<Handle>, options: OpenOptions): Promise<FrameParts> {
    return openParts(() => this.open(principal, selection.handle, options), selection);
  }

  /** The folder in which a tenant finds the files of all frames that it reads. Undefined where nothing can be written. */
  linksFolder(tenant: Tenant): Promise<string | undefined> {
    return this.#of(tenant).linksFolder();
  }

  /** Frames of all tenants. */
  async count(): Promise<number> {
    await this.#found;
    const counts = await Promise.all([...this.#tenants.values()].map((tenant) => tenant.count()));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort(serverStopping());
    this.#sweeper.dispose();
    this.#changes[Symbol.dispose]();
    await this.#scrubber?.[Symbol.asyncDispose]();
    await this.#found;
    await this.#rewrites[Symbol.asyncDispose]();
    await this.#loads[Symbol.asyncDispose]();
    await Promise.all([...this.#tenants.values()].map((tenant) => tenant[Symbol.asyncDispose]()));
    await Promise.all(this.#ending);
    await this.#peerGroup[Symbol.asyncDispose]();
  }

  #scrubs(options: ScrubOptions): Scrubber {
    const { coldDirectory, now, logger } = this.#common;
    return new Scrubber({
      ...options,
      scrubs: async () => {
        await this.#found;
        const tenants = [...this.#tenants.values()];
        await Promise.all(tenants.map(({ loaded }) => loaded));
        return tenants.map(({ scrub }) => scrub);
      },
      notePath: join(coldDirectory, '.framehold', 'scrub.json'),
      newTemporaryPath: () => this.#of(defaultTenant).directory.newTemporaryPath('.json'),
      now,
      logger,
    });
  }

  #share(): PeerGroup {
    const { coldDirectory, durable, logger } = this.#common;
    return new PeerGroup(coldDirectory, durable, logger, {
      onChanged: (tenant, handle) => this.#unlessClosed(() => this.#of(tenant).changedElsewhere(handle)),
      onRead: (tenant, handle) => this.#tenants.get(tenant)?.readElsewhere(handle),
      onMissed: () => {
        for (const tenant of this.#tenants.values()) tenant.suspectAll();
      },
      onInherited: () => {
        for (const tenant of this.#tenants.values()) tenant.rewriteRemaining();
      },
      onLost: () => this.#unlessClosed(() => this.#beginAnew()),
    });
  }

  /** The others took this process for dead: its open work is lost, and it comes back as a new process. */
  #beginAnew(): void {
    const before = [...this.#tenants];
    const peerGroup = this.#peerGroup;
    this.#tenants.clear();
    this.#peerGroup = this.#share();
    const ending = Promise.all(before.map(([, tenant]) => tenant[Symbol.asyncDispose]()))
      .then(() => peerGroup[Symbol.asyncDispose]())
      .catch((error) => this.#common.logger.warn('could not clear up after a lost place', { error: String(error) }))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    for (const [tenant] of before) this.#of(tenant);
  }

  #unlessClosed(task: () => void): void {
    if (!this.#controller.signal.aborted) task();
  }

  #of(tenant: Tenant): TenantFrames {
    this.#controller.signal.throwIfAborted();
    let frames = this.#tenants.get(tenant);
    if (frames === undefined) {
      const context = { ...this.#common, ...this.#peerGroup.parts };
      frames = new TenantFrames(context, tenant, this.#chunks);
      this.#tenants.set(tenant, frames);
    }
    return frames;
  }

  async #sweepDiskCache(): Promise<void> {
    if (this.diskCache === undefined) return;
    try {
      await this.#found;
      await Promise.all([...this.#tenants.values()].map(({ loaded }) => loaded));
      if (!this.#controller.signal.aborted) this.diskCache.sweep();
    } catch {
      // Unknown tenants may own files there.
    }
  }

  async #findTenants(): Promise<void> {
    for (const tenant of await otherTenants(this.#common.coldDirectory)) {
      if (!this.#controller.signal.aborted) this.#of(tenant);
    }
  }
}
