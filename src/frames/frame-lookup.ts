import { abortable, sleep } from '@framehold/async';
import { AppError } from '../core/errors/app-error.ts';
import type { Handle } from '../core/names/handle.ts';
import { handleNotFound, whyNotHeld } from './catalog/frame-errors.ts';
import { type FrameSummary, frameSummary } from './catalog/frame-summary.ts';
import type { FrameVersion } from './catalog/frame-version.ts';
import type { TenantState } from './catalog/tenant-state.ts';
import { originOf } from './disk/manifest.ts';
import type { OpenOptions } from './frames.ts';
import type { Reconciler } from './reconcile/reconciler.ts';
import type { FrameExpiry } from './upkeep/frame-expiry.ts';

/** Time for a second look at a file that has just appeared. */
const secondLookMs = 230;

/** Finds the version of a handle: in the catalog, or on the disk. */
export class FrameLookup {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #expiry: FrameExpiry;

  constructor(state: TenantState, reconciler: Reconciler, expiry: FrameExpiry) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#expiry = expiry;
  }

  /** Without a look at the disk. */
  current(handle: Handle): FrameVersion | undefined {
    if (this.#state.catalog.isSuspect(handle)) return undefined;
    const entry = this.#state.catalog.get(handle);
    return entry?.kind === 'held' && !this.#expiry.isDue(entry) ? entry.version : undefined;
  }

  /** The version to read now. */
  async version(handle: Handle, { signal, origin }: OpenOptions): Promise<FrameVersion> {
    if (origin === undefined) return this.current(handle) ?? (await this.find(handle, signal));
    try {
      const version = this.current(handle) ?? (await this.find(handle, signal));
      if (originOf(version.manifest) === origin) return version;
    } catch (error) {
      // Neither a damaged frame nor a tombstone has a known origin.
      if (!(error instanceof AppError && ['handle_gone', 'frame_damaged'].includes(error.code))) throw error;
    }
    throw handleNotFound(handle);
  }

  /** Looks at the disk, so that the first request finds a file which has just been moved in. */
  async find(handle: Handle, signal: AbortSignal): Promise<FrameVersion> {
    const { catalog } = this.#state;
    for (let look = 1; ; look++) {
      await abortable(this.#reconciler.reconcile(handle), signal);
      const entry = catalog.get(handle);
      if (entry?.kind === 'held') {
        if (!this.#expiry.isDue(entry)) return entry.version;
        throw await this.#state.change(handle, () => this.#expiry.expired(handle), { evenUnlocked: true });
      }
      if (this.#expiry.isForgotten(entry)) throw handleNotFound(handle);
      if (entry?.kind !== 'settling' || entry.reason !== undefined || look === 2) throw whyNotHeld(handle, entry);
      await sleep(secondLookMs, signal);
    }
  }

  summary(handle: Handle): FrameSummary | undefined {
    const { catalog, context } = this.#state;
    return frameSummary(handle, catalog.get(handle), context.now());
  }
}
