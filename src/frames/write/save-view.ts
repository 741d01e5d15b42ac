import type { Column } from '@framehold/columns';
import type { FrameName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Entry } from '../catalog/catalog.ts';
import { handleExists, notView, viewExists } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { ViewDefinition } from '../disk/manifest.ts';
import { justIdentity } from '../disk/part.ts';
import { commitVersion } from './commit-version.ts';
import { newFacts } from './next-manifest.ts';
import { assertNotReserved } from './put-frame.ts';
import { filesOf } from './remove-frame.ts';
import { underLock } from './under-lock.ts';
import type { WriteParts } from './write-parts.ts';

export interface SaveView<Name extends string = FrameName> {
  readonly handle: Name;
  /** `replace` makes a missing view; it replaces no frame. */
  readonly ifTaken: 'fail' | 'replace';
  readonly view: ViewDefinition;
  readonly columns: readonly Column[];
  /** Default: it stays. */
  readonly ttlMs?: number | null | undefined;
}

/** A view is a manifest without parts: rules for the handle of a frame hold for its own. */
export async function saveView(
  parts: WriteParts,
  request: SaveView<Handle>,
  signal: AbortSignal,
): Promise<FrameVersion> {
  const { context, directory } = parts.state;
  const { handle } = request;
  signal.throwIfAborted();
  assertNotReserved(directory, handle);
  context.durable.assertWritable();
  await directory.prepare();
  return await parts.quota.run((assertRoom) =>
    underLock(parts, handle, signal, (entry) => {
      assertRoom({ handle, bytes: 0, isReplacement: true });
      return commitView(parts, request, entry);
    }),
  );
}

async function commitView(
  parts: WriteParts,
  { handle, ifTaken, view, columns, ttlMs = null }: SaveView<Handle>,
  entry: Entry | undefined,
): Promise<FrameVersion> {
  const before = entry?.kind === 'held' ? entry.version : undefined;
  if (entry !== undefined && entry.kind !== 'gone') {
    if (before?.manifest.view === undefined) throw ifTaken === 'replace' ? notView(handle) : handleExists(handle);
    if (ifTaken === 'fail') throw viewExists(handle);
  }
  return await commitVersion(parts, before, {
    // No rows are added to a view.
    facts: { ...newFacts(parts.state, handle, before), lineage: undefined, ttlMs, columns, view },
    parts: [],
    replaces: filesOf(entry).map(justIdentity),
    place: parts.state.commits.inPlace(),
    keepsFiles: false,
  });
}
