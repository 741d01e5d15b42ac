import { newChecksumLike } from '../../core/checksum.ts';
import type { Handle } from '../../core/handle.ts';
import { errnoOf } from '../../core/storage-error.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { type Part, sameIdentity } from '../disk/part.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import type { UncachedReader } from './uncached-reader.ts';
import { differs, unreadable, type Verification } from './verification.ts';

export interface ScrubTurn {
  readonly reader: UncachedReader;
  /** Resolves when the next block may be read. */
  readonly beforeBlock: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Reads again what the frames of one tenant are made of. Nothing is locked or linked: what changes meanwhile is left. */
export class FrameScrub {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #verification: Verification;

  constructor(state: TenantState, reconciler: Reconciler, verification: Verification) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#verification = verification;
  }

  /** Gives whether all frames were sound. The catalog is walked as it is: no list of it is made. */
  async run(turn: ScrubTurn): Promise<boolean> {
    const { catalog } = this.#state;
    // Those that come meanwhile are behind them, and left to the next pass.
    let left = catalog.size;
    for (const [handle] of catalog.entries()) {
      if (left-- === 0) break;
      turn.signal.throwIfAborted();
      await this.#frame(handle, turn);
    }
    return catalog.damaged === 0;
  }

  async #frame(handle: Handle, turn: ScrubTurn): Promise<void> {
    const { directory, catalog } = this.#state;
    const entry = catalog.get(handle);
    if (entry?.kind !== 'held') return;
    for (const part of entry.version.manifest.parts) {
      const path = directory.path(part.file);
      // What the disk got wrong once it may get right the next time.
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
