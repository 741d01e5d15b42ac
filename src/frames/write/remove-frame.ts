import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Entry } from '../catalog/catalog.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import type { FileIdentity } from '../disk/part.ts';
import type { Tombstone } from '../disk/tombstone.ts';

/** Takes a frame away for good; the handle's lock is held. */
export async function removeFrame(
  state: TenantState,
  handle: Handle,
  entry: Exclude<Entry, { kind: 'gone' }>,
  reason: 'dropped' | 'expired',
): Promise<void> {
  await removeData(state, handle, entry, reason);
  const { context, directory } = state;
  try {
    await context.onRemoved(directory.tenant, handle);
  } catch (error) {
    context.logger.warn('what belongs to a dropped frame could not be removed', { handle, error: String(error) });
  }
}

async function removeData(
  state: TenantState,
  handle: Handle,
  entry: Exclude<Entry, { kind: 'gone' }>,
  reason: 'dropped' | 'expired',
): Promise<void> {
  const { context, records, commits } = state;
  context.durable.assertWritable();
  const isPrepared = await state.directory.prepare().then(
    () => true,
    (error) => {
      if (error instanceof AppError && error.code === 'storage_full') return false;
      throw error;
    },
  );
  const version = entry.kind === 'held' ? entry.version.number : entry.version;
  const tombstone: Tombstone = { handle, version, reason, at: context.now() };
  const left = entry.kind === 'held' ? await state.commits.stillThere(entry.version.manifest.replaces) : [];
  const files = [...filesOf(entry), ...left];
  if (entry.kind === 'held') await entry.version.parts.protect();
  try {
    if (!isPrepared) return await removeWhenFull(state, tombstone, files);
    await records.writeTombstone(tombstone);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'storage_full') {
      if (entry.kind === 'held') entry.version.parts.unprotect();
      throw error;
    }
    try {
      return await removeWhenFull(state, tombstone, files);
    } catch (failed) {
      if (entry.kind === 'held') entry.version.parts.unprotect();
      throw failed;
    }
  }
  await state.setEntry(handle, { kind: 'gone', tombstone });
  try {
    await commits.removeFiles(files);
    await records.dropManifest(handle);
    await state.logs.removeAll(handle);
  } catch (error) {
    context.logger.warn('a dropped frame could not be removed yet; a restart will', { handle, error: String(error) });
  }
}

/**
 * Dropping must work on a full disk, to make room. A manifest without data counts as removed, so a crash in here is harmless as
 * long as the data goes all at once.
 */
async function removeWhenFull(state: TenantState, tombstone: Tombstone, files: readonly FileIdentity[]): Promise<void> {
  const { handle } = tombstone;
  // A manifest of a view counts without data.
  if (files.length === 0) await state.records.dropManifest(handle);
  await state.commits.removeAtOnce(handle, files);
  await state.setEntry(handle, { kind: 'gone', tombstone });
  try {
    await state.records.writeTombstone(tombstone);
    await state.records.dropManifest(handle);
    await state.logs.removeAll(handle);
  } catch (error) {
    state.context.logger.warn('no room to note that a frame was dropped', { handle, error: String(error) });
  }
}

export function filesOf(entry: Entry | undefined): readonly FileIdentity[] {
  switch (entry?.kind) {
    case undefined:
    case 'gone':
      return [];
    case 'held':
      return entry.version.manifest.parts;
    case 'damaged':
    case 'settling':
      return entry.files;
    default:
      return entry satisfies never;
  }
}
