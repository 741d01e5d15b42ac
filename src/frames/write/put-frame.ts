import { basename } from 'node:path';
import { AppError } from '../../core/app-error.ts';
import type { Column } from '../../core/data-type.ts';
import type { FileReport, RowSource, WrittenPart } from '../../core/frame-engine.ts';
import type { FrameName } from '../../core/frame-name.ts';
import { generateHandle, type Handle } from '../../core/handle.ts';
import type { Producer } from '../../core/producer.ts';
import type { Entry } from '../catalog/catalog.ts';
import { assertSameColumns, assertWidens } from '../catalog/column-difference.ts';
import { frameChanged, handleExists, whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { nextPartName, type PlacedPart, type Placement } from '../disk/commit.ts';
import { lineageOf, newVersionId, originOf } from '../disk/manifest.ts';
import { type FileIdentity, justIdentity, type Part } from '../disk/part.ts';
import { PartCheck } from '../disk/part-check.ts';
import type { HeldPart } from '../disk/part-links.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import type { Arrival, AssertRoom, Quota } from './quota.ts';
import { filesOf, removeFrame } from './remove-frame.ts';
import { firstCompression, type StagedFile, StagedParts } from './staged-parts.ts';

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
  /** With `overwrite`: the version that the rows were made of. Where another is held by then, the put is refused (`frame_changed`). */
  readonly replaces?: string | undefined;
  /** With `append`: seen before, the rows are not added again. A gap, or an epoch of before, is refused. */
  readonly producer?: Producer | undefined;
  /** With `append` of a batch: columns that the frame has not are added to it, NULL in the rows that it has. */
  readonly addsColumns?: boolean | undefined;
}

export interface Put {
  readonly version: FrameVersion;
  /** Of this put alone. */
  readonly rows: number;
  /** Where the source was a file. */
  readonly report: FileReport | undefined;
}

function isKeptAsItIs(source: RowSource): boolean {
  return source.kind === 'parts' || (source.kind === 'file' && source.format.kind === 'parquet');
}

/** How rows become a version: written beside, then moved into place. */
export class FrameWriter {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #quota: Quota;

