import type { Handle } from '../../core/names/handle.ts';
import { totalBytes } from '../disk/manifest.ts';
import type { FileIdentity } from '../disk/part.ts';
import type { Tombstone } from '../disk/tombstone.ts';
import type { FrameVersion } from './frame-version.ts';
import { SortedHandles } from './sorted-handles.ts';

/** Data from outside that may still be incomplete. */
export interface Settling {
  readonly kind: 'settling';
  readonly files: readonly FileIdentity[];
  /** On the monotonic clock. */
  readonly firstSeenMs: number;
  readonly version: number;
  /** It takes the place of a frame that was held. */
  readonly replacesHeld: boolean;
  reason: string | undefined;
  attempts: number;
}

export interface Damaged {
  readonly kind: 'damaged';
  readonly files: readonly FileIdentity[];
  readonly version: number;
  readonly reason: string;
}

/** The state of a handle, as far as the server knows. */
export type Entry =
  | { readonly kind: 'held'; readonly version: FrameVersion }
  | Damaged
  | Settling
  | { readonly kind: 'gone'; readonly tombstone: Tombstone };

/** Called on each change of an entry, before the old one is forgotten. */
type OnEntry = (handle: Handle, before: Entry | undefined, after: Entry | undefined) => void;

/** Rows that are not in Parquet yet. */
export interface TailAge {
  /** On the monotonic clock. */
  readonly since: number;
  readonly version: FrameVersion;
}

/** The handles of one tenant. */
export class Catalog {
  readonly #onEntry: OnEntry;
  readonly #entries = new Map<Handle, Entry>();
  readonly #sorted = new SortedHandles(() => this.#entries.keys());
  readonly #expiring = new Set<Handle>();
  readonly #suspects = new Set<Handle>();
  /** Frames that have something in their logs, the oldest first. */
  readonly #tails = new Map<Handle, TailAge>();
  /** Bytes of the files of each handle, from the time when its entry was set. */
  readonly #bytes = new Map<Handle, number>();
  #totalBytes = 0;
  /** Entries that are damaged. */
  damaged = 0;

  constructor(onEntry: OnEntry = () => {}) {
    this.#onEntry = onEntry;
  }

  get(handle: Handle): Entry | undefined {
    return this.#entries.get(handle);
  }

  /** Number of entries, also of handles that are gone. */
  get size(): number {
    return this.#entries.size;
  }

  /** Frames and bytes of all entries. */
  get use(): { readonly frames: number; readonly bytes: number } {
    return { frames: this.#bytes.size, bytes: this.#totalBytes };
  }

  /** Undefined where nothing is held. */
  bytesOf(handle: Handle): number | undefined {
    return this.#bytes.get(handle);
  }

  /** Also called if the files of an existing entry have changed. */
  set(handle: Handle, entry: Entry): void {
    this.#count(handle, bytesOf(entry));
    this.#countDamaged(handle, entry);
    this.#onEntry(handle, this.#entries.get(handle), entry);
    if (!this.#entries.has(handle)) this.#sorted.add(handle);
    this.#entries.set(handle, entry);
    this.#expiring.delete(handle);
    if (entry.kind === 'held' && entry.version.manifest.ttlMs !== null) this.#expiring.add(handle);
    this.#noteTail(handle, entry);
  }

  delete(handle: Handle): void {
    this.#count(handle, undefined);
    this.#countDamaged(handle, undefined);
    this.#onEntry(handle, this.#entries.get(handle), undefined);
    this.#entries.delete(handle);
    this.#sorted.delete(handle);
    this.#expiring.delete(handle);
    this.#tails.delete(handle);
  }

  tails(): IterableIterator<[Handle, TailAge]> {
    return this.#tails.entries();
  }

  /** Another process changed the handle, or may have: its entry must be checked. */
  suspect(handle: Handle): void {
    this.#suspects.add(handle);
  }

  suspectAll(): void {
    for (const handle of this.#entries.keys()) this.#suspects.add(handle);
  }

  suspects(): Handle[] {
    return [...this.#suspects];
  }

  isSuspect(handle: Handle): boolean {
    return this.#suspects.has(handle);
  }

  /** Called before the look at the disk, so that later suspicion is not lost. True if there was any. */
  clearSuspicion(handle: Handle): boolean {
    return this.#suspects.delete(handle);
  }

  handles(): Handle[] {
    return [...this.#entries.keys()];
  }

  /** In order: handles behind `after` with the prefix. */
  listed(prefix: string, after: string): Handle[] {
    return this.#sorted.listed(prefix, after);
  }

  entries(): IterableIterator<[Handle, Entry]> {
    return this.#entries.entries();
  }

  /** Handles whose frames have a time to live. */
  expiring(): Handle[] {
    return [...this.#expiring];
  }

  /** The version that a call for the handle will make. */
  nextVersion(handle: Handle): number {
    const entry = this.#entries.get(handle);
    if (entry === undefined) return 1;
    switch (entry.kind) {
      case 'held':
        return entry.version.number + 1;
      case 'gone':
        return entry.tombstone.version + 1;
      case 'damaged':
        return entry.version + 1;
      case 'settling':
        return entry.version;
      default:
        return entry satisfies never;
    }
  }

  #noteTail(handle: Handle, entry: Entry): void {
    const version = entry.kind === 'held' ? entry.version : undefined;
    if (version === undefined || (version.tail.rows === 0 && version.tail.files.length === 0)) {
      this.#tails.delete(handle);
      return;
    }
    const known = this.#tails.get(handle);
    const isOlder = known?.version.storedRows === version.storedRows;
    if (!isOlder) this.#tails.delete(handle);
    this.#tails.set(handle, { since: isOlder ? known.since : performance.now(), version });
  }

  #countDamaged(handle: Handle, entry: Entry | undefined): void {
    if (this.#entries.get(handle)?.kind === 'damaged') this.damaged--;
    if (entry?.kind === 'damaged') this.damaged++;
  }

  #count(handle: Handle, bytes: number | undefined): void {
    this.#totalBytes += (bytes ?? 0) - (this.#bytes.get(handle) ?? 0);
    if (bytes === undefined) this.#bytes.delete(handle);
    else this.#bytes.set(handle, bytes);
  }
}

function bytesOf(entry: Entry): number | undefined {
  if (entry.kind === 'gone') return undefined;
  return entry.kind === 'held' ? entry.version.bytes : totalBytes(entry.files);
}
