import type { Handle } from '../../core/names/handle.ts';
import type { Entry } from '../catalog/catalog.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { removeFrame } from './remove-frame.ts';

/** A tenant's frames, and the look at the disk before they change. */
export interface LockParts {
  readonly state: TenantState;
  readonly reconciler: Reconciler;
}

/** Writes a frame with the lock of its handle, by its state on the disk then. If it has expired, it is removed before. */
export function underLock<T>(
  { state, reconciler }: LockParts,
  handle: Handle,
  signal: AbortSignal,
  write: (entry: Entry | undefined) => Promise<T>,
): Promise<T> {
  const { catalog, context } = state;
  return state.change(handle, async () => {
    signal.throwIfAborted();
    context.durable.assertWritable();
    await reconciler.reconcileLocked(handle);
    const entry = catalog.get(handle);
    if (entry?.kind === 'held' && entry.version.isExpired(context.now()))
      await removeFrame(state, handle, entry, 'expired');
    return write(catalog.get(handle));
  });
}