  constructor(state: TenantState, reconciler: Reconciler, quota: Quota) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#quota = quota;
  }

  async put(request: PutRequest<Handle>, { signal }: { readonly signal: AbortSignal }): Promise<Put> {
    const { context, directory } = this.#state;
    const handle = request.handle ?? generateHandle();
    if (directory.isReserved(handle)) {
      throw new AppError('invalid_handle', `${handle} is reserved`, { hint: 'choose another handle' });
    }
    signal.throwIfAborted();
    context.durable.assertWritable();
    await this.refusePut({ handle, mode: request.mode });
    using arrival = await this.#quota.arrival();
    const source = await this.#sourceOf(request, handle, arrival);
    await directory.prepare();
    await using staged = await StagedParts.stage(this.#state, source, signal);
    const { columns, files } = staged;
    request.check?.(columns);
    const version = await this.#quota.run((assertRoom) =>
      this.#state.change(handle, async () => {
        signal.throwIfAborted();
        context.durable.assertWritable();
        return this.#commit(handle, request, columns, files, assertRoom);
      }),
    );
    // It is held: what fails now may not refuse it. A file that is not noted is looked at once more, and so is one that
    // loses its second name after that.
    await staged.removeFiles();
    await this.#state.partLinks.noteWritten(version.parts.parts.slice(-files.length)).catch(() => {});
    const rows = files.reduce((sum, { written }) => sum + written.rows, 0);
    return { version, rows, report: source.kind === 'file' ? files[0]?.written.report : undefined };
  }

  /** Before anything is written; the commit looks again. */
  async refusePut({ handle, mode }: Pick<PutRequest<Handle>, 'handle' | 'mode'>): Promise<void> {
    if (mode === 'create' && handle !== undefined) await this.#refuseTaken(handle);
    await this.#quota.refuseFull(handle ?? generateHandle(), mode);
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
    if (!isFree()) throw handleExists(handle);
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
    columns: readonly Column[],
    staged: readonly StagedFile[],
    assertRoom: AssertRoom,
  ): Promise<FrameVersion> {
    const { catalog, context, directory, commits } = this.#state;
    await this.#reconciler.reconcileLocked(handle);
    const before = catalog.get(handle);
    if (before !== undefined && this.#isExpired(before)) await removeFrame(this.#state, handle, before, 'expired');
    const entry = catalog.get(handle);
    const isFree = entry === undefined || entry.kind === 'gone';
    const heldId = entry?.kind === 'held' ? entry.version.versionId : undefined;
    if (request.replaces !== undefined && request.replaces !== heldId) throw frameChanged(handle);
    if (request.mode === 'append' && !isFree) {
      if (entry.kind !== 'held') throw whyNotHeld(handle, entry);
      const held = entry.version.manifest.columns;
      if (request.addsColumns) assertWidens(handle, held, columns);
      else assertSameColumns(handle, held, columns);
      assertRoom({ handle, bytes: bytesOf(staged), isReplacement: false });
      return this.#append(handle, request, entry, columns, staged);
    }
    if (request.mode === 'create' && !isFree) throw handleExists(handle);
    assertRoom({ handle, bytes: bytesOf(staged), isReplacement: true });
    const common = { columns, keepsFiles: false, defaultTtlMs: context.defaultTtlMs, createdAt: context.now() };
    const old = filesOf(entry);
    const left = entry?.kind === 'held' ? await commits.stillThere(entry.version.manifest.replaces) : [];
    const replaces = [...old, ...left].map(justIdentity);
    const fileName = directory.fileName(handle);
    const isFile = old[0]?.file === fileName;
    const [only] = staged;
    if (only !== undefined && staged.length === 1) {
      return this.#finish(handle, request, entry, {
        ...common,
        parts: [await this.#part(request, only, fileName)],
        replaces: isFile ? left : replaces,
        place: isFile ? commits.replace(fileName, only.path) : commits.create(handle, only.path),
      });
    }
    const isFolder = old.length > 0 && !isFile;
    const added = namedAfter(isFolder ? lastOf([...old, ...left]) : undefined, staged);
    return this.#finish(handle, request, entry, {
      ...common,
      parts: await this.#parts(request, handle, added),
      replaces,
      place: isFolder ? commits.addParts(handle, added) : commits.createFolder(handle, added),
      partsAdded: added.length,
    });
  }

  async #append(
    handle: Handle,
    request: PutRequest<Handle>,
    entry: Extract<Entry, { kind: 'held' }>,
    columns: readonly Column[],
    staged: readonly StagedFile[],
  ): Promise<FrameVersion> {
    const { directory, commits, partLinks } = this.#state;
    const { manifest, parts } = entry.version;
    const old = ofWiderFrame(parts.parts, manifest.columns, columns);
    const [first] = old;
    const common = {
      columns,
      defaultTtlMs: manifest.ttlMs,
      createdAt: manifest.createdAt,
      lineage: lineageOf(manifest),
      partsAdded: staged.length > 1 ? staged.length : undefined,
    };
    if (first?.file === directory.fileName(handle)) {
      const name = '000001.parquet';
      const moved = { ...first, file: directory.partName(handle, name) };
      const isUntouched = await partLinks.isUntouched(first);
      const added = namedAfter(moved, staged);
      const version = await this.#finish(handle, request, entry, {
        ...common,
        parts: [moved, ...(await this.#parts(request, handle, added))],
        replaces: [justIdentity(first)],
        place: commits.createFolder(handle, [{ path: directory.path(first.file), name }, ...added]),
        keepsFiles: false,
      });
      if (isUntouched) await partLinks.noteWritten([moved]).catch(() => {});
      return version;
    }
    const left = await commits.stillThere(manifest.replaces);
    const added = namedAfter(lastOf([...old, ...left]), staged);
    return this.#finish(handle, request, entry, {
      ...common,
      parts: [...old, ...(await this.#parts(request, handle, added))],
      replaces: left,
      place: commits.addParts(handle, added),
      keepsFiles: true,
    });
  }

  #parts(
    request: PutRequest<Handle>,
    handle: Handle,
    named: readonly (StagedFile & PlacedPart)[],
  ): Promise<HeldPart[]> {
    const { directory } = this.#state;
    return Promise.all(named.map((each) => this.#part(request, each, directory.partName(handle, each.name))));
  }

  async #part({ source }: PutRequest<Handle>, { path, written }: StagedFile, file: string): Promise<HeldPart> {
    const { context, directory } = this.#state;
    const identity = await directory.identify(path);
    if (identity === undefined) throw new AppError('internal', 'a file that was just written is not there');
    return {
      file,
      ...identity,
      checksum: written.checksum,
      rows: written.rows,
      uncompressedBytes: written.uncompressedBytes,
      final: isKeptAsItIs(source) || (written.isCompressed && firstCompression(context.compression).final),
      check: new PartCheck(written, { passed: true }),
    };
  }

  async #finish(
    handle: Handle,
    request: PutRequest<Handle>,
    entry: Entry | undefined,
    next: {
      readonly columns: WrittenPart['columns'];
      readonly parts: readonly HeldPart[];
      readonly replaces: readonly FileIdentity[];
      readonly place: Placement;
      /** The files of the version before stay where they are. */
      readonly keepsFiles: boolean;
      readonly defaultTtlMs: number | null;
      readonly createdAt: number;
      /** Of the version before, where its rows stay. */
      readonly lineage?: string | undefined;
      /** Where several come at once. */
      readonly partsAdded?: number | undefined;
    },
  ): Promise<FrameVersion> {
    const { catalog, commits } = this.#state;
    const manifest = {
      handle,
      version: catalog.nextVersion(handle),
      versionId: newVersionId(),
      ...(entry?.kind === 'held' && { origin: originOf(entry.version.manifest) }),
      ...(next.lineage !== undefined && { lineage: next.lineage }),
      createdAt: next.createdAt,
      ttlMs: request.ttlMs === undefined ? next.defaultTtlMs : request.ttlMs,
      columns: next.columns,
      parts: next.parts.map(withoutCheck),
      replaces: next.replaces,
      ...(next.partsAdded !== undefined && { partsAdded: next.partsAdded }),
    };
    const old = entry?.kind === 'held' && !next.keepsFiles ? entry.version.parts : undefined;
    await old?.protect();
    try {
      // Without the record nobody could tell which parts belong together.
      await commits.commit(manifest, next.place, { syncPending: next.partsAdded !== undefined });
    } catch (error) {
      old?.unprotect();
      // What was not taken back would else be shown only after a restart.
      await this.#reconciler.reconcileLocked(handle).catch(() => {});
      throw error;
    }
    this.#state.rewriteLater(manifest);
    return this.#state.hold(manifest, next.parts);
  }

  #isExpired(entry: Entry): entry is Extract<Entry, { kind: 'held' }> {
    return entry.kind === 'held' && entry.version.isExpired(this.#state.context.now());
  }
}

function bytesOf(staged: readonly StagedFile[]): number {
  return staged.reduce((sum, { written }) => sum + written.bytes, 0);
}

/** What they are where the frame has more columns. */
function ofWiderFrame(
  parts: readonly HeldPart[],
  before: readonly Column[],
  after: readonly Column[],
): readonly HeldPart[] {
  if (before.length === after.length) return parts;
  return parts.map((part) => ({ ...part, columnCount: part.columnCount ?? before.length }));
}

export function withoutCheck({ check: _, ...part }: HeldPart): Part {
  return part;
}

/** By name. Files that are to go have names of their own until they are gone. */
function lastOf(files: readonly FileIdentity[]): FileIdentity | undefined {
  return files.reduce<FileIdentity | undefined>(
    (last, file) => (last === undefined || file.file > last.file ? file : last),
    undefined,
  );
}

/** Each with a name that comes after the one before, and all after `last`. */
function namedAfter(
  last: { readonly file: string } | undefined,
  staged: readonly StagedFile[],
): readonly (StagedFile & PlacedPart)[] {
  let name = basename(last?.file ?? '000000.parquet');
  return staged.map((each) => {
    name = nextPartName(name);
    return { ...each, name };
  });
}
