import { mkdir, rm } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { abortable } from '@framehold/async';
import type { Column } from '@framehold/columns';
import { LinkedAbort } from '../core/async/linked-abort.ts';
import type { Tenant } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { Handle } from '../core/names/handle.ts';
import type { Definition } from '../core/sql/definition.ts';
import type { FrameChange } from './catalog/frame-changes.ts';
import { isView, whyNotHeld } from './catalog/frame-errors.ts';
import {
  type ChangeResult,
  type FrameSummary,
  type HeldSummary,
  heldSummary,
  type PutResult,
} from './catalog/frame-summary.ts';
import type { FrameVersion } from './catalog/frame-version.ts';
import { type StoreContext, TenantState } from './catalog/tenant-state.ts';
import { DefinitionFolder, type IfDefined } from './disk/definition-folder.ts';
import { storage } from './disk/durable-file.ts';
import { FileChanged } from './disk/part-links.ts';
import type { TenantDirectory } from './disk/tenant-directory.ts';
import { FrameLookup } from './frame-lookup.ts';
import type {
  FrameUse,
  ListOptions,
  OpenOptions,
  Signal,
  TemporaryFile,
  TemporaryPath,
  TenantOperations,
} from './frames.ts';
import { leaseLost } from './peers/process-lease.ts';
import type { ChunkReader } from './read/chunk-reader.ts';
import { FrameReader } from './read/frame-reader.ts';
import { Reconciler } from './reconcile/reconciler.ts';
import { Scanner } from './reconcile/scanner.ts';
import { FrameExpiry } from './upkeep/frame-expiry.ts';
import { FrameScrub } from './upkeep/frame-scrub.ts';
import type { MergeOptions } from './upkeep/merge-plan.ts';
import { PartRewriter } from './upkeep/rewrite-parts.ts';
import { Verification } from './upkeep/verification.ts';
import { type ChangeRequest, changeFrame } from './write/change-frame.ts';
import type { LogBacklog } from './write/flusher.ts';
import { FrameAppender } from './write/frame-appender.ts';
import { FrameWriter, type PutRequest } from './write/put-frame.ts';
import { Quota } from './write/quota.ts';
import { type RedefineRequest, redefineFrame } from './write/redefine-frame.ts';
import { removeFrame } from './write/remove-frame.ts';
import { type SaveView, saveView } from './write/save-view.ts';
import type { WriteOptions } from './write/staged-parts.ts';
import type { WriteParts } from './write/write-parts.ts';

/** Handles that are listed before other requests get a turn. */
const handlesInTurn = 1000;

/** Other processes may replace it again and again. */
const mostReopens = 10;

/** The use cases, for one tenant. */
export class TenantFrames implements Partial<TenantOperations>, AsyncDisposable {
  readonly expiry: FrameExpiry;
  readonly scrub: FrameScrub;
  readonly #state: TenantState;
  readonly #definitions: DefinitionFolder;
  readonly #reconciler: Reconciler;
  readonly #lookup: FrameLookup;
  readonly #verification: Verification;
  readonly #rewriter: PartRewriter;
  readonly #parts: WriteParts;
  readonly #writer: FrameWriter;
  readonly #scanner: Scanner;
  readonly #chunks: ChunkReader;
  readonly #puts = new Set<Promise<unknown>>();

