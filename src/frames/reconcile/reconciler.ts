import type { Handle } from '../../core/names/handle.ts';
import { isUnwritable, partsFound, type TenantState } from '../catalog/tenant-state.ts';
import type { Manifest } from '../disk/manifest.ts';
import type { HandleRecords } from '../disk/manifest-files.ts';
import { sameFiles } from '../disk/part.ts';
import type { Listing } from '../disk/tenant-directory.ts';
import { LogDamaged } from '../log/log-folder.ts';
import type { Tail } from '../log/tail.ts';
import {
  assessHandle,
  cutOffParts,
  dataOf,
  type HandleState,
  hasLeftovers,
  isAsKnown,
  isConsistent,
} from './assess-handle.ts';
import { OutsideFiles } from './outside-files.ts';
import { markDamaged, readTail } from './read-tail.ts';
import { repairHandle, tidy, tombstoneOf } from './repair-handle.ts';

/** Keeps the catalog true to the disk, handle by handle: after a start, a crash, or a change from outside. */
export class Reconciler {
  readonly #state: TenantState;
  readonly #outside: OutsideFiles;
  readonly #looks = new Set<Promise<void>>();

  constructor(state: TenantState) {
    this.#state = state;
    this.#outside = new OutsideFiles(state, (handle) => this.reconcile(handle));
  }

  /** Looks at the disk. For callers without the handle's lock. */
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
   * With other processes on the directory and a disk that cannot be written, nothing can be repaired, but the present state can
   * be reported. False if the process with the lock must decide.
   */
  async #adoptReadOnly(handle: Handle): Promise<boolean> {
    const { catalog, directory, records } = this.#state;
    const [look, found] = await Promise.all([directory.look(handle), records.read(handle)]);
    const finding = assessHandle(handle, look, found);
    if (finding.kind === 'outside' || (finding.kind === 'held' && finding.wasPending)) return false;
    const tail = finding.kind === 'held' ? await readTail(this.#state, finding.manifest) : undefined;
    await this.#applyToCatalog(handle, finding, tail);
    catalog.suspect(handle);
    return true;
  }

  /** Takes over the state of the disk without changing it. False if one process must repair it. */
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
      const tail = finding.kind === 'held' ? await readTail(this.#state, finding.manifest, listing) : undefined;
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

  /** Looks at the disk and repairs it. For callers that change the handle. */
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
    const isTidy = await tidy(this.#state, handle, () => commits.removeFiles(cutOff));
    const folder = look.folder.filter((file) => !cutOff.includes(file));
    const finding = assessHandle(handle, { ...look, folder }, found);
    // While they are there, the record stays that distinguishes them from parts of the frame.
    await this.#apply(handle, finding, isTidy ? found : { ...found, pending: undefined });
  }

  /** Resolves when the running looks have ended. */
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
    this.#outside[Symbol.dispose]();
  }

  async #apply(handle: Handle, finding: HandleState, found: HandleRecords, listing?: Listing): Promise<void> {
    await repairHandle(this.#state, handle, finding, found, listing);
    const tail = finding.kind === 'held' ? await readTail(this.#state, finding.manifest, listing) : undefined;
    await this.#applyToCatalog(handle, finding, tail);
  }

  /** In the catalog. */
  async #applyToCatalog(handle: Handle, finding: HandleState, tail?: Tail | LogDamaged): Promise<void> {
    switch (finding.kind) {
      case 'held': {
        const { manifest } = finding;
        if (tail instanceof LogDamaged) return markDamaged(this.#state, manifest, tail);
        if (tail !== undefined && (await this.#isHeld(manifest, tail))) return;
        if (finding.ignoredFolder) this.#warnOfFolder(handle);
        await this.#state.hold(manifest, partsFound(manifest), tail);
        // Otherwise the process that wrote it does that.
        if (!this.#state.context.peers.hasPeers) this.#state.rewriteLater(manifest);
        return;
      }
      case 'outside':
        if (finding.ignoredFolder) this.#warnOfFolder(handle);
        return this.#outside.settle(handle, finding);
      case 'half-dropped':
      case 'gone':
        return this.#state.setEntry(handle, { kind: 'gone', tombstone: finding.tombstone });
      case 'removed':
        return this.#state.setEntry(handle, {
          kind: 'gone',
          tombstone: tombstoneOf(this.#state, handle, finding.version),
        });
      case 'absent':
        return this.#state.setEntry(handle, undefined);
      default:
        finding satisfies never;
    }
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

  #warnOfFolder(handle: Handle): void {
    this.#state.context.logger.warn('a file and a folder have the same handle; the folder is ignored', { handle });
  }
}
