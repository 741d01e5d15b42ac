import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { AppError } from '../core/app-error.ts';
import type { Column } from '../core/data-type.ts';
import type { Compression, FileReport, RowSource, WrittenPart } from '../core/frame-engine.ts';
import { generateHandle, type Handle } from '../core/handle.ts';
import type { Entry } from './catalog.ts';
import { nextPartName, type Placement } from './commit.ts';
import { isFailedSync } from './durable-file.ts';
import { exists, whyNotHeld } from './frame-errors.ts';
import type { FrameVersion } from './frame-version.ts';
import { newVersionId } from './manifest.ts';
import type { FileIdentity, Part } from './part.ts';
import { justIdentity } from './part.ts';
import { PartCheck } from './part-check.ts';
import type { HeldPart } from './pins.ts';
import type { Presence } from './presence.ts';
import { filesOf, removeFrame } from './removal.ts';
import { assertSameColumns } from './schema-match.ts';
import type { TenantState } from './tenant-state.ts';

export interface PutRequest {
  /** Made by the server when absent. */
  readonly handle?: Handle | undefined;
  /** `overwrite` and `append` make the frame when it is not there. */
  readonly mode: 'create' | 'overwrite' | 'append';
  /** Null: the frame stays. Absent: as configured, or for an append as before. */
  readonly ttlMs?: number | null | undefined;
  readonly source: RowSource;
  /** Sees the columns before anything is kept; what it throws refuses the put. */
  readonly check?: ((columns: readonly Column[]) => void) | undefined;
}

export interface Put {
  readonly version: FrameVersion;
  /** Of this put alone. */
  readonly rows: number;
  /** Where the source was a file. */
  readonly report: FileReport | undefined;
}

/** What a new part is written with: cheap at first where the configured compression is slow. */
export function firstCompression(configured: Compression): {
  readonly compression: Compression;
  readonly final: boolean;
} {
  const { algorithm, level } = configured;
  const isSlow =
    (algorithm === 'zstd' && level !== undefined && level > 3) ||
    ((algorithm === 'gzip' || algorithm === 'brotli') && (level === undefined || level > 3));
  return isSlow
    ? { compression: { algorithm: 'zstd', level: 1 }, final: false }
    : { compression: configured, final: true };
}

function isKeptAsItIs(source: RowSource): boolean {
  return source.kind === 'file' && source.format.kind === 'parquet';
}

/** How rows become a version: written beside, then moved into place. */
export class Writing {
  readonly #state: TenantState;
  readonly #presence: Presence;

  constructor(state: TenantState, presence: Presence) {
    this.#state = state;
    this.#presence = presence;
  }