  constructor(context: StoreContext, tenant: Tenant, chunks: ChunkReader) {
    this.#state = new TenantState(context, tenant);
    this.#definitions = new DefinitionFolder(this.#state.directory.definitionsFolder, context.durable);
    this.#reconciler = new Reconciler(this.#state);
    this.expiry = new FrameExpiry(this.#state, this.#reconciler);
    this.#lookup = new FrameLookup(this.#state, this.#reconciler, this.expiry);
    this.#verification = new Verification(this.#state);
    this.scrub = new FrameScrub(this.#state, this.#reconciler, this.#verification);
    this.#rewriter = new PartRewriter(this.#state, this.#reconciler, this.#verification);
    this.#scanner = new Scanner(this.#state, this.#reconciler);
    const locked = { state: this.#state, reconciler: this.#reconciler };
    const quota = new Quota(this.#state, this.#scanner);
    this.#parts = { ...locked, quota, appender: new FrameAppender(locked, quota) };
    this.#writer = new FrameWriter(this.#parts);
    this.#chunks = chunks;
    this.#scanner.start();
  }

  get directory(): TenantDirectory {
    return this.#state.directory;
  }

  /** Resolves when all frames are known. */
  get loaded(): Promise<void> {
    return this.#scanner.loaded;
  }

  async linksFolder(): Promise<string | undefined> {
    try {
      await this.directory.prepare();
      return this.directory.pinsFolder;
    } catch {
      return undefined;
    }
  }

  async put(request: PutRequest<Handle>, options: WriteOptions): Promise<PutResult> {
    const appended = await this.#writer.appendBatch(request, options);
    if (appended !== undefined) {
      const { version, rows: rowsPut, bytes: bytesPut, isRepeated } = appended;
      return { ...heldSummary(version), rowsPut, bytesPut, isRepeated, report: undefined };
    }
    const put = await this.#writing(options, (work) => this.#writer.put(request, work));
    const { version, rows: rowsPut, bytes: bytesPut, isRepeated, report } = put;
    return { ...heldSummary(version), rowsPut, bytesPut, isRepeated, report };
  }

  async change(request: ChangeRequest<Handle>, options: WriteOptions): Promise<ChangeResult> {
    const verify = (version: FrameVersion) => this.#verification.verifyOnce(version, this.#state.context.engine);
    const { version, rowsBefore } = await this.#writing(options, (work) =>
      changeFrame(this.#parts, verify, request, work),
    );
    return { ...heldSummary(version), rowsBefore };
  }

  /** The end of this waits for it. */
  async #writing<T>(
    { signal, lane, span, costs }: WriteOptions,
    write: (work: WriteOptions) => Promise<T>,
  ): Promise<T> {
    using either = new LinkedAbort([signal, this.#state.context.signal]);
    const writing = write({ signal: either.signal, lane, span, costs });
    this.#puts.add(writing);
    try {
      return await writing;
    } finally {
      this.#puts.delete(writing);
    }
  }

  async redefine(request: RedefineRequest<Handle>): Promise<HeldSummary> {
    return heldSummary(await redefineFrame(this.#parts, request));
  }

  async saveView(request: SaveView<Handle>, options: Signal): Promise<HeldSummary> {
    return heldSummary(await this.#writing(options, ({ signal }) => saveView(this.#parts, request, signal)));
  }

  definitions(): Promise<readonly Definition[]> {
    return this.#definitions.all();
  }

  define(definition: Definition, ifTaken: IfDefined): Promise<boolean> {
    return this.#definitions.save(definition, ifTaken);
  }

  undefine(definition: Pick<Definition, 'kind' | 'name'>): Promise<boolean> {
    return this.#definitions.remove(definition);
  }

  /** Moves rows from the log into Parquet. */
  async flush(handle: Handle): Promise<HeldSummary> {
    const { manifest } = await this.#lookup.version(handle, { signal: this.#state.context.signal });
    if (manifest.view !== undefined) throw isView(handle);
    return heldSummary(await this.#parts.appender.flusher.flush(handle));
  }

  async refusePut(request: Pick<PutRequest<Handle>, 'handle' | 'mode'>): Promise<void> {
    await this.#writer.refusePut(request);
  }

  /** Frames and bytes of the tenant. */
  async use(): Promise<FrameUse> {
    await this.#state.context.peers.refresh();
    await this.#scanner.loaded;
    return this.#state.catalog.use;
  }

  /** The use as far as known. */
  get known(): FrameUse {
    return this.#state.catalog.use;
  }

  get damaged(): number {
    return this.#state.catalog.damaged;
  }

  get backlog(): LogBacklog {
    return this.#parts.appender.flusher.backlog;
  }

  async temporaryFile(lane?: string, isForStatements = false): Promise<TemporaryFile> {
    const { context, directory } = this.#state;
    context.durable.assertWritable();
    await directory.prepare();
    const path = isForStatements ? directory.newPinPath() : directory.newTemporaryPath();
    const { counted, [Symbol.dispose]: settle } = await this.#parts.quota.arrival(lane);
    const remove = (): Promise<void> => rm(path, { force: true }).finally(settle);
    return { path, counted, [Symbol.asyncDispose]: remove };
  }

  async incomingFolder(): Promise<TemporaryPath> {
    const { context, directory } = this.#state;
    context.durable.assertWritable();
    await directory.prepare();
    const path = directory.newTemporaryPath('');
    await storage(() => mkdir(path));
    // A task that was stopped may still be writing into it; leftovers go at the next start.
    const remove = (): Promise<void> =>
      rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch((error: unknown) =>
        context.logger.debug('could not remove a folder of another engine', { error: String(error) }),
      );
    return { path, [Symbol.asyncDispose]: remove };
  }

  async open(handle: Handle, { signal, origin }: OpenOptions): Promise<FrameReader> {
    const { context } = this.#state;
    const { peers, lease } = context;
    for (let attempt = 0; ; attempt++) {
      await peers.refresh();
      const version = await this.#lookup.version(handle, { signal, origin });
      const { parts } = version;
      parts.acquire();
      try {
        if (!parts.isVerified) await abortable(this.#verification.verifyOnce(version, context.engine), signal);
        else if (peers.hasPeers || !this.#state.isCached(version)) {
          await abortable(parts.sources(), signal);
        }
        return new FrameReader(version, parts, this.#chunks, {
          now: context.now,
          hasLostPlace: () => lease.hasLostLease(),
        });
      } catch (error) {
        parts.release();
        if (await lease.hasLostLease()) throw leaseLost(error);
        if (!(error instanceof FileChanged)) throw error;
        if (attempt === mostReopens) throw whyNotHeld(handle, undefined);
        this.#state.catalog.suspect(handle);
        await this.#reconciler.reconcile(handle);
      }
    }
  }

  peek(handle: Handle): string | undefined {
    if (!this.#state.context.peers.isFresh) return undefined;
    const version = this.#lookup.current(handle);
    if (version === undefined || !version.parts.isVerified || version.manifest.view !== undefined) return undefined;
    version.touch(this.#state.context.now());
    return version.versionId;
  }

  appendColumns(handle: Handle): readonly Column[] | undefined {
    return this.#state.context.peers.isFresh ? this.#lookup.current(handle)?.manifest.columns : undefined;
  }

  async *list({ prefix = '', after = '' }: ListOptions = {}): AsyncGenerator<FrameSummary, void, void> {
    await this.#state.context.peers.refresh();
    await this.#scanner.loaded;
    const isListed = (handle: Handle): boolean => handle.startsWith(prefix) && handle > after;
    await this.#scanner.lookAtSuspects(isListed);
    let looked = 0;
    for (const handle of this.#state.catalog.listed(prefix, after)) {
      // Yields every 1,000 handles, even when most are skipped.
      if (++looked % handlesInTurn === 0) await nextTurn();
      const summary = this.#lookup.summary(handle);
      if (summary !== undefined) yield summary;
    }
  }

  async describe(handle: Handle, { signal, origin }: OpenOptions): Promise<FrameSummary> {
    await this.#state.context.peers.refresh();
    if (origin !== undefined) return heldSummary(await this.#lookup.version(handle, { signal, origin }));
    const isKnown = !this.#state.catalog.isSuspect(handle);
    const known = isKnown ? this.#lookup.summary(handle) : undefined;
    if (known?.state === 'held') return known;
    try {
      return heldSummary(await this.#lookup.find(handle, signal));
    } catch (error) {
      const summary = this.#lookup.summary(handle);
      if (summary === undefined) throw error;
      return summary;
    }
  }

  /** `wake` is called after changes of the handle, whatever its state. */
  async watch(handle: Handle, wake: () => void): Promise<Disposable> {
    const watch = this.#state.changes.watch(handle, wake);
    return {
      [Symbol.dispose]: () => {
        // Before, as it may have expired otherwise.
        this.#lookup.current(handle)?.touch(this.#state.context.now());
        watch[Symbol.dispose]();
      },
    };
  }

  /** Reports only later changes. */
  async watchAll(tell: (change: FrameChange<Handle>) => void, { signal }: Signal): Promise<Disposable> {
    await abortable(this.#scanner.loaded, signal);
    return this.#state.changes.watchAll(tell);
  }

  /** Gives the version that it dropped. */
  async drop(handle: Handle, { ifVersion }: { readonly ifVersion?: number | undefined } = {}): Promise<number> {
    const drop = async (): Promise<number> => {
      await this.#reconciler.reconcileLocked(handle);
      const entry = this.#state.catalog.get(handle);
      if (entry === undefined || entry.kind === 'gone') throw whyNotHeld(handle, entry);
      if (this.expiry.isDue(entry)) throw await this.expiry.expired(handle);
      const version = entry.kind === 'held' ? entry.version.number : entry.version;
      if (ifVersion !== undefined && ifVersion !== version) {
        throw new AppError('handle_gone', `version ${ifVersion} of ${handle} is gone: it is at version ${version}`);
      }
      await removeFrame(this.#state, handle, entry, 'dropped');
      return version;
    };
    return this.#state.change(handle, drop, { evenUnlocked: true });
  }

  /** Starts the time to live again, with another length if one is given; null lets the frame stay. */
  async renew(handle: Handle, ttlMs?: number | null): Promise<HeldSummary> {
    return this.#state.change(handle, async () => {
      const { catalog, commits, context, directory } = this.#state;
      await this.#reconciler.reconcileLocked(handle);
      const entry = catalog.get(handle);
      if (entry?.kind !== 'held') throw whyNotHeld(handle, entry);
      const { version } = entry;
      if (this.expiry.isDue(entry)) throw await this.expiry.expired(handle);
      if (version.manifest.view !== undefined) throw isView(handle);
      if (ttlMs !== undefined && ttlMs !== version.manifest.ttlMs) {
        context.durable.assertWritable();
        await directory.prepare();
        const manifest = { ...version.manifest, ttlMs };
        await commits.commit(manifest, commits.inPlace());
        version.manifest = manifest;
        catalog.set(handle, entry);
      }
      version.touch(context.now());
      await context.lease.announce(`read ${directory.tenant} ${handle}`);
      return heldSummary(version);
    });
  }

  /** Until everything is loaded, by the names on the disk. */
  async count(): Promise<number> {
    if (!this.#state.isLoaded) {
      const { files, folders } = await this.#state.directory.listPublic();
      return new Set([...files, ...folders]).size;
    }
    let count = 0;
    for (const [, entry] of this.#state.catalog.entries()) if (entry.kind === 'held') count++;
    return count;
  }

  /** Another process has announced a change of the frame. */
  changedElsewhere(handle: Handle): void {
    this.#state.catalog.suspect(handle);
    this.#scanner.lookSoon(handle);
  }

  /** Another process has announced a read of the frame. */
  readElsewhere(handle: Handle): void {
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind === 'held') entry.version.keepAlive(this.#state.context.now());
  }

  /** Merges and compresses parts that no other process will. */
  rewriteRemaining(): void {
    for (const [, entry] of this.#state.catalog.entries()) {
      if (entry.kind === 'held') this.#state.rewriteLater(entry.version.manifest);
    }
  }

  /** Other processes may have changed any frame. */
  suspectAll(): void {
    this.#state.catalog.suspectAll();
    this.#scanner.rescanSoon();
  }

  /** Gives whether there is more to do. */
  async rewrite(handle: Handle, options: MergeOptions, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#reconciler.reconcile(handle);
      return await this.#rewriter.rewrite(handle, options, signal);
    } catch (error) {
      if (!(error instanceof FileChanged)) throw error;
      await this.#reconciler.reconcile(handle);
      return false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scanner[Symbol.asyncDispose]();
    this.#reconciler.dispose();
    await Promise.allSettled(this.#puts);
    await this.#parts.appender[Symbol.asyncDispose]();
    await this.#state.locks.idle();
    await this.#state.partLinks[Symbol.asyncDispose]();
    await this.#state.directory.removeOwnFolders();
  }
}
