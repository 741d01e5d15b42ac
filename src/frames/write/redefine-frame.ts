import type { FrameName } from '../../core/frame-name.ts';
import type { Handle } from '../../core/handle.ts';
import { frameChanged, isView, whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { definitionOf, type FrameDefinition, grownVersionId, lineageOf, originOf } from '../disk/manifest.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { commitVersion, ofWiderFrame, withoutCheck } from './commit-version.ts';
import type { FrameAppender } from './frame-appender.ts';

export interface RedefineRequest<Name extends string = FrameName> {
  readonly handle: Name;
  /** Where the frame has another by then, this is refused (`frame_changed`). */
  readonly before: FrameDefinition;
  /** Columns may be added behind those of before: they are NULL in all rows. */
  readonly after: FrameDefinition;
  /** Where the frame has other rows than this version, too. Default: they may be others. */
  readonly versionId?: string | undefined;
}

/** How the definition of a frame changes while its rows, and their files, stay. */
export class FrameRedefiner {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #appender: FrameAppender;

  constructor(state: TenantState, reconciler: Reconciler, appender: FrameAppender) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#appender = appender;
  }

  async redefine({ handle, before, after, versionId }: RedefineRequest<Handle>): Promise<FrameVersion> {
    const { catalog, context, commits, directory } = this.#state;
    context.durable.assertWritable();
    await directory.prepare();
    const isWider = after.columns.length > before.columns.length;
    // The rows of a log have the columns that the frame had.
    if (isWider) await this.#appender.flusher.flush(handle);
    return await this.#state.change(handle, async () => {
      context.durable.assertWritable();
      await this.#reconciler.reconcileLocked(handle);
      const entry = catalog.get(handle);
      if (entry?.kind !== 'held') throw whyNotHeld(handle, entry);
      const { version } = entry;
      if (version.isExpired(context.now())) throw whyNotHeld(handle, undefined);
      const { manifest } = version;
      if (manifest.view !== undefined) throw isView(handle);
      const isSame =
        definitionOf(manifest) === definitionOf(before) && (versionId === undefined || versionId === version.versionId);
      if (!isSame || (isWider && version.tail.rows > 0)) throw frameChanged(handle);
      const held = version.parts.parts;
      const parts = isWider ? ofWiderFrame(held, 0, before.columns.length) : held;
      const { declared: _, constraints: __, ...kept } = manifest;
      const { columns, declared, constraints } = after;
      const lineage = lineageOf(manifest);
      const next = {
        ...kept,
        version: version.number + 1,
        versionId: isWider ? grownVersionId({ ...kept, lineage, columns }, version.rows) : manifest.versionId,
        origin: originOf(manifest),
        lineage,
        columns,
        ...(declared !== undefined && { declared }),
        ...(constraints !== undefined && { constraints }),
        parts: parts.map(withoutCheck),
      };
      const placed = { parts, place: commits.inPlace(), keepsFiles: true };
      return await commitVersion(this.#state, this.#reconciler, version, {
        ...placed,
        manifest: next,
        tail: version.tail,
      });
    });
  }
}
