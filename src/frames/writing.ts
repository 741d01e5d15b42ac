import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { AppError } from '../core/app-error.ts';
import type { Column } from '../core/data-type.ts';
import type { Compression, FileReport, PartRows, RowSource, WrittenPart } from '../core/frame-engine.ts';
import { generateHandle, type Handle } from '../core/handle.ts';
import type { Entry } from './catalog.ts';
import { nextPartName, type PlacedPart, type Placement } from './commit.ts';
import { isFailedSync } from './durable-file.ts';
import { exists, whyNotHeld } from './frame-errors.ts';
import type { FrameVersion } from './frame-version.ts';
import { newVersionId } from './manifest.ts';
import { lostPlace } from './membership.ts';
import type { FileIdentity, Part } from './part.ts';
import { justIdentity } from './part.ts';
import { PartCheck } from './part-check.ts';
import type { HeldPart } from './pins.ts';
import type { Presence } from './presence.ts';
import { filesOf, removeFrame } from './removal.ts';
import { assertSameColumns, columnDifference } from './schema-match.ts';
import type { TenantState } from './tenant-state.ts';
import { Turns } from './turns.ts';

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
  return source.kind === 'parts' || (source.kind === 'file' && source.format.kind === 'parquet');
}

/** A file beside the frames that becomes a part. */
interface Brought {
  readonly path: string;
  readonly written: WrittenPart;
}

/** They are read whole. */
const filesAtOnce = 2;

/** How rows become a version: written beside, then moved into place. */
export class Writing {
  readonly #state: TenantState;
  readonly #presence: Presence;

  constructor(state: TenantState, presence: Presence) {
    this.#state = state;
    this.#presence = presence;
  }

