import { inSpan } from '../../core/logs/span.ts';
import type { FrameName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { RowChanges } from '../../core/rows/frame-engine.ts';
import type { Entry } from '../catalog/catalog.ts';
import { frameChanged, viewTaken, whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { definitionOf, lineageOf } from '../disk/manifest.ts';
import type { HeldPart } from '../disk/part-links.ts';
import { ProducerMarks } from '../log/producer-marks.ts';
import { ChangeDraft, type DraftFile, type Verify } from './change-draft.ts';
import { commitVersion, placeAnew } from './commit-version.ts';
import { newFacts } from './next-manifest.ts';
import { type WriteOptions, writtenPart } from './staged-parts.ts';
import { underLock } from './under-lock.ts';
import type { WriteParts } from './write-parts.ts';

export interface ChangeRequest<Name extends string = FrameName> {
  readonly handle: Name;
  /**
   * The rows are numbered as in this lineage. Where the frame has another by then, the change is refused (`frame_changed`); rows that
   * were appended meanwhile stay.
   */
  readonly lineage?: string | undefined;
  /** And the columns and constraints are these: see `definitionOf`. */
  readonly definition?: string | undefined;
  /** Undefined: all rows are removed. */
  readonly changes: RowChanges | undefined;
}

export interface Changed {
  readonly version: FrameVersion;
  /** Rows of the frame before. */
  readonly rowsBefore: number;
}

/** Appends may go on while parts are written: their rows are written this many times before appends are blocked. */
const mostRounds = 3;

/** Changes or removes rows of a frame: only the parts that hold them are rewritten. */
export async function changeFrame(
  parts: WriteParts,
  verify: Verify,
  request: ChangeRequest<Handle>,
  work: WriteOptions,
): Promise<Changed> {
  const { state, quota, reconciler } = parts;
  const { handle } = request;
  const { signal, span } = work;
  const { context, directory } = state;
  signal.throwIfAborted();
  context.durable.assertWritable();
  await directory.prepare();
  await quota.refuseFull(handle, 'overwrite');
  await using draft = new ChangeDraft(state, verify, request.changes, work);
  for (let round = 1; round <= mostRounds; round++) {
    await reconciler.reconcile(handle);
    if (!(await draft.prepare(versionToChange(state, request)))) break;
  }
  return await inSpan(span, 'commit', () =>
    quota.run((assertRoom) =>
      underLock(parts, handle, signal, async (entry) => {
        const before = versionToChange(state, request);
        const files = await draft.files(before);
        const bytes = files.reduce((sum, file) => sum + ('part' in file ? file.part.size : file.written.bytes), 0);
        assertRoom({ handle, bytes, isReplacement: true });
        return { version: await commitChange(parts, before, entry, files), rowsBefore: before.rows };
      }),
    ),
  );
}

function versionToChange(
  { catalog }: TenantState,
  { handle, lineage, definition }: ChangeRequest<Handle>,
): FrameVersion {
  const entry = catalog.get(handle);
  if (entry?.kind !== 'held') throw whyNotHeld(handle, entry);
  const { version } = entry;
  if (version.manifest.view !== undefined) throw viewTaken(handle);
  if (lineage !== undefined && lineageOf(version.manifest) !== lineage) throw frameChanged(handle);
  if (definition !== undefined && definitionOf(version.manifest) !== definition) throw frameChanged(handle);
  return version;
}

/** The handle's lock is held. */
async function commitChange(
  parts: WriteParts,
  before: FrameVersion,
  entry: Entry | undefined,
  files: readonly DraftFile[],
): Promise<FrameVersion> {
  const { state, appender } = parts;
  const { partLinks } = state;
  const { handle, ttlMs, columns, declared, constraints, hasUncheckedRows } = before.manifest;
  const known: HeldPart[] = [];
  const toPart = async (file: DraftFile, name: string): Promise<HeldPart> => {
    if (!('part' in file)) {
      const part = await writtenPart(state, file, name);
      known.push(part);
      return part;
    }
    const part = { ...file.part, file: name };
    if (await partLinks.isUntouched(file.part)) known.push(part);
    return part;
  };
  const placed = await placeAnew(state, handle, entry, files, toPart);
  const producers = new ProducerMarks(before.producers).all;
  const facts = {
    ...newFacts(state, handle, before),
    ...{ ttlMs, columns, declared, constraints, hasUncheckedRows },
    ...(producers.length > 0 && { producers }),
  };
  const version = await commitVersion(parts, before, { ...placed, facts });
  // The version is committed: a later fault must not refuse it. A file that is not recorded is examined once more.
  await partLinks.noteWritten(known).catch(() => {});
  await appender.removeLog(handle);
  return version;
}
