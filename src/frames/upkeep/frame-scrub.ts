import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import { newChecksumLike } from '../../core/rows/checksum.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { type Part, sameIdentity } from '../disk/part.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import type { UncachedReader } from './uncached-reader.ts';
import { differs, unreadable, type Verification } from './verification.ts';

export interface ScrubTurn {
  readonly reader: UncachedReader;
  /** Resolves when the next block may be read. */
  readonly beforeBlock: () => Promise<void>;
  /** A frame could not be read; the others are. */
  readonly onFailure: (handle: Handle, error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Reads the files of one tenant's frames again. Nothing is locked or linked: files that change meanwhile are skipped. */
export class FrameScrub {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #verification: Verification;

  constructor(state: TenantState, reconciler: Reconciler, verification: Verification) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#verification = verification;
  }

  /** Returns whether all frames were sound. The catalog itself is walked: no list of it is made. */
  async run(turn: ScrubTurn): Promise<boolean> {
    const { catalog } = this.#state;
    // Later frames are behind them, and left to the next pass.
    let left = catalog.size;
    for (const [handle] of catalog.entries()) {
      if (left-- === 0) break;
      turn.signal.throwIfAborted();
      try {
        await this.#frame(handle, turn);
      } catch (error) {
        turn.signal.throwIfAborted();
        turn.onFailure(handle, error);
      }
    }
    return catalog.damaged === 0;
  }

  async #frame(handle: Handle, turn: ScrubTurn): Promise<void> {
    const { directory, catalog } = this.#state;
    const entry = catalog.get(handle);
    if (entry?.kind !== 'held') return;
    for (const part of entry.version.manifest.parts) {
      const path = directory.path(part.file);
      // A second read tells a passing fault of the disk from a lasting one.
      const fault = (await faultOf(part, path, turn)) && (await faultOf(part, path, turn));
      if (fault === 'changed') return this.#reconciler.reconcile(handle);
      if (fault !== undefined) return this.#verification.noteFault(handle, part, fault);
    }
  }
}

/** `changed`: it is another file by now. */
async function faultOf(
  part: Part,
  path: string,
  { reader, beforeBlock, signal }: ScrubTurn,
): Promise<string | undefined> {
  const sum = part.checksum === null ? undefined : newChecksumLike(part.checksum);
  try {
    const found = await reader.read(path, (bytes) => sum?.update(bytes), beforeBlock);
    if (found === undefined || !sameIdentity(found, part)) return 'changed';
    return sum === undefined || sum.digest() === part.checksum ? undefined : differs;
  } catch (error) {
    signal.throwIfAborted();
    if (errnoOf(error) === 'EIO') return unreadable;
    throw error;
  }
}