  async put(request: PutRequest, { signal }: { readonly signal: AbortSignal }): Promise<Put> {
    const { context, directory } = this.#state;
    const handle = request.handle ?? generateHandle();
    if (directory.isReserved(handle)) {
      throw new AppError('invalid_handle', `${handle} is reserved`, { hint: 'choose another handle' });
    }
    signal.throwIfAborted();
    context.durable.assertWritable();
    if (request.mode === 'create') await this.refuseTaken(handle);
    const source = request.mode === 'append' ? await this.#fitted(request.source, handle) : request.source;
    await directory.prepare();
    const temporaries: string[] = [];
    try {
      const brought = await this.#bring(source, temporaries, signal);
      const columns = columnsOf(brought);
      request.check?.(columns);
      const kept = withRows(brought);
      const version = await this.#state.change(handle, async () => {
        signal.throwIfAborted();
        context.durable.assertWritable();
        return this.#commit(handle, request, columns, kept);
      });
      // It is held: what fails now may not refuse it. A file that is not noted is looked at once more.
      await removeAll(temporaries).catch(() => {});
      await this.#state.pins.noteWritten(version.parts.parts.slice(-kept.length)).catch(() => {});
      const rows = kept.reduce((sum, { written }) => sum + written.rows, 0);
      return { version, rows, report: source.kind === 'file' ? kept[0]?.written.report : undefined };
    } finally {
      await removeAll(temporaries).catch(() => {});
    }
  }

  /** Early, before anything is written; the commit looks again. */
  async refuseTaken(handle: Handle): Promise<void> {
    const { catalog } = this.#state;
    const isFree = (): boolean => {
      const entry = catalog.get(handle);
      return entry === undefined || entry.kind === 'gone' || this.#isExpired(entry);
    };
    await this.#lookUnlessKnown(handle);
    if (isFree()) return;
    // Another server may have dropped it a moment ago.
    catalog.suspect(handle);
    await this.#presence.check(handle);
    if (!isFree()) throw exists(handle);
  }

  /** Among other servers what is known is of a moment ago. */
  async #lookUnlessKnown(handle: Handle): Promise<void> {
    const { catalog, context } = this.#state;
    await context.neighbours.refresh();
    if (context.neighbours.areThere) catalog.suspect(handle);
    if (catalog.get(handle) === undefined || catalog.isSuspect(handle)) await this.#presence.check(handle);
  }

  /** Text says little of its types, so what is appended has those of the frame. */
  async #fitted(source: RowSource, handle: Handle): Promise<RowSource> {
    if (source.kind !== 'file' || source.format.kind === 'parquet') return source;
    await this.#lookUnlessKnown(handle);
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held' || entry.version.isExpired(this.#state.context.now())) return source;
    return { ...source, format: { ...source.format, like: entry.version.manifest.columns } };
  }

  /** What the source gives, in files of our own. `temporaries` names every one that may be there, also after a failure. */
  async #bring(source: RowSource, temporaries: string[], signal: AbortSignal): Promise<Brought[]> {
    const bring = async (rows: PartRows): Promise<Brought> => {
      const path = this.#state.directory.newTemporaryPath();
      temporaries.push(path);
      return { path, written: await this.#write(rows, path, signal) };
    };
    if (source.kind !== 'parts') return [await bring(source)];
    const turns = new Turns(filesAtOnce);
    const failures: unknown[] = [];
    const results = await Promise.all(
      source.paths.map((path) =>
        turns.run(async () => {
          if (failures.length > 0) return undefined;
          return await bring({ kind: 'file', path, format: { kind: 'parquet' } }).catch((error: unknown) => {
            failures.push(error);
            return undefined;
          });
        }),
      ),
    );
    if (failures.length > 0) throw failures[0];
    return results.filter((brought) => brought !== undefined);
  }

  async #write(source: PartRows, path: string, signal: AbortSignal): Promise<WrittenPart> {
    const { engine, compression, durable, membership } = this.#state.context;
    try {
      return await engine.write({ source, path, compression: firstCompression(compression).compression }, { signal });
    } catch (error) {
      const isFull = error instanceof AppError && error.code === 'storage_full';
      if (isFailedSync(error) && !isFull) durable.noteFailedSync(error);
      if (await membership.hasLostPlace()) throw lostPlace(error);
      throw error;
    }
  }

  async #commit(
    handle: Handle,
    request: PutRequest,
    columns: readonly Column[],
    brought: readonly Brought[],
  ): Promise<FrameVersion> {
    const { catalog, context, directory, commits } = this.#state;
    await this.#presence.refresh(handle);
    const before = catalog.get(handle);
    if (before !== undefined && this.#isExpired(before)) await removeFrame(this.#state, handle, before, 'expired');
    const entry = catalog.get(handle);
    const isFree = entry === undefined || entry.kind === 'gone';
    if (request.mode === 'append' && !isFree) {
      if (entry.kind !== 'held') throw whyNotHeld(handle, entry);
      assertSameColumns(handle, entry.version.manifest.columns, columns);
      return this.#append(handle, request, entry, brought);
    }
    if (request.mode === 'create' && !isFree) throw exists(handle);
    const common = { columns, keepsFiles: false, defaultTtlMs: context.defaultTtlMs, createdAt: context.now() };
    const old = filesOf(entry);
    const replaces = old.map(justIdentity);
    const fileName = directory.fileName(handle);
    const isFile = old[0]?.file === fileName;
    const [only] = brought;
    if (only !== undefined && brought.length === 1) {
      return this.#finish(handle, request, entry, {
        ...common,
        parts: [await this.#part(request, only, fileName)],
        replaces: isFile ? [] : replaces,
        place: isFile ? commits.replace(fileName, only.path) : commits.create(handle, only.path),
      });
    }
    const isFolder = old.length > 0 && !isFile;
    const added = namedAfter(isFolder ? old.at(-1) : undefined, brought);
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
    request: PutRequest,
    entry: Extract<Entry, { kind: 'held' }>,
    brought: readonly Brought[],
  ): Promise<FrameVersion> {
    const { directory, commits, pins } = this.#state;
    const { manifest, parts } = entry.version;
    const old = parts.parts;
    const [first] = old;
    const common = {
      columns: manifest.columns,
      defaultTtlMs: manifest.ttlMs,
      createdAt: manifest.createdAt,
      partsAdded: brought.length > 1 ? brought.length : undefined,
    };
    if (first?.file === directory.fileName(handle)) {
      const name = '000001.parquet';
      const moved = { ...first, file: directory.partName(handle, name) };
      const isUntouched = await pins.isUntouched(first);
      const added = namedAfter(moved, brought);
      const version = await this.#finish(handle, request, entry, {
        ...common,
        parts: [moved, ...(await this.#parts(request, handle, added))],
        replaces: [justIdentity(first)],
        place: commits.createFolder(handle, [{ path: directory.path(first.file), name }, ...added]),
        keepsFiles: false,
      });
      if (isUntouched) await pins.noteWritten([moved]).catch(() => {});
      return version;
    }
    const added = namedAfter(old.at(-1), brought);
    return this.#finish(handle, request, entry, {
      ...common,
      parts: [...old, ...(await this.#parts(request, handle, added))],
      replaces: manifest.replaces,
      place: commits.addParts(handle, added),
      keepsFiles: true,
    });
  }

  #parts(request: PutRequest, handle: Handle, named: readonly (Brought & PlacedPart)[]): Promise<HeldPart[]> {
    const { directory } = this.#state;
    return Promise.all(named.map((each) => this.#part(request, each, directory.partName(handle, each.name))));
  }

  async #part({ source }: PutRequest, { path, written }: Brought, file: string): Promise<HeldPart> {
    const { context, directory } = this.#state;
    const identity = await directory.identify(path);
    if (identity === undefined) throw new AppError('internal', 'a file that was just written is not there');
    return {
      file,
      ...identity,
      sha256: written.sha256,
      rows: written.rows,
      uncompressedBytes: written.uncompressedBytes,
      final: isKeptAsItIs(source) || firstCompression(context.compression).final,
      check: new PartCheck(written, { passed: true }),
    };
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
      /** Where several come at once. */
      readonly partsAdded?: number | undefined;
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
      ...(next.partsAdded !== undefined && { partsAdded: next.partsAdded }),
    };
    const old = entry?.kind === 'held' && !next.keepsFiles ? entry.version.parts : undefined;
    await old?.protect();
    try {
      // Without the record nobody could tell which parts belong together.
      await commits.commit(manifest, next.place, { syncPending: next.partsAdded !== undefined });
    } catch (error) {
      old?.spare();
      // What was not taken back would else be shown only after a restart.
      await this.#presence.refresh(handle).catch(() => {});
      throw error;
    }
    this.#state.recompressLater(manifest);
    return this.#state.hold(manifest, next.parts);
  }

  #isExpired(entry: Entry): entry is Extract<Entry, { kind: 'held' }> {
    return entry.kind === 'held' && entry.version.isExpired(this.#state.context.now());
  }
}

