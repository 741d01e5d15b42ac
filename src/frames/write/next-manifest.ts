import type { Handle } from '../../core/names/handle.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { grownVersionId, lineageOf, type Manifest, newLineage, originOf } from '../disk/manifest.ts';

/** The facts of a version without its files, which `commitVersion` adds. */
export type VersionFacts = Omit<Manifest, 'parts' | 'replaces' | 'partsAdded'>;

/** The facts of a version with the same rows as the one before, and perhaps more behind them: `rows` in all. */
export function grownFacts(before: FrameVersion, rows: number, columns = before.manifest.columns): VersionFacts {
  const { manifest } = before;
  const lineage = lineageOf(manifest);
  return {
    ...manifest,
    version: before.number + 1,
    versionId: grownVersionId({ ...manifest, lineage, columns }, rows),
    origin: originOf(manifest),
    lineage,
    columns,
  };
}

/** The facts of a version with other rows. `before`: the version of the same frame that it replaces. */
export function newFacts(
  { catalog, context }: TenantState,
  handle: Handle,
  before: FrameVersion | undefined,
): Omit<VersionFacts, 'ttlMs' | 'columns'> {
  return {
    handle,
    version: catalog.nextVersion(handle),
    ...newLineage(),
    origin: before && originOf(before.manifest),
    createdAt: context.now(),
  };
}
