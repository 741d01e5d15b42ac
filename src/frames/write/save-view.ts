import type { Column } from '../../core/data-type.ts';
import type { FrameName } from '../../core/frame-name.ts';
import type { Handle } from '../../core/handle.ts';
import { handleExists, notView, viewExists } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { newVersionId, originOf, type ViewDefinition } from '../disk/manifest.ts';
import { justIdentity } from '../disk/part.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { commitVersion } from './commit-version.ts';
import { assertNotReserved } from './put-frame.ts';
import type { Quota } from './quota.ts';
import { filesOf, removeFrame } from './remove-frame.ts';

export interface SaveView<Name extends string = FrameName> {
  readonly handle: Name;
  /** `replace` makes the view when it is not there; it replaces no frame. */
  readonly ifTaken: 'fail' | 'replace';
  readonly view: ViewDefinition;
  readonly columns: readonly Column[];
  /** Default: it stays. */
  readonly ttlMs?: number | null | undefined;
}

/** A view is a manifest without parts: what holds for the handle of a frame holds for its own. */
export class ViewWriter {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #quota: Quota;

  constructor(state: TenantState, reconciler: Reconciler, quota: Quota) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#quota = quota;
  }

  async save(request: SaveView<Handle>, signal: AbortSignal): Promise<FrameVersion> {
    const { context, directory } = this.#state;
    const { handle } = request;
    signal.throwIfAborted();
    assertNotReserved(directory, handle);
    context.durable.assertWritable();
    await directory.prepare();
    return await this.#quota.run((assertRoom) =>
      this.#state.change(handle, async () => {
        signal.throwIfAborted();
        context.durable.assertWritable();
        await this.#reconciler.reconcileLocked(handle);
        await this.#removeExpired(handle);
        assertRoom({ handle, bytes: 0, isReplacement: true });
        return await this.#commit(request);
      }),
    );
  }

  async #removeExpired(handle: Handle): Promise<void> {
    const entry = this.#state.catalog.get(handle);
    const isExpired = entry?.kind === 'held' && entry.version.isExpired(this.#state.context.now());
    if (isExpired) await removeFrame(this.#state, handle, entry, 'expired');
  }

  async #commit({ handle, ifTaken, view, columns, ttlMs = null }: SaveView<Handle>): Promise<FrameVersion> {
    const { catalog, commits, context } = this.#state;
    const entry = catalog.get(handle);
    const before = entry?.kind === 'held' ? entry.version : undefined;
    if (entry !== undefined && entry.kind !== 'gone') {
      if (before?.manifest.view === undefined) throw ifTaken === 'replace' ? notView(handle) : handleExists(handle);
      if (ifTaken === 'fail') throw viewExists(handle);
    }
    const manifest = {
      handle,
      version: catalog.nextVersion(handle),
      versionId: newVersionId(),
      ...(before !== undefined && { origin: originOf(before.manifest) }),
      createdAt: context.now(),
      ttlMs,
      columns,
      view,
      parts: [],
      replaces: filesOf(entry).map(justIdentity),
    };
    return await commitVersion(this.#state, this.#reconciler, before, {
      manifest,
      parts: [],
      place: commits.inPlace(),
      keepsFiles: false,
    });
  }
}
