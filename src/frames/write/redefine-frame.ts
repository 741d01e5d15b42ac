import type { FrameName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import { frameChanged, isView, whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import { definitionOf, type FrameDefinition } from '../disk/manifest.ts';
import { commitVersion, ofWiderFrame } from './commit-version.ts';
import { grownFacts } from './next-manifest.ts';
import { underLock } from './under-lock.ts';
import type { WriteParts } from './write-parts.ts';

export interface RedefineRequest<Name extends string = FrameName> {
  readonly handle: Name;
  /** If the frame has another definition by then, this is refused (`frame_changed`). */
  readonly before: FrameDefinition;
  /** Columns may be added behind the old ones: they are NULL in all rows. */
  readonly after: FrameDefinition;
  /** Refuses also if the frame has other rows than this version. Default: its rows may differ. */
  readonly versionId?: string | undefined;
}

/** Changes the definition of a frame while its rows, and their files, stay. */
export async function redefineFrame(
  parts: WriteParts,
  { handle, before, after, versionId }: RedefineRequest<Handle>,
): Promise<FrameVersion> {
  const { context, commits, directory } = parts.state;
  context.durable.assertWritable();
  await directory.prepare();
  const isWider = after.columns.length > before.columns.length;
  // The rows of a log have the old columns of the frame.
  if (isWider) await parts.appender.flusher.flush(handle);
  return await underLock(parts, handle, context.signal, async (entry) => {
    if (entry?.kind !== 'held') throw whyNotHeld(handle, entry);
    const { version } = entry;
    const { manifest } = version;
    if (manifest.view !== undefined) throw isView(handle);
    const isSame =
      definitionOf(manifest) === definitionOf(before) && (versionId === undefined || versionId === version.versionId);
    if (!isSame || (isWider && version.tail.rows > 0)) throw frameChanged(handle);
    const held = version.parts.parts;
    const files = isWider ? ofWiderFrame(held, 0, before.columns.length) : held;
    const { columns, declared, constraints } = after;
    const { versionId: grownId, ...kept } = grownFacts(version, version.rows, columns);
    const facts = { ...kept, versionId: isWider ? grownId : manifest.versionId, declared, constraints };
    const { replaces, partsAdded } = manifest;
    const placed = { parts: files, replaces, partsAdded, place: commits.inPlace(), keepsFiles: true };
    return await commitVersion(parts, version, { ...placed, facts, tail: version.tail });
  });
}