export function withoutCheck({ check: _, ...part }: HeldPart): Part {
  return part;
}

/** All files have the same. */
function columnsOf(brought: readonly Brought[]): readonly Column[] {
  const [first, ...others] = brought.map(({ written }) => written.columns);
  if (first === undefined) throw new AppError('invalid_input', 'a frame needs at least one file');
  if (first.length === 0) throw new AppError('invalid_input', 'a frame needs at least one column');
  for (const [index, columns] of others.entries()) {
    const difference = columnDifference(first, columns);
    if (difference === undefined) continue;
    throw new AppError('schema_mismatch', `file ${index + 2} does not fit the first one: ${difference}`);
  }
  return first;
}

/** Those without rows add nothing, unless there is nothing else. */
function withRows(brought: readonly Brought[]): readonly Brought[] {
  const filled = brought.filter(({ written }) => written.rows > 0);
  return filled.length > 0 ? filled : brought.slice(0, 1);
}

/** Each with a name that comes after the one before, and all after `last`. */
function namedAfter(
  last: { readonly file: string } | undefined,
  brought: readonly Brought[],
): readonly (Brought & PlacedPart)[] {
  let name = basename(last?.file ?? '000000.parquet');
  return brought.map((each) => {
    name = nextPartName(name);
    return { ...each, name };
  });
}

async function removeAll(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}
