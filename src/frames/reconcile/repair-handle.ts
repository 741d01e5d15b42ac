import type { Handle } from '../../core/names/handle.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import type { HandleRecords } from '../disk/manifest-files.ts';
import type { Listing } from '../disk/tenant-directory.ts';
import type { Tombstone } from '../disk/tombstone.ts';
import type { HandleState } from './assess-handle.ts';

/** Brings the disk into the state that was found. */
export async function repairHandle(
  state: TenantState,
  handle: Handle,
  finding: HandleState,
  found: HandleRecords,
  listing?: Listing,
): Promise<void> {
  const { records, commits } = state;
  switch (finding.kind) {
    case 'held':
      await tidy(state, handle, async () => {
        if (finding.wasPending) {
          await commits.finish(handle);
          await state.announceChange(handle);
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
      await tidy(state, handle, async () => {
        await commits.removeFiles(finding.files);
        await records.dropManifest(handle);
        await state.logs.removeAll(handle);
        await state.announceChange(handle);
      });
      return;
    case 'gone':
      if (found.manifest !== undefined || found.pending !== undefined || listing !== undefined) {
        await tidy(state, handle, async () => {
          await records.dropManifest(handle);
          await state.logs.removeAll(handle);
        });
      }
      return;
    case 'removed':
      await tidy(state, handle, async () => {
        await records.writeTombstone(tombstoneOf(state, handle, finding.version));
        await records.dropManifest(handle);
        await state.logs.removeAll(handle);
        await state.announceChange(handle);
      });
      return;
    case 'absent':
      if (listing?.pending.has(handle) || listing?.manifests.has(handle) || listing?.logs.has(handle)) {
        await tidy(state, handle, async () => {
          await records.dropManifest(handle);
          await state.logs.removeAll(handle);
        });
      }
      return;
    case 'outside':
      return;
    default:
      finding satisfies never;
  }
}

/** Of a frame whose files were removed from outside. */
export function tombstoneOf(state: TenantState, handle: Handle, version: number): Tombstone {
  return { handle, version, reason: 'removed', at: state.context.now() };
}

/**
 * Housekeeping that a later look can do as well: a read-only disk must not stand in the way of reading. After a failed
 * fsync the next start does it.
 */
export async function tidy(state: TenantState, handle: Handle, task: () => Promise<void>): Promise<boolean> {
  try {
    state.context.durable.assertWritable();
    await task();
    return true;
  } catch (error) {
    state.context.logger.debug('could not tidy up', { handle, error: String(error) });
    return false;
  }
}