  async put(request: PutRequest, { signal }: { readonly signal: AbortSignal }): Promise<Put> {
    const { context, directory, locks } = this.#state;
    const handle = request.handle ?? generateHandle();
    if (directory.isReserved(handle)) {
      throw new AppError('invalid_handle', `${handle} is reserved`, { hint: 'choose another handle' });
    }
    signal.throwIfAborted();
    context.durable.assertWritable();
    if (request.mode === 'create') await this.refuseTaken(handle);
    const source = request.mode === 'append' ? await this.#fitted(request.source, handle) : request.source;
    await directory.prepare();
    const temporary = directory.newTemporaryPath();
    try {
      const written = await this.#write(source, temporary, signal);
      if (written.columns.length === 0) throw new AppError('invalid_input', 'a frame needs at least one column');
      request.check?.(written.columns);
      const version = await locks.run(handle, async () => {
        signal.throwIfAborted();
        context.durable.assertWritable();
        return this.#commit(handle, request, temporary, written);
      });
      // It is held: what fails now may not refuse it. A file that is not noted is looked at once more.
      await rm(temporary, { force: true }).catch(() => {});
      await this.#state.pins.noteWritten(version.parts.parts.slice(-1)).catch(() => {});
      return { version, rows: written.rows, report: written.report };
    } finally {
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  /** Early, before anything is written; the commit looks again. */
  async refuseTaken(handle: Handle): Promise<void> {
    if (!this.#state.catalog.get(handle)) await this.#presence.check(handle);
    const entry = this.#state.catalog.get(handle);
    const isFree = entry === undefined || entry.kind === 'gone' || this.#isExpired(entry);
    if (!isFree) throw exists(handle);
  }

  /** Text says little of its types, so what is appended has those of the frame. */
  async #fitted(source: RowSource, handle: Handle): Promise<RowSource> {
    if (source.kind !== 'file' || source.format.kind === 'parquet') return source;
    if (!this.#state.catalog.get(handle)) await this.#presence.check(handle);
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held' || entry.version.isExpired(this.#state.context.now())) return source;
    return { ...source, format: { ...source.format, like: entry.version.manifest.columns } };
  }

  async #write(source: RowSource, path: string, signal: AbortSignal): Promise<WrittenPart> {
    const { engine, compression, durable } = this.#state.context;
    try {
      return await engine.write({ source, path, compression: firstCompression(compression).compression }, { signal });
    } catch (error) {
      const isFull = error instanceof AppError && error.code === 'storage_full';
      if (isFailedSync(error) && !isFull) durable.noteFailedSync(error);
      throw error;
    }
  }

  async #commit(handle: Handle, request: PutRequest, temporary: string, written: WrittenPart): Promise<FrameVersion> {
    const { catalog, directory, commits } = this.#state;
    await this.#presence.refresh(handle);
    const before = catalog.get(handle);
    if (before !== undefined && this.#isExpired(before)) await removeFrame(this.#state, handle, before, 'expired');
    const entry = catalog.get(handle);
    const isFree = entry === undefined || entry.kind === 'gone';
    const identity = await directory.identify(temporary);
    if (identity === undefined) throw new AppError('internal', 'a file that was just written is not there');
    const part = (file: string): HeldPart => ({
      file,
      ...identity,
      sha256: written.sha256,
      rows: written.rows,
      uncompressedBytes: written.uncompressedBytes,
      final: isKeptAsItIs(request.source) || firstCompression(this.#state.context.compression).final,
      check: new PartCheck(written, { passed: true }),
    });

    if (request.mode === 'append' && !isFree) {
      if (entry.kind !== 'held') throw whyNotHeld(handle, entry);
      return this.#append(handle, request, entry, temporary, written, part);
    }
    if (request.mode === 'create' && !isFree) throw exists(handle);
    const fileName = directory.fileName(handle);
    const old = filesOf(entry);
    const isFile = old[0]?.file === fileName;
    return this.#finish(handle, request, entry, {
      columns: written.columns,
      parts: [part(fileName)],
      replaces: isFile ? [] : old.map(justIdentity),
      place: isFile ? commits.replace(fileName, temporary) : commits.create(handle, temporary),
      keepsFiles: false,
      defaultTtlMs: this.#state.context.defaultTtlMs,
      createdAt: this.#state.context.now(),
    });
  }

  async #append(
    handle: Handle,
    request: PutRequest,
    entry: Extract<Entry, { kind: 'held' }>,
    temporary: string,
    written: WrittenPart,
    part: (file: string) => HeldPart,
  ): Promise<FrameVersion> {
    const { directory, commits, pins } = this.#state;
    const { manifest, parts } = entry.version;
    assertSameColumns(handle, manifest.columns, written.columns);
    const old = parts.parts;
    const [first] = old;
    const common = {
      columns: manifest.columns,
      defaultTtlMs: manifest.ttlMs,
      createdAt: manifest.createdAt,
    };
    if (first?.file === directory.fileName(handle)) {
      const names = ['000001.parquet', '000002.parquet'] as const;
      const moved = { ...first, file: directory.partName(handle, names[0]) };
      const isUntouched = await pins.isUntouched(first);
      const version = await this.#finish(handle, request, entry, {
        ...common,
        parts: [moved, part(directory.partName(handle, names[1]))],
        replaces: [justIdentity(first)],
        place: commits.toFolder(handle, temporary, names),
        keepsFiles: false,
      });
      if (isUntouched) await pins.noteWritten([moved]).catch(() => {});
      return version;
    }
    const name = nextPartName(basename(old.at(-1)?.file ?? '000000.parquet'));
    return this.#finish(handle, request, entry, {
      ...common,
      parts: [...old, part(directory.partName(handle, name))],
      replaces: manifest.replaces,
      place: commits.addPart(handle, temporary, name),
      keepsFiles: true,
    });
  }

  async #finish(
    handle: Handle,
    request: PutRequest,
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
    },
  ): Promise<FrameVersion> {
    const { catalog, commits } = this.#state;
    const manifest = {
      handle,
      version: catalog.nextVersion(handle),
      versionId: newVersionId(),
      createdAt: next.createdAt,
      ttlMs: request.ttlMs === undefined ? next.defaultTtlMs : request.ttlMs,
      columns: next.columns,
      parts: next.parts.map(withoutCheck),
      replaces: next.replaces,
    };
    const old = entry?.kind === 'held' && !next.keepsFiles ? entry.version.parts : undefined;
    await old?.protect();
    try {
      await commits.commit(manifest, next.place);
    } catch (error) {
      old?.spare();
      // What was not taken back would else be shown only after a restart.
      await this.#presence.refresh(handle).catch(() => {});
      throw error;
    }
    return this.#state.hold(manifest, next.parts);
  }

  #isExpired(entry: Entry): entry is Extract<Entry, { kind: 'held' }> {
    return entry.kind === 'held' && entry.version.isExpired(this.#state.context.now());
  }
}

export function withoutCheck({ check: _, ...part }: HeldPart): Part {
  return part;
}
