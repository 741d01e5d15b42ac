import type { Handle } from '../../core/handle.ts';
import type { FileIdentity } from '../disk/part.ts';
import type { Tombstone } from '../disk/tombstone.ts';
import type { FrameVersion } from './frame-version.ts';

/** Data from outside that may still be on its way. */
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

/** What a handle is, as far as the server knows. */
export type Entry =
  | { readonly kind: 'held'; readonly version: FrameVersion }
  | Damaged
  | Settling
  | { readonly kind: 'gone'; readonly tombstone: Tombstone };

/** The handles of one tenant. */
export class Catalog {
  readonly #entries = new Map<Handle, Entry>();
  readonly #expiring = new Set<Handle>();
  readonly #suspects = new Set<Handle>();

  get(handle: Handle): Entry | undefined {
    return this.#entries.get(handle);
  }

  set(handle: Handle, entry: Entry): void {
    this.#entries.set(handle, entry);
    this.#expiring.delete(handle);
    if (entry.kind === 'held' && entry.version.manifest.ttlMs !== null) this.#expiring.add(handle);
  }

  delete(handle: Handle): void {
    this.#entries.delete(handle);
    this.#expiring.delete(handle);
  }

  /** Another process changed the handle, or may have: what is known of it holds no more. */
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

  /** Before the disk is looked at, so that what is heard meanwhile is not lost. Gives whether there was any. */
  clearSuspicion(handle: Handle): boolean {
    return this.#suspects.delete(handle);
  }

  handles(): Handle[] {
    return [...this.#entries.keys()];
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
        return entry.version.manifest.version + 1;
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
}
