import type { TenantState } from '../catalog/tenant-state.ts';
import { lineageOf, type Manifest, rowsOf } from '../disk/manifest.ts';
import type { Listing } from '../disk/tenant-directory.ts';
import { LogDamaged } from '../log/log-folder.ts';
import { Tail } from '../log/tail.ts';

/** The rows in the log of a frame. */
export async function readTail(
  { catalog, logs }: TenantState,
  manifest: Manifest,
  listing?: Listing,
): Promise<Tail | LogDamaged> {
  const { handle, parts } = manifest;
  const entry = catalog.get(handle);
  if (entry === undefined && listing?.logs.has(handle) === false) return Tail.empty(rowsOf(parts));
  const isOfLineage = entry?.kind === 'held' && lineageOf(entry.version.manifest) === lineageOf(manifest);
  try {
    return await logs.read(manifest, isOfLineage ? entry.version.tail : undefined);
  } catch (error) {
    if (error instanceof LogDamaged) return error;
    throw error;
  }
}

/** Without its log the frame lacks rows. */
export async function markDamaged(
  state: TenantState,
  { handle, parts: files, version }: Manifest,
  { message, reason }: LogDamaged,
): Promise<void> {
  state.context.logger.error('a frame is damaged', { handle, version, reason: message });
  await state.setEntry(handle, { kind: 'damaged', files, version, reason });
}
