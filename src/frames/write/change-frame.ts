import type { RowChanges } from '../../core/frame-engine.ts';
import type { FrameName } from '../../core/frame-name.ts';
import type { Handle } from '../../core/handle.ts';
import { inSpan } from '../../core/span.ts';
import { frameChanged, viewTaken, whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { definitionOf, lineageOf, newVersionId, originOf } from '../disk/manifest.ts';
import type { HeldPart } from '../disk/part-links.ts';
import { ProducerMarks } from '../log/producer-marks.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { ChangeDraft, type DraftFile, type Verify } from './change-draft.ts';
import { commitVersion, placeAnew, withoutCheck } from './commit-version.ts';
import type { FrameAppender } from './frame-appender.ts';
import type { Quota } from './quota.ts';
import { removeFrame } from './remove-frame.ts';
import { type WriteOptions, writtenPart } from './staged-parts.ts';

export interface ChangeRequest<Name extends string = FrameName> {
  readonly handle: Name;
  /**
   * The rows are numbered as in this lineage. Where the frame has another by then, the change is refused (`frame_changed`); rows that
   * were appended meanwhile stay.
   */
  readonly lineage?: string | undefined;
  /** And the columns and constraints are these: see `definitionOf`. */
  readonly definition?: string | undefined;
  /** Undefined: all rows go, whatever they are. */
  readonly changes: RowChanges | undefined;
}

export interface Changed {
  readonly version: FrameVersion;
  /** That the frame had before. */
  readonly rowsBefore: number;
}

/** Appends may go on while parts are written: so often what they have added is written before they are held up. */
const mostRounds = 3;

/** How some rows of a frame become others, or go: only the parts that hold them are written anew. */
export class FrameChanger {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #quota: Quota;
  readonly #appender: FrameAppender;
  readonly #verify: Verify;

  constructor(state: TenantState, reconciler: Reconciler, quota: Quota, appender: FrameAppender, verify: Verify) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#quota = quota;
    this.#appender = appender;
    this.#verify = verify;
  }

  async change(request: ChangeRequest<Handle>, work: WriteOptions): Promise<Changed> {
    const { handle } = request;
    const { signal, span } = work;
    const { context, directory } = this.#state;
    signal.throwIfAborted();
    context.durable.assertWritable();
    await directory.prepare();
    await this.#quota.refuseFull(handle, 'overwrite');
    await using draft = new ChangeDraft(this.#state, this.#verify, request.changes, work);
    for (let round = 1; round <= mostRounds; round++) {
      await this.#reconciler.reconcile(handle);
      if (!(await draft.prepare(this.#version(request)))) break;
    }
    return await inSpan(span, 'commit', () =>
      this.#quota.run((assertRoom) =>
        this.#state.change(handle, async () => {
          signal.throwIfAborted();
          context.durable.assertWritable();
          await this.#reconciler.reconcileLocked(handle);
          const entry = this.#state.catalog.get(handle);
          if (entry?.kind === 'held' && entry.version.isExpired(context.now()))
            await removeFrame(this.#state, handle, entry, 'expired');
          const before = this.#version(request);
          const files = await draft.files(before);
          const bytes = files.reduce((sum, file) => sum + ('part' in file ? file.part.size : file.written.bytes), 0);
          assertRoom({ handle, bytes, isReplacement: true });
          return { version: await this.#commit(before, files), rowsBefore: before.rows };
        }),
      ),
    );
  }

  #version({ handle, lineage, definition }: ChangeRequest<Handle>): FrameVersion {
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held') throw whyNotHeld(handle, entry);
    const { version } = entry;
    if (version.manifest.view !== undefined) throw viewTaken(handle);
    if (lineage !== undefined && lineageOf(version.manifest) !== lineage) throw frameChanged(handle);
    if (definition !== undefined && definitionOf(version.manifest) !== definition) throw frameChanged(handle);
    return version;
  }

  /** The handle's lock is held. */
  async #commit(before: FrameVersion, files: readonly DraftFile[]): Promise<FrameVersion> {
    const { catalog, context, partLinks } = this.#state;
    const { handle, ttlMs, columns, declared, constraints, hasUncheckedRows } = before.manifest;
    const known: HeldPart[] = [];
    const toPart = async (file: DraftFile, name: string): Promise<HeldPart> => {
      if (!('part' in file)) {
        const part = await writtenPart(this.#state, file, name);
        known.push(part);
        return part;
      }
      const part = { ...file.part, file: name };
      if (await partLinks.isUntouched(file.part)) known.push(part);
      return part;
    };
    const entry = catalog.get(handle);
    const { partsAdded, ...placed } = await placeAnew(this.#state, handle, entry, files, toPart);
    const producers = new ProducerMarks(before.producers).all;
    const manifest = {
      handle,
      version: catalog.nextVersion(handle),
      versionId: newVersionId(),
      origin: originOf(before.manifest),
      createdAt: context.now(),
      ttlMs,
      columns,
      ...(declared !== undefined && { declared }),
      ...(constraints !== undefined && { constraints }),
      ...(hasUncheckedRows !== undefined && { hasUncheckedRows }),
      parts: placed.parts.map(withoutCheck),
      replaces: placed.replaces,
      ...(producers.length > 0 && { producers }),
      ...(partsAdded !== undefined && { partsAdded }),
    };
    const version = await commitVersion(this.#state, this.#reconciler, before, { ...placed, manifest });
    // It is held: what fails now may not refuse it. A file that is not noted is looked at once more.
    await partLinks.noteWritten(known).catch(() => {});
    await this.#appender.removeLog(handle);
    return version;
  }
}
