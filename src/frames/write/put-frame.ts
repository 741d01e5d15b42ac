import { AppError } from '../../core/app-error.ts';
import type { Batch } from '../../core/batch.ts';
import type { Column } from '../../core/data-type.ts';
import type { FileReport, ParquetRows, RowSource } from '../../core/frame-engine.ts';
import type { FrameName } from '../../core/frame-name.ts';
import { generateHandle, type Handle } from '../../core/handle.ts';
import type { Producer } from '../../core/producer.ts';
import { inSpan } from '../../core/span.ts';
import type { Entry } from '../catalog/catalog.ts';
import { assertSameColumns, assertWidens } from '../catalog/column-difference.ts';
import { frameChanged, handleExists, viewTaken, whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { widened, widensTo } from '../catalog/wider-columns.ts';
import {
  definitionOf,
  grownVersionId,
  lineageOf,
  type Manifest,
  needsCheckedRows,
  newLineage,
  originOf,
  rowsOf,
} from '../disk/manifest.ts';
import type { TenantDirectory } from '../disk/tenant-directory.ts';
import { ProducerMarks } from '../log/producer-marks.ts';
import { Tail } from '../log/tail.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { commitVersion, ofWiderFrame, placeAnew, placeBehind, withoutCheck } from './commit-version.ts';
import { stageTail } from './flusher.ts';
import type { Appended, FrameAppender } from './frame-appender.ts';
import { assertNoneFound } from './not-null.ts';
import type { Arrival, AssertRoom, Quota } from './quota.ts';
import { removeFrame } from './remove-frame.ts';
import { isSmall, openSource } from './small-source.ts';
import { type StagedFile, StagedParts, type WriteOptions, writtenPart } from './staged-parts.ts';

export interface PutRequest<Name extends string = FrameName> {
  /** Made by the server when absent. */
  readonly handle?: Name | undefined;
  /** `overwrite` and `append` make the frame when it is not there. */
  readonly mode: 'create' | 'overwrite' | 'append';
  /** Null: the frame stays. Absent: as configured, or for an append as before. */
  readonly ttlMs?: number | null | undefined;
  readonly source: RowSource;
  /** Sees the columns before anything is kept; what it throws refuses the put. */
  readonly check?: ((columns: readonly Column[]) => void) | undefined;
  /** For the columns of a frame that the put makes. */
  readonly declared?: Manifest['declared'];
  /** The values are of the types that the columns are declared as. Default: those of an append are not, others are. */
  readonly isChecked?: boolean | undefined;
  /** Likewise. */
  readonly constraints?: Manifest['constraints'];
  /** With `overwrite`: the version that the rows were made of. Where another is held by then, the put is refused (`frame_changed`). */
  readonly replaces?: string | undefined;
  /**
   * Of the frame that the rows were made for, see `definitionOf`. Where it has another by then, the put is refused (`frame_changed`).
   * With `overwrite` the frame is altered: its time to live stays, and how far its producers are.
   */
  readonly definition?: string | undefined;
  /** With `append`: seen before, the rows are not added again. A gap, or an epoch of before, is refused. */
  readonly producer?: Producer | undefined;
  /** With `append` of a batch: columns that the frame has not are added to it, NULL in the rows that it has. */
  readonly addsColumns?: boolean | undefined;
}

export interface Put extends Appended {
  /** Where the source was a file. */
  readonly report: FileReport | undefined;
}

interface StagedRows {
  readonly columns: readonly Column[];
  readonly files: readonly StagedFile[];
  /** Columns of which the files tell their NULLs. */
  readonly notNull: readonly string[];
}

function isKeptAsItIs(source: RowSource): boolean {
  return source.kind === 'parts' || (source.kind === 'file' && source.format.kind === 'parquet');
}

/** How rows become a version: written beside, then moved into place. */
export class FrameWriter {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #quota: Quota;
  readonly #appender: FrameAppender;

  constructor(state: TenantState, reconciler: Reconciler, quota: Quota, appender: FrameAppender) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#quota = quota;
    this.#appender = appender;
  }

  async put(request: PutRequest<Handle>, work: WriteOptions): Promise<Put> {
    const { signal } = work;
    const { context, directory } = this.#state;
    const handle = request.handle ?? generateHandle();
    assertNotReserved(directory, handle);
    signal.throwIfAborted();
    context.durable.assertWritable();
    await this.refusePut({ handle, mode: request.mode });
    if (request.mode !== 'append') return await this.#putParts(handle, request, work);
    const { source, batches } = await openSource(request.source);
    if (batches !== undefined) await this.#lookUnlessKnown(handle);
    const appended = batches === undefined ? undefined : await this.#appendToLog(handle, request, batches, work);
    if (appended !== undefined) return { ...appended, report: undefined };
    return await this.#putParts(handle, { ...request, source }, work);
  }

  /** The short way of a small append to a frame that is known. Undefined: not by this way. */
  async appendBatch(request: PutRequest<Handle>, work: Pick<WriteOptions, 'span'>): Promise<Appended | undefined> {
    const { handle, source, mode } = request;
    if (source.kind !== 'batch' || mode !== 'append' || handle === undefined || !isSmall(source.batch))
      return undefined;
    const { catalog, context } = this.#state;
    if (catalog.isSuspect(handle) || catalog.get(handle)?.kind !== 'held') return undefined;
    context.signal.throwIfAborted();
    context.durable.assertWritable();
    return this.#appendToLog(handle, request, [source.batch], { span: work.span });
  }

  /** Undefined where the frame is not there yet, or the rows cannot go to its log. */
  async #appendToLog(
    handle: Handle,
    { producer, ttlMs, check, addsColumns, isChecked, definition }: PutRequest<Handle>,
    batches: readonly Batch[],
    { signal, span }: Partial<WriteOptions>,
  ): Promise<Appended | undefined> {
    const { catalog, context } = this.#state;
    const entry = catalog.get(handle);
    if (entry?.kind !== 'held' || entry.version.isExpired(context.now())) return undefined;
    const { manifest } = entry.version;
    if (manifest.view !== undefined) throw viewTaken(handle);
    if (ttlMs !== undefined && ttlMs !== manifest.ttlMs) return undefined;
    if (addsColumns === true && batches.some(({ columns }) => columns.length !== manifest.columns.length))
      return undefined;
    const fitting = batches.map((batch) => widened(batch, manifest.columns));
    for (const { columns } of fitting) check?.(columns);
    await this.#state.directory.prepare();
    return this.#appender.append(handle, { batches: fitting, producer, isChecked, definition, signal, span });
  }

  async #putParts(handle: Handle, request: PutRequest<Handle>, work: WriteOptions): Promise<Put> {
    const { signal, lane, span } = work;
    const { context, directory } = this.#state;
    using arrival = await this.#quota.arrival(lane);
    const source = await this.#sourceOf(request, handle, arrival);
    await directory.prepare();
    const notNull = request.mode === 'append' ? await this.#notNullOf(handle) : [];
    await using brought = await StagedParts.stage(this.#state, source, { ...work, notNull });
    const wider = request.mode === 'append' ? this.#widenedRows(handle, brought) : undefined;
    await using widenedParts = wider && (await StagedParts.stageRows(this.#state, wider, { ...work, notNull }));
    const staged = widenedParts ?? brought;
    const { columns, files } = staged;
    request.check?.(columns);
    const put = await inSpan(span, 'commit', () =>
      this.#quota.run((assertRoom) =>
        this.#state.change(handle, async () => {
          signal.throwIfAborted();
          context.durable.assertWritable();
          return this.#commit(
            handle,
            { ...request, source: wider ?? request.source },
            { columns, files, notNull },
            assertRoom,
          );
        }),
      ),
    );
    // It is held: what fails now may not refuse it. A file that is not noted is looked at once more, and so is one that
    // loses its second name after that.
    await staged.removeFiles();
    if (!put.isRepeated) {
      await this.#state.partLinks.noteWritten(put.version.parts.parts.slice(-files.length)).catch(() => {});
    }
    return { ...put, report: source.kind === 'file' ? brought.files[0]?.written.report : undefined };
  }

  /** Before anything is written; the commit looks again. */
  async refusePut({ handle, mode }: Pick<PutRequest<Handle>, 'handle' | 'mode'>): Promise<void> {
    if (mode === 'create' && handle !== undefined) await this.#refuseTaken(handle);
    else if (handle !== undefined) this.#refuseView(handle);
    await this.#quota.refuseFull(handle ?? generateHandle(), mode);
  }

  /** As far as it is known; the commit looks again. */
  #refuseView(handle: Handle): void {
    const entry = this.#state.catalog.get(handle);
    if (!this.#state.catalog.isSuspect(handle)) assertNoView(handle, entry);
  }

  async #refuseTaken(handle: Handle): Promise<void> {
    const { catalog } = this.#state;
    const isFree = (): boolean => {
      const entry = catalog.get(handle);
      return entry === undefined || entry.kind === 'gone' || this.#isExpired(entry);
    };
    await this.#lookUnlessKnown(handle);
    if (isFree()) return;
    // Another server may have dropped it a moment ago.
    catalog.suspect(handle);
    await this.#reconciler.reconcile(handle);
    if (isFree()) return;
    assertNoView(handle, catalog.get(handle));
    throw handleExists(handle);
  }

  /** Among other servers what is known is of a moment ago. */
  async #lookUnlessKnown(handle: Handle): Promise<void> {
    const { catalog, context } = this.#state;
    await context.peers.refresh();
    if (context.peers.hasPeers) catalog.suspect(handle);
    if (catalog.get(handle) === undefined || catalog.isSuspect(handle)) await this.#reconciler.reconcile(handle);
  }

  async #sourceOf({ source, mode }: PutRequest<Handle>, handle: Handle, arrival: Arrival): Promise<RowSource> {
    if (source.kind === 'arrow') return { ...source, stream: arrival.counted(source.stream) };
    return mode === 'append' ? await this.#withFrameTypes(source, handle) : source;
  }

  async #notNullOf(handle: Handle): Promise<readonly string[]> {
    await this.#lookUnlessKnown(handle);
    const entry = this.#state.catalog.get(handle);
    return entry?.kind === 'held' ? (entry.version.manifest.constraints?.notNull ?? []) : [];
  }

  /** Rows whose numbers the wider types of the frame hold exactly, to be written in these types. */
  #widenedRows(handle: Handle, { columns, files }: StagedParts): ParquetRows | undefined {
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held' || !widensTo(entry.version.manifest.columns, columns)) return undefined;
    const parts = files.map(({ path, written }) => ({ path, rows: written.rows }));
    return { kind: 'parquet', parts, columns, castTo: entry.version.manifest.columns };
  }

  /** Text says little of its types, so what is appended has those of the frame. */
  async #withFrameTypes(source: RowSource, handle: Handle): Promise<RowSource> {
    if (source.kind !== 'file' || source.format.kind === 'parquet') return source;
    await this.#lookUnlessKnown(handle);
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held' || entry.version.isExpired(this.#state.context.now())) return source;
    return { ...source, format: { ...source.format, like: entry.version.manifest.columns } };
  }

  async #commit(
    handle: Handle,
    request: PutRequest<Handle>,
    { columns, files: staged, notNull }: StagedRows,
    assertRoom: AssertRoom,
  ): Promise<Appended> {
    const { catalog } = this.#state;
    await this.#reconciler.reconcileLocked(handle);
    const before = catalog.get(handle);
    if (before !== undefined && this.#isExpired(before)) await removeFrame(this.#state, handle, before, 'expired');
    const entry = catalog.get(handle);
    const isFree = entry === undefined || entry.kind === 'gone';
    assertNoView(handle, entry);
    const heldId = entry?.kind === 'held' ? entry.version.versionId : undefined;
    if (request.replaces !== undefined && request.replaces !== heldId) throw frameChanged(handle);
    if (request.definition !== undefined) assertDefinition(handle, entry, request.definition);
    if (request.mode === 'append' && !isFree) {
      if (entry.kind !== 'held') throw whyNotHeld(handle, entry);
      const held = entry.version.manifest.columns;
      if (request.addsColumns) assertWidens(handle, held, columns);
      else assertSameColumns(handle, held, columns);
      assertNoneNull(handle, entry.version.manifest, staged, notNull);
      assertRoom({ handle, bytes: bytesOf(staged), isReplacement: false });
      return this.#append(request, entry.version, columns, staged);
    }
    if (request.mode === 'create' && !isFree) throw handleExists(handle);
    assertRoom({ handle, bytes: bytesOf(staged), isReplacement: true });
    return this.#replace(request, handle, entry, columns, staged);
  }

  async #append(
    request: PutRequest<Handle>,
    before: FrameVersion,
    columns: readonly Column[],
    staged: readonly StagedFile[],
  ): Promise<Appended> {
    const { manifest } = before;
    const { handle } = manifest;
    const marks = new ProducerMarks(before.producers);
    if (request.producer !== undefined) {
      if (marks.isRepeated(request.producer)) return { version: before, rows: 0, bytes: 0, isRepeated: true };
      marks.add(request.producer);
    }
    // What is in the log comes before these rows.
    await using logged = before.tail.rows === 0 ? undefined : await stageTail(this.#state, before);
    const files = [...(logged?.files ?? []), ...staged];
    const isKept = isKeptAsItIs(request.source);
    const placed = await placeBehind(this.#state, before, files, (file, name) =>
      writtenPart(this.#state, file, name, { isKept: isKept && staged.includes(file) }),
    );
    const { replaces, partsAdded } = placed;
    const { partsAdded: _, ...kept } = manifest;
    const isWider = columns.length > manifest.columns.length;
    const parts = isWider ? ofWiderFrame(placed.parts, staged.length, manifest.columns.length) : placed.parts;
    const rows = rowsOf(parts);
    const next = {
      ...kept,
      version: before.number + 1,
      versionId: grownVersionId({ ...kept, lineage: lineageOf(manifest), columns }, rows),
      columns,
      ...(!request.isChecked && needsCheckedRows(manifest) && { hasUncheckedRows: true as const }),
      origin: originOf(manifest),
      lineage: lineageOf(manifest),
      ttlMs: request.ttlMs === undefined ? manifest.ttlMs : request.ttlMs,
      parts: parts.map(withoutCheck),
      replaces,
      ...(marks.all.length > 0 && { producers: marks.all }),
      ...(partsAdded !== undefined && { partsAdded }),
    };
    const tail = Tail.empty(rows);
    const version = await commitVersion(this.#state, this.#reconciler, before, {
      ...placed,
      parts,
      manifest: next,
      tail,
    });
    if (placed.moved !== undefined) await this.#state.partLinks.noteWritten([placed.moved]).catch(() => {});
    await this.#appender.removeLog(handle);
    return { version, rows: rowsOfFiles(staged), bytes: bytesOf(staged), isRepeated: false };
  }

  async #replace(
    request: PutRequest<Handle>,
    handle: Handle,
    entry: Entry | undefined,
    columns: readonly Column[],
    staged: readonly StagedFile[],
  ): Promise<Appended> {
    const { catalog, context } = this.#state;
    const { producer, declared, constraints, definition } = request;
    if (producer !== undefined) new ProducerMarks([]).isRepeated(producer);
    const isKept = isKeptAsItIs(request.source);
    const placed = await placeAnew(this.#state, handle, entry, staged, (file, name) =>
      writtenPart(this.#state, file, name, { isKept }),
    );
    const before = entry?.kind === 'held' ? entry.version : undefined;
    const altered = definition === undefined ? undefined : before;
    const producers = new ProducerMarks(altered?.producers ?? (producer === undefined ? [] : [producer])).all;
    const ttlMs = request.ttlMs === undefined ? context.defaultTtlMs : request.ttlMs;
    const manifest = {
      handle,
      version: catalog.nextVersion(handle),
      ...newLineage(),
      ...(before !== undefined && { origin: originOf(before.manifest) }),
      createdAt: context.now(),
      ttlMs: altered === undefined ? ttlMs : altered.manifest.ttlMs,
      columns,
      ...(declared !== undefined && { declared }),
      ...(request.isChecked === false && needsCheckedRows({ declared }) && { hasUncheckedRows: true as const }),
      ...(constraints !== undefined && { constraints }),
      parts: placed.parts.map(withoutCheck),
      replaces: placed.replaces,
      ...(producers.length > 0 && { producers }),
      ...(placed.partsAdded !== undefined && { partsAdded: placed.partsAdded }),
    };
    const version = await commitVersion(this.#state, this.#reconciler, before, { ...placed, manifest });
    // Also that of a frame that is damaged.
    if (entry !== undefined) await this.#appender.removeLog(handle);
    return { version, rows: rowsOfFiles(staged), bytes: bytesOf(staged), isRepeated: false };
  }

  #isExpired(entry: Entry): entry is Extract<Entry, { kind: 'held' }> {
    return entry.kind === 'held' && entry.version.isExpired(this.#state.context.now());
  }
}

/** Of a frame that another server replaced meanwhile, other columns may take no NULL. */
function assertNoneNull(
  handle: Handle,
  { constraints }: Manifest,
  staged: readonly StagedFile[],
  looked: readonly string[],
): void {
  const notNull = new Set(constraints?.notNull);
  if ([...notNull].some((column) => !looked.includes(column))) throw frameChanged(handle);
  for (const { written } of staged) {
    assertNoneFound(
      handle,
      (written.nulls ?? []).filter(({ column }) => notNull.has(column)),
    );
  }
}

function assertDefinition(handle: Handle, entry: Entry | undefined, definition: string): void {
  if (entry?.kind !== 'held' || definitionOf(entry.version.manifest) !== definition) throw frameChanged(handle);
}

function assertNoView(handle: Handle, entry: Entry | undefined): void {
  if (entry?.kind === 'held' && entry.version.manifest.view !== undefined) throw viewTaken(handle);
}

export function assertNotReserved(directory: TenantDirectory, handle: Handle): void {
  if (!directory.isReserved(handle)) return;
  throw new AppError('invalid_handle', `${handle} is reserved`, { hint: 'choose another handle' });
}

function bytesOf(staged: readonly StagedFile[]): number {
  return staged.reduce((sum, { written }) => sum + written.bytes, 0);
}

function rowsOfFiles(staged: readonly StagedFile[]): number {
  return staged.reduce((sum, { written }) => sum + written.rows, 0);
}
