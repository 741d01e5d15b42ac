import { isTransient } from '../../core/app-error.ts';
import type { Handle } from '../../core/handle.ts';
import { errnoOf } from '../../core/storage-error.ts';
import type { Settling } from '../catalog/catalog.ts';
import { isUnwritable, partsFound, type TenantState } from '../catalog/tenant-state.ts';
import { lineageOf, type Manifest, newVersionId, originOf, rowsOf } from '../disk/manifest.ts';
import type { HandleRecords } from '../disk/manifest-files.ts';
import { type FileIdentity, type Part, sameFiles } from '../disk/part.ts';
import { FileChanged } from '../disk/part-links.ts';
import type { Listing } from '../disk/tenant-directory.ts';
import type { Tombstone } from '../disk/tombstone.ts';
import { LogDamaged } from '../log/log-folder.ts';
import { Tail } from '../log/tail.ts';
import { FileAdopter, Unreadable } from './adopt-files.ts';
import {
  assessHandle,
  cutOffParts,
  dataOf,
  type HandleState,
  hasLeftovers,
  isAsKnown,
  isConsistent,
} from './assess-handle.ts';

type Outside = Extract<HandleState, { kind: 'outside' }>;

/** A file is taken for complete when it was the same this long, or when it was last written long ago. */
const restMs = 200;
const oldMs = 1000;
/** An unreadable one is taken for damaged, rather than for half copied, after this long. */
const damagedRestMs = 2000;
const damagedOldMs = 3000;
const pauseMs = 500;
const mostAttempts = 3;

/** Keeps the catalog true to the disk, handle by handle: after a start, a crash, or a change from outside. */
export class Reconciler {
  readonly #state: TenantState;
  readonly #adoption: FileAdopter;
  readonly #timers = new Map<Handle, NodeJS.Timeout>();
  readonly #looks = new Set<Promise<void>>();

  constructor(state: TenantState) {
    this.#state = state;
    this.#adoption = new FileAdopter(state.context.engine, state.directory);
  }

  /** Looks at the disk. For those who do not hold the handle's lock. */
  reconcile(handle: Handle, listing?: Listing): Promise<void> {
    return this.#during(this.#reconcile(handle, listing));
  }

