import type { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Entry } from '../catalog/catalog.ts';
import { handleGone } from '../catalog/frame-errors.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { removeFrame } from '../write/remove-frame.ts';

/** The end of a tenant's frames by the clock, and later that of their tombstones. */
export class FrameExpiry {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;

  constructor(state: TenantState, reconciler: Reconciler) {
    this.#state = state;
    this.#reconciler = reconciler;
  }

  isDue(entry: Entry | undefined): boolean {
    return entry?.kind === 'held' && entry.version.isExpired(this.#state.context.now());
  }

  /** Whether its tombstone is so old that requests no longer mention it. */
  isForgotten(entry: Entry | undefined): boolean {
    const { tombstoneTtlMs, now } = this.#state.context;
    return entry?.kind === 'gone' && entry.tombstone.at + tombstoneTtlMs <= now();
  }

  /** Drops expired frames. */
  async expire(): Promise<void> {
    const { catalog, context } = this.#state;
    for (const handle of catalog.expiring()) {
      const entry = catalog.get(handle);
      if (this.isDue(entry)) await this.#state.change(handle, () => this.#dropDue(handle), { evenUnlocked: true });
      // A long read keeps a frame alive; others do not see it.
      else if (entry?.kind === 'held' && entry.version.isInUse) entry.version.touch(context.now());
    }
  }

  async forgetOldTombstones(): Promise<void> {
    const { catalog, records } = this.#state;
    for (const [handle, entry] of [...catalog.entries()]) {
      if (!this.isForgotten(entry)) continue;
      await this.#state.change(handle, async () => {
        await this.#reconciler.reconcileLocked(handle);
        if (!this.isForgotten(catalog.get(handle))) return;
        await records.dropTombstone(handle);
        catalog.delete(handle);
      });
    }
  }

  /** A handle that a caller was told is gone must stay gone after a restart. The handle's lock is held. */
  async expired(handle: Handle): Promise<AppError> {
    try {
      await this.#dropDue(handle);
    } catch (error) {
      this.#state.context.logger.debug('could not drop what has expired', { handle, error: String(error) });
    }
    return handleGone(handle, 'expired');
  }

  /** The handle's lock is held. */
  async #dropDue(handle: Handle): Promise<void> {
    await this.#reconciler.reconcileLocked(handle);
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind === 'held' && this.isDue(entry)) await removeFrame(this.#state, handle, entry, 'expired');
  }
}
