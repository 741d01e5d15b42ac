import type { Batch, Column } from '@framehold/columns';
import type { Producer } from '../../core/callers/producer.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { inSpan } from '../../core/logs/span.ts';
import type { FrameName } from '../../core/names/frame-name.ts';
import { generateHandle, type Handle } from '../../core/names/handle.ts';
import type { FileReport, ParquetRows, RowSource } from '../../core/rows/frame-engine.ts';
import type { Entry } from '../catalog/catalog.ts';
import { assertSameColumns, assertWidens } from '../catalog/column-difference.ts';
import { frameChanged, handleExists, viewTaken, whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { widened, widensTo } from '../catalog/wider-columns.ts';
import { definitionOf, type Manifest, needsCheckedRows, rowsOf } from '../disk/manifest.ts';
import type { TenantDirectory } from '../disk/tenant-directory.ts';
import { ProducerMarks } from '../log/producer-marks.ts';
import { Tail } from '../log/tail.ts';
import { commitVersion, ofWiderFrame, placeAnew, placeBehind } from './commit-version.ts';
import { stageTail } from './flusher.ts';
import type { Appended } from './frame-appender.ts';
import { grownFacts, newFacts } from './next-manifest.ts';
import { assertNoneFound } from './not-null.ts';
import type { Arrival, AssertRoom } from './quota.ts';
import { isSmall, openSource } from './small-source.ts';
import { type StagedFile, StagedParts, type WriteOptions, writtenPart } from './staged-parts.ts';
import { underLock } from './under-lock.ts';
import type { WriteParts } from './write-parts.ts';

export interface PutRequest<Name extends string = FrameName> {
  /** Made by the server when absent. */
  readonly handle?: Name | undefined;
  /** `overwrite` and `append` make a missing frame. */
  readonly mode: 'create' | 'overwrite' | 'append';
  /** Null: the frame stays. Absent: as configured, or for an append as before. */
  readonly ttlMs?: number | null | undefined;
  readonly source: RowSource;
  /** Gets the columns before anything is stored; its error refuses the put. */
  readonly check?: ((columns: readonly Column[]) => void) | undefined;
  /** For the columns of a frame that the put makes. */
  readonly declared?: Manifest['declared'];
  /** The values are of the declared types of the columns. Default: false for an append, else true. */
  readonly isChecked?: boolean | undefined;
  /** Likewise. */
  readonly constraints?: Manifest['constraints'];
  /** With `overwrite`: the version behind the rows. If another is held by then, the put is refused (`frame_changed`). */
  readonly replaces?: string | undefined;
  /**
   * Definition of the frame that the rows were made for, see `definitionOf`. If the frame has another one by then, the put is refused
   * (`frame_changed`). With `overwrite` the frame is altered: its time to live stays, and so does the progress of its producers.
   */
  readonly definition?: string | undefined;
  /** With `append`: seen before, the rows are not added again. A gap, or an epoch of before, is refused. */
  readonly producer?: Producer | undefined;
  /** With `append` of a batch: columns that the frame has not are added to it, NULL in the rows that it has. */
  readonly addsColumns?: boolean | undefined;
}

export interface Put extends Appended {
  /** Set if the source was a file. */
  readonly report: FileReport | undefined;
}

interface StagedRows {
  readonly columns: readonly Column[];
  readonly files: readonly StagedFile[];
  /** Columns that are checked for NULLs in files. */
  readonly notNull: readonly string[];
}

function isKeptAsItIs(source: RowSource): boolean {
  return source.kind === 'parts' || (source.kind === 'file' && source.format.kind === 'parquet');
}

/** Writes rows as a version: first beside the frame, then moved into place. */
export class FrameWriter {
  readonly #parts: WriteParts;
  readonly #state: TenantState;

  constructor(parts: WriteParts) {
    this.#parts = parts;
    this.#state = parts.state;
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

  /** Undefined if the frame is missing, or the rows cannot go to its log. */
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
    return this.#parts.appender.append(handle, { batches: fitting, producer, isChecked, definition, signal, span });
  }

  async #putParts(handle: Handle, request: PutRequest<Handle>, work: WriteOptions): Promise<Put> {
    const { signal, lane, span } = work;
    using arrival = await this.#parts.quota.arrival(lane);
    const source = await this.#sourceOf(request, handle, arrival);
    await this.#state.directory.prepare();
    const notNull = request.mode === 'append' ? await this.#notNullOf(handle) : [];
    await using brought = await StagedParts.stage(this.#state, source, { ...work, notNull });
    const wider = request.mode === 'append' ? this.#widenedRows(handle, brought) : undefined;
    await using widenedParts = wider && (await StagedParts.stageRows(this.#state, wider, { ...work, notNull }));
    const staged = widenedParts ?? brought;
    const { columns, files } = staged;
    request.check?.(columns);
    const put = await inSpan(span, 'commit', () =>
      this.#parts.quota.run((assertRoom) =>
        underLock(this.#parts, handle, signal, (entry) =>
          this.#commit(
            handle,
            entry,
            { ...request, source: wider ?? request.source },
            { columns, files, notNull },
            assertRoom,
          ),
        ),
      ),
    );
    // The version is committed: a later fault must not refuse it. A file that is not recorded is examined once more, and so is
    // one that loses its second name after that.
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
    await this.#parts.quota.refuseFull(handle ?? generateHandle(), mode);
  }

  /** As far as known; the commit checks again. */
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
    await this.#parts.reconciler.reconcile(handle);
    if (isFree()) return;
    assertNoView(handle, catalog.get(handle));
    throw handleExists(handle);
  }

  /** With other servers the catalog is a moment old. */
  async #lookUnlessKnown(handle: Handle): Promise<void> {
    const { catalog, context } = this.#state;
    await context.peers.refresh();
    if (context.peers.hasPeers) catalog.suspect(handle);
    if (catalog.get(handle) === undefined || catalog.isSuspect(handle)) await this.#parts.reconciler.reconcile(handle);
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

  /** Text has few types of its own, so appended text gets the types of the frame. */
  async #withFrameTypes(source: RowSource, handle: Handle): Promise<RowSource> {
    if (source.kind !== 'file' || source.format.kind === 'parquet') return source;
    await this.#lookUnlessKnown(handle);
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held' || entry.version.isExpired(this.#state.context.now())) return source;
    return { ...source, format: { ...source.format, like: entry.version.manifest.columns } };
  }

  async #commit(
    handle: Handle,
    entry: Entry | undefined,
    request: PutRequest<Handle>,
    { columns, files: staged, notNull }: StagedRows,
    assertRoom: AssertRoom,
  ): Promise<Appended> {
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
    // Rows in the log come before these rows.
    await using logged = before.tail.rows === 0 ? undefined : await stageTail(this.#state, before);
    const files = [...(logged?.files ?? []), ...staged];
    const isKept = isKeptAsItIs(request.source);
    const placed = await placeBehind(this.#state, before, files, (file, name) =>
      writtenPart(this.#state, file, name, { isKept: isKept && staged.includes(file) }),
    );
    const isWider = columns.length > manifest.columns.length;
    const parts = isWider ? ofWiderFrame(placed.parts, staged.length, manifest.columns.length) : placed.parts;
    const rows = rowsOf(parts);
    const facts = {
      ...grownFacts(before, rows, columns),
      ...(!request.isChecked && needsCheckedRows(manifest) && { hasUncheckedRows: true as const }),
      ttlMs: request.ttlMs === undefined ? manifest.ttlMs : request.ttlMs,
      ...(marks.all.length > 0 && { producers: marks.all }),
    };
    const next = { ...placed, parts, facts, tail: Tail.empty(rows) };
    const version = await commitVersion(this.#parts, before, next);
    if (placed.moved !== undefined) await this.#state.partLinks.noteWritten([placed.moved]).catch(() => {});
    await this.#parts.appender.removeLog(handle);
    return { version, rows: rowsOfFiles(staged), bytes: bytesOf(staged), isRepeated: false };
  }

  async #replace(
    request: PutRequest<Handle>,
    handle: Handle,
    entry: Entry | undefined,
    columns: readonly Column[],
    staged: readonly StagedFile[],
  ): Promise<Appended> {
    const { context } = this.#state;
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
    const facts = {
      ...newFacts(this.#state, handle, before),
      ttlMs: altered === undefined ? ttlMs : altered.manifest.ttlMs,
      columns,
      declared,
      ...(request.isChecked === false && needsCheckedRows({ declared }) && { hasUncheckedRows: true as const }),
      constraints,
      ...(producers.length > 0 && { producers }),
    };
    const version = await commitVersion(this.#parts, before, { ...placed, facts });
    // Also the log of a damaged frame.
    if (entry !== undefined) await this.#parts.appender.removeLog(handle);
    return { version, rows: rowsOfFiles(staged), bytes: bytesOf(staged), isRepeated: false };
  }

  #isExpired(entry: Entry): entry is Extract<Entry, { kind: 'held' }> {
    return entry.kind === 'held' && entry.version.isExpired(this.#state.context.now());
  }
}

/** If another server replaced the frame meanwhile, other columns may be NOT NULL. */
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