  async #reconcile(handle: Handle, listing?: Listing): Promise<void> {
    await this.#state.locks.run(handle, async () => {
      if (await this.#follow(handle, listing)) return;
      try {
        await this.#state.changeHeld(handle, () => this.reconcileLocked(handle, listing), {
          evenUnlocked: true,
          tells: false,
        });
      } catch (error) {
        if (!isUnwritable(error) || !(await this.#adoptReadOnly(handle))) throw error;
      }
    });
  }

  /**
   * Where other processes are there and the disk cannot be written, nothing can be put in order; but what is there can be
   * told. False where that is for the process to decide that holds the lock.
   */
  async #adoptReadOnly(handle: Handle): Promise<boolean> {
    const { catalog, directory, records } = this.#state;
    const [look, found] = await Promise.all([directory.look(handle), records.read(handle)]);
    const finding = assessHandle(handle, look, found);
    if (finding.kind === 'outside' || (finding.kind === 'held' && finding.wasPending)) return false;
    const tail = finding.kind === 'held' ? await this.#readTail(finding.manifest) : undefined;
    await this.#applyToCatalog(handle, finding, tail);
    catalog.suspect(handle);
    return true;
  }

  /** Takes over what the disk says, changing nothing there. False when something is to be put in order, by one process. */
  async #follow(handle: Handle, listing?: Listing): Promise<boolean> {
    const { catalog, directory, records, isLoaded } = this.#state;
    const isSuspect = catalog.clearSuspicion(handle);
    try {
      const look = await directory.look(handle, listing);
      const entry = catalog.get(handle);
      if (!isSuspect) {
        if (isAsKnown(handle, entry, look) && !hasLeftovers(handle, entry, look)) return true;
        if (entry === undefined && isLoaded && dataOf(look).length === 0) return true;
      }
      const found = await records.read(handle, listing);
      const finding = assessHandle(handle, look, found);
      const hasStrayLog = finding.kind !== 'held' && listing?.logs.has(handle);
      if (!isConsistent(finding, found) || listing?.pending.has(handle) || hasStrayLog) {
        if (isSuspect) catalog.suspect(handle);
        return false;
      }
      const tail = finding.kind === 'held' ? await this.#readTail(finding.manifest, listing) : undefined;
      if (finding.kind === 'held' && !(await this.#isStill(finding.manifest))) {
        if (isSuspect) catalog.suspect(handle);
        return false;
      }
      await this.#applyToCatalog(handle, finding, tail);
      return true;
    } catch (error) {
      if (isSuspect) catalog.suspect(handle);
      throw error;
    }
  }

  /** Whether no other process has brought rows from the log into Parquet while both were read. */
  async #isStill({ handle, versionId, parts }: Manifest): Promise<boolean> {
    const { context, records } = this.#state;
    if (!context.peers.hasPeers) return true;
    const { manifest } = await records.read(handle);
    return manifest?.versionId === versionId && sameFiles(manifest.parts, parts);
  }

  /** Whether the disk is as the catalog says, without a lock. */
  async isAsKnown(handle: Handle): Promise<boolean> {
    return isAsKnown(handle, this.#state.catalog.get(handle), await this.#state.directory.look(handle));
  }

  /** Looks at the disk and puts it in order. For those who change the handle. */
  reconcileLocked(handle: Handle, listing?: Listing): Promise<void> {
    return this.#during(this.#reconcileLocked(handle, listing));
  }

  async #reconcileLocked(handle: Handle, listing?: Listing): Promise<void> {
    const { catalog, commits, directory, records } = this.#state;
    catalog.clearSuspicion(handle);
    const [look, found] = await Promise.all([directory.look(handle, listing), records.read(handle, listing)]);
    if (catalog.get(handle)?.kind === 'damaged' && isAsKnown(handle, catalog.get(handle), look)) return;
    const cutOff = cutOffParts(handle, look, found);
    if (cutOff.length === 0) return this.#apply(handle, assessHandle(handle, look, found), found, listing);
    const isTidy = await this.#tidy(handle, () => commits.removeFiles(cutOff));
    const folder = look.folder.filter((file) => !cutOff.includes(file));
    const finding = assessHandle(handle, { ...look, folder }, found);
    // As long as they are there, the record stays that tells them from parts of the frame.
    await this.#apply(handle, finding, isTidy ? found : { ...found, pending: undefined });
  }

  /** Resolves when the looks that are under way now have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#looks);
  }

  #during(look: Promise<void>): Promise<void> {
    this.#looks.add(look);
    const end = (): unknown => this.#looks.delete(look);
    look.then(end, end);
    return look;
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  async #apply(handle: Handle, finding: HandleState, found: HandleRecords, listing?: Listing): Promise<void> {
    await this.#repair(handle, finding, found, listing);
    const tail = finding.kind === 'held' ? await this.#readTail(finding.manifest, listing) : undefined;
    await this.#applyToCatalog(handle, finding, tail);
  }

  /** On the disk. */
  async #repair(handle: Handle, finding: HandleState, found: HandleRecords, listing?: Listing): Promise<void> {
    const { records, commits } = this.#state;
    switch (finding.kind) {
      case 'held':
        await this.#tidy(handle, async () => {
          if (finding.wasPending) {
            await commits.finish(handle);
            await this.#state.announceChange(handle);
          } else if (finding.leftovers.length > 0 || found.tombstone !== undefined) {
            // The commit that left them may have failed to make its manifest durable.
            await records.syncManifests();
          }
          if (!finding.wasPending && (found.pending !== undefined || listing?.pending.has(handle))) {
            await records.dropAnyPending(handle);
          }
          await commits.removeFiles(finding.leftovers);
          if (found.tombstone !== undefined) await records.dropTombstone(handle);
        });
        return;
      case 'half-dropped':
        await this.#tidy(handle, async () => {
          await commits.removeFiles(finding.files);
          await records.dropManifest(handle);
          await this.#state.logs.removeAll(handle);
          await this.#state.announceChange(handle);
        });
        return;
      case 'gone':
        if (found.manifest !== undefined || found.pending !== undefined || listing !== undefined) {
          await this.#tidy(handle, async () => {
            await records.dropManifest(handle);
            await this.#state.logs.removeAll(handle);
          });
        }
        return;
      case 'removed':
        await this.#tidy(handle, async () => {
          await records.writeTombstone(this.#tombstoneOf(handle, finding.version));
          await records.dropManifest(handle);
          await this.#state.logs.removeAll(handle);
          await this.#state.announceChange(handle);
        });
        return;
      case 'absent':
        if (listing?.pending.has(handle) || listing?.manifests.has(handle) || listing?.logs.has(handle)) {
          await this.#tidy(handle, async () => {
            await records.dropManifest(handle);
            await this.#state.logs.removeAll(handle);
          });
        }
        return;
      case 'outside':
        return;
      default:
        finding satisfies never;
    }
  }

  /** In the catalog. */
  async #applyToCatalog(handle: Handle, finding: HandleState, tail?: Tail | LogDamaged): Promise<void> {
    switch (finding.kind) {
      case 'held': {
        const { manifest } = finding;
        if (tail instanceof LogDamaged) return this.#markDamaged(manifest, tail);
        if (tail !== undefined && (await this.#isHeld(manifest, tail))) return;
        if (finding.ignoredFolder) this.#warnOfFolder(handle);
        await this.#state.hold(manifest, partsFound(manifest), tail);
        // Else it is done by the process that wrote it.
        if (!this.#state.context.peers.hasPeers) this.#state.rewriteLater(manifest);
        return;
      }
      case 'outside':
        if (finding.ignoredFolder) this.#warnOfFolder(handle);
        return this.#settle(handle, finding);
      case 'half-dropped':
      case 'gone':
        return this.#state.setEntry(handle, { kind: 'gone', tombstone: finding.tombstone });
      case 'removed':
        return this.#state.setEntry(handle, { kind: 'gone', tombstone: this.#tombstoneOf(handle, finding.version) });
      case 'absent':
        return this.#state.setEntry(handle, undefined);
      default:
        finding satisfies never;
    }
  }

  /** Of a frame whose files somebody took away. */
  #tombstoneOf(handle: Handle, version: number): Tombstone {
    return { handle, version, reason: 'removed', at: this.#state.context.now() };
  }

  /** What is in its log. */
  async #readTail(manifest: Manifest, listing?: Listing): Promise<Tail | LogDamaged> {
    const { catalog, logs } = this.#state;
    const { handle, parts } = manifest;
    const entry = catalog.get(handle);
    if (entry === undefined && listing?.logs.has(handle) === false) return Tail.empty(rowsOf(parts));
    const isOfLineage = entry?.kind === 'held' && lineageOf(entry.version.manifest) === lineageOf(manifest);
    try {
      return await logs.read(manifest, isOfLineage ? entry.version.tail : undefined);
    } catch (error) {
      if (error instanceof LogDamaged) return error;
      throw error;
    }
  }

  /** Without its log the frame lacks rows. */
  async #markDamaged({ handle, parts: files, version }: Manifest, { message }: LogDamaged): Promise<void> {
    this.#state.context.logger.error('a frame is damaged', { handle, version, reason: message });
    await this.#state.setEntry(handle, { kind: 'damaged', files, version, reason: 'its log is not readable' });
  }

  /** Whether it is the version that is held, perhaps in other files, with another time to live, more rows or later producers by now. */
  async #isHeld(manifest: Manifest, tail: Tail): Promise<boolean> {
    const entry = this.#state.catalog.get(manifest.handle);
    if (entry?.kind !== 'held' || entry.version.manifest.versionId !== manifest.versionId) return false;
    const { parts, ttlMs, version } = entry.version.manifest;
    if (!sameFiles(parts, manifest.parts) || ttlMs !== manifest.ttlMs || version !== manifest.version)
      await this.#state.adoptManifest(entry.version, manifest);
    if (tail !== entry.version.tail) await this.#state.grow(entry.version, tail);
    return true;
  }

  async #settle(handle: Handle, finding: Outside): Promise<void> {
    const before = this.#state.catalog.get(handle);
    let settling: Settling;
    if (before?.kind === 'settling' && sameFiles(before.files, finding.files)) {
      settling = before;
    } else {
      settling = {
        kind: 'settling',
        files: finding.files,
        firstSeenMs: performance.now(),
        version: finding.version,
        replacesHeld: before?.kind === 'held' || (before?.kind === 'settling' && before.replacesHeld),
        reason: undefined,
        attempts: 0,
      };
      await this.#state.setEntry(handle, settling);
    }
    const seenMs = performance.now() - settling.firstSeenMs;
    const ageMs = Date.now() - lastWriteMs(finding.files);
    if (seenMs < restMs && ageMs < oldMs) return this.#lookAgain(handle, restMs - seenMs);
    // What a process that has just died was in the middle of is no file from outside.
    if (this.#state.context.peers.isUncertain) return this.#lookAgain(handle, pauseMs);
    if (finding.previous === undefined && (await this.#mayLackRows(handle))) {
      const { files, version } = finding;
      const reason = 'its manifest is not readable, and rows of it may be in its log';
      this.#state.context.logger.error('a frame is damaged', { handle, reason });
      return this.#state.setEntry(handle, { kind: 'damaged', files, version, reason });
    }
    if (settling.reason === undefined) {
      const held = await this.#adopt(handle, finding, settling);
      if (held || settling.reason === undefined) return;
    }
    if (seenMs < damagedRestMs && ageMs < damagedOldMs) return this.#lookAgain(handle, damagedRestMs - seenMs);
    const { files, version, reason } = settling;
    this.#state.context.logger.warn('a frame from outside is unreadable', { handle, reason });
    await this.#state.setEntry(handle, { kind: 'damaged', files, version, reason });
  }

  /** Only its manifest, which is damaged, can say whether the rows of its log are rows of the frame. */
  async #mayLackRows(handle: Handle): Promise<boolean> {
    const { logs, records } = this.#state;
    return (await logs.list(handle)).length > 0 && (await records.isManifestDamaged(handle));
  }

  /** True when the frame is held now. When not, a reason was noted or another look is due. */
  async #adopt(handle: Handle, finding: Outside, settling: Settling): Promise<boolean> {
    const { context, records } = this.#state;
    try {
      const { columns, parts } = await context.adoptions.run(() =>
        this.#adoption.adopt(finding.files, finding.known, context.signal),
      );
      const isRestored = finding.previous !== undefined && sameContent(finding.previous.parts, parts);
      const manifest: Manifest = {
        handle,
        version: finding.version,
        versionId: newVersionId(),
        ...(finding.previous !== undefined && { origin: originOf(finding.previous) }),
        createdAt: context.now(),
        ttlMs: null,
        ...(isRestored && finding.previous),
        columns,
        parts,
        replaces: [],
      };
      await this.#tidy(handle, async () => {
        await this.#state.directory.prepare();
        await records.writeAdopted(manifest);
        await this.#state.announceChange(handle);
      });
      const tail = await this.#readTail(manifest);
      if (tail instanceof LogDamaged) await this.#markDamaged(manifest, tail);
      else await this.#state.hold(manifest, partsFound(manifest), tail);
      this.#state.rewriteLater(manifest);
      const what = isRestored ? 'a frame was moved or restored' : 'a frame from outside is held';
      context.logger.info(what, { handle, version: manifest.version });
      return true;
    } catch (error) {
      if (error instanceof Unreadable) settling.reason = error.message;
      else if (error instanceof FileChanged || errnoOf(error) === 'ENOENT') this.#lookAgain(handle, restMs);
      else if (context.signal.aborted) return false;
      else if (isTransient(error) && (++settling.attempts < mostAttempts || isBusy(error))) {
        this.#lookAgain(handle, pauseMs);
      } else {
        settling.reason = 'reading it failed';
        context.logger.warn('a frame from outside could not be read', { handle, error: String(error) });
      }
      return false;
    }
  }

  #lookAgain(handle: Handle, inMs: number): void {
    clearTimeout(this.#timers.get(handle));
    const timer = setTimeout(() => {
      this.#timers.delete(handle);
      this.reconcile(handle).catch((error) => {
        this.#state.context.logger.warn('could not look at a frame', { handle, error: String(error) });
      });
    }, inMs + 10);
    this.#timers.set(handle, timer.unref());
  }

  /**
   * Housekeeping that a later look can do as well: a read-only disk must not stand in the way of reading. After a failed
   * fsync the next start does it.
   */
  async #tidy(handle: Handle, task: () => Promise<void>): Promise<boolean> {
    try {
      this.#state.context.durable.assertWritable();
      await task();
      return true;
    } catch (error) {
      this.#state.context.logger.debug('could not tidy up', { handle, error: String(error) });
      return false;
    }
  }

  #warnOfFolder(handle: Handle): void {
    this.#state.context.logger.warn('a file and a folder have the same handle; the folder is ignored', { handle });
  }
}

/** The same bytes under the same names, by their checksums. */
function sameContent(before: readonly Part[], now: readonly Part[]): boolean {
  return (
    before.length === now.length &&
    before.every(
      ({ file, checksum }, at) => checksum !== null && now[at]?.file === file && now[at]?.checksum === checksum,
    )
  );
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'overloaded';
}

function lastWriteMs(files: readonly FileIdentity[]): number {
  return Math.max(...files.map((file) => Number(BigInt(file.mtimeNs) / 1_000_000n)));
}
