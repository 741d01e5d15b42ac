import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Handle } from '../../core/names/handle.ts';
import { Checksum } from '../../core/rows/checksum.ts';
import { version } from '../../core/system/version.ts';
import { DurableFiles } from '../disk/durable-file.ts';
import { sameIdentity } from '../disk/part.ts';
import { definitionsFolder, identify, onlooker, TenantDirectory, tenantRoot } from '../disk/tenant-directory.ts';
import { currentFormat, earlierBuildsMark, encodeFormat, formatPath, markText } from '../upkeep/directory-format.ts';
import { assertNoEarlierServer, assertReadableFormat } from '../upkeep/upgrade-directory.ts';
import { tenantsOf } from '../upkeep/verify-directory.ts';
import { BackupFolder, destinationFull } from './backup-folder.ts';
import { BackupSource } from './backup-source.ts';
import { copyFile, type FileCopy, linkIfPossible } from './copy-file.ts';
import { type BackupFigures, FrameBackup, type FrameOutcome } from './frame-backup.ts';
import {
  compareFrames,
  isAsListed,
  type ListedFile,
  type ListedFrame,
  ListingCursor,
  ListingWriter,
  listingName,
} from './listing.ts';

export interface BackupRequest {
  readonly coldDirectory: string;
  /** The analytics database, which may not be there. */
  readonly analyticsPath: string;
  /** The backup may be neither in it nor in the cold directory. */
  readonly dataDirectory: string;
  readonly destination: string;
  /** Number of complete backups to keep. Default: all. */
  readonly keep: number | undefined;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface BackupFault {
  /** Undefined for the analytics database. */
  readonly frame: { readonly tenant: Tenant; readonly handle: Handle } | undefined;
  readonly reason: string;
}

export interface BackupReport extends Readonly<BackupFigures> {
  readonly path: string;
  readonly faults: readonly BackupFault[];
  /** Number of removed old backups. */
  readonly removed: number;
  readonly ms: number;
}

/** Names in a backup, which is laid out as a data directory by default is. */
export const backupCold = 'cold';
export const backupAnalytics = 'analytics.duckdb';

const framesAtOnce = 4;
const mostAnalyticsLooks = 5;
const analyticsPauseMs = 100;

/** Makes a backup of a directory that servers may work on. */
export async function backupDirectory(request: BackupRequest): Promise<BackupReport> {
  const { coldDirectory, dataDirectory, destination, keep } = request;
  const begunMs = performance.now();
  const tenants = await tenantsOf(coldDirectory);
  await assertReadableFormat(coldDirectory);
  await assertNoEarlierServer(coldDirectory);
  const durable = new DurableFiles();
  await using folder = await BackupFolder.open(destination, [dataDirectory, coldDirectory], durable);
  const earlier = await folder.newest();
  const { path, partial } = await folder.begin(Date.now());
  try {
    await closeLike(partial, [dataDirectory, coldDirectory]);
    const run = new BackupRun(request, partial, durable);
    await run.all(tenants, earlier);
    await folder.complete(partial, path);
    // The last copy of a damaged frame may be in an old one.
    const removed = keep === undefined || run.faults.length > 0 ? 0 : await folder.keep(keep, path);
    return { ...run.figures, path, faults: run.faults, removed, ms: performance.now() - begunMs };
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    throw errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT' ? destinationFull(folder.path, error) : error;
  }
}

class BackupRun {
  readonly figures: BackupFigures = { frames: 0, bytes: 0, copiedBytes: 0 };
  readonly faults: BackupFault[] = [];
  readonly #request: BackupRequest;
  readonly #partial: string;
  readonly #durable: DurableFiles;

  constructor(request: BackupRequest, partial: string, durable: DurableFiles) {
    this.#request = request;
    this.#partial = partial;
    this.#durable = durable;
  }

  async all(tenants: readonly Tenant[], earlier: string | undefined): Promise<void> {
    const listing = join(this.#partial, listingName);
    const cursor = earlier === undefined ? undefined : await ListingCursor.open(earlier, join(earlier, listingName));
    try {
      await using writer = await ListingWriter.create(listing, { writtenBy: version, begunAt: Date.now() });
      await this.#analytics(cursor, writer);
      await using source = new BackupSource(this.#request.coldDirectory, this.#request.logger);
      const inOrder = [...tenants].sort((a, b) => compareFrames({ tenant: a, handle: '' }, { tenant: b, handle: '' }));
      for (const tenant of inOrder) await this.#tenant(tenant, source, cursor, writer);
      await this.#records(writer);
      const { frames, bytes } = this.figures;
      const leftOut = this.faults.map(({ frame, reason }) => ({ ...frame, reason }));
      await writer.end({ frames, bytes, ...(leftOut.length > 0 ? { leftOut } : {}) });
      await this.#durable.syncDirectory(this.#partial);
    } finally {
      await cursor?.close();
    }
  }

  async #tenant(
    tenant: Tenant,
    source: BackupSource,
    cursor: ListingCursor | undefined,
    writer: ListingWriter,
  ): Promise<void> {
    const target = new TenantDirectory(join(this.#partial, backupCold), tenant, this.#durable, onlooker);
    for (const kind of ['manifests', 'tombstones'] as const) {
      await this.#durable.makeFolder(target.recordDirectory(kind));
    }
    const add = (handle: Handle, earlier: ListedFrame | undefined): Promise<FrameOutcome> =>
      source
        .attempt(tenant, (capture) =>
          new FrameBackup({
            capture,
            target,
            root: this.#partial,
            earlierRoot: cursor?.root,
            durable: this.#durable,
            figures: this.figures,
            signal: this.#request.signal,
          }).add(handle, earlier),
        )
        .catch(outcomeOfUnreadable);
    const waiting: { readonly handle: Handle; readonly outcome: Promise<FrameOutcome> }[] = [];
    const finish = async (): Promise<void> => {
      const [first] = waiting.splice(0, 1);
      if (first === undefined) return;
      const { listed, fault } = await first.outcome;
      if (listed !== undefined) await writer.add(listed);
      if (fault !== undefined) this.faults.push({ frame: { tenant, handle: first.handle }, reason: fault });
    };
    try {
      for (const handle of await source.handles(tenant)) {
        this.#request.signal.throwIfAborted();
        const outcome = add(handle, await cursor?.frame({ tenant, handle }));
        outcome.catch(() => {});
        waiting.push({ handle, outcome });
        if (waiting.length >= framesAtOnce) await finish();
      }
      while (waiting.length > 0) await finish();
    } finally {
      await Promise.allSettled(waiting.map(({ outcome }) => outcome));
    }
    for (const folder of [target.recordDirectory('manifests'), target.recordDirectory('tombstones')]) {
      await this.#durable.syncDirectory(folder);
    }
    const definitions = definitionsFolder(tenantRoot(this.#request.coldDirectory, tenant));
    await this.#recordsIn(definitions, target.definitionsFolder, writer);
    await this.#durable.syncDirectory(target.privateFolder);
    await this.#durable.syncDirectory(target.root);
  }

  /** Other programs write it: a copy is good where it stood still meanwhile. */
  async #analytics(cursor: ListingCursor | undefined, writer: ListingWriter): Promise<void> {
    const { analyticsPath } = this.#request;
    const paths = [analyticsPath, `${analyticsPath}.wal`];
    const names = [backupAnalytics, `${backupAnalytics}.wal`];
    const earlier = (await cursor?.analytics())?.files ?? [];
    for (let look = 1; look <= mostAnalyticsLooks; look++) {
      const before = await Promise.all(paths.map(identify));
      for (const name of names) await rm(join(this.#partial, name), { force: true });
      if (before[0] === undefined) return;
      const files: ListedFile[] = [];
      for (const [at, identity] of before.entries()) {
        if (identity === undefined) continue;
        const name = names[at] as string;
        const to = join(this.#partial, name);
        const same = earlier.find(({ path, source }) => path === name && source && sameIdentity(source, identity));
        if (same !== undefined && cursor !== undefined && (await isAsListed(cursor.root, same))) {
          if (await linkIfPossible(join(cursor.root, name), to)) {
            files.push(same);
            continue;
          }
        }
        const copy = await this.#copyIfThere(paths[at] as string, to);
        if (copy === undefined) break;
        this.figures.copiedBytes += copy.identity.size;
        const { size, mtimeNs } = copy.identity;
        if (size !== identity.size) break;
        files.push({ path: name, size, checksum: copy.checksum, mtimeNs, source: identity });
      }
      const after = await Promise.all(paths.map(identify));
      const isWhole = files.length === before.filter((one) => one !== undefined).length;
      if (isWhole && before.every((one, at) => isSame(one, after[at]))) {
        for (const { size } of files) this.figures.bytes += size;
        return writer.add({ kind: 'analytics', files });
      }
      await pause(analyticsPauseMs);
    }
    for (const path of [backupAnalytics, `${backupAnalytics}.wal`])
      await rm(join(this.#partial, path), { force: true });
    const reason = `${basename(analyticsPath)} is being written; stop the program that writes it, or copy it with its own tools`;
    this.faults.push({ frame: undefined, reason });
  }

  /** The log of a database goes when its program ends, or has brought it into the database. */
  async #copyIfThere(from: string, to: string): Promise<FileCopy | undefined> {
    try {
      return await copyFile(from, to, { signal: this.#request.signal });
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' && (await identify(from)) === undefined) return undefined;
      throw error;
    }
  }

  /** Tokens, tenants, shares: small files that are replaced as a whole. */
  async #records(writer: ListingWriter): Promise<void> {
    const { coldDirectory } = this.#request;
    const target = join(this.#partial, backupCold);
    await this.#durable.makeFolder(join(target, '.framehold'));
    await this.#recordsIn(join(coldDirectory, '.framehold', 'access'), join(target, '.framehold', 'access'), writer);
    const format = await this.#made(formatPath(target), encodeFormat(currentFormat));
    const mark = await this.#made(earlierBuildsMark(target), markText);
    await writer.add({ kind: 'records', files: [format, mark] });
    await this.#durable.syncDirectory(join(target, '.framehold'));
  }

  async #made(path: string, text: string): Promise<ListedFile> {
    await this.#durable.writeFile(path, text);
    const sum = new Checksum();
    sum.update(Buffer.from(text));
    const identity = await identify(path);
    if (identity === undefined) throw new Error(`${path} was removed while the backup was made`);
    const { size, mtimeNs } = identity;
    return { path: relative(this.#partial, path), size, checksum: sum.digest(), mtimeNs };
  }

  async #recordsIn(from: string, to: string, writer: ListingWriter): Promise<void> {
    const entries = await readdir(from, { withFileTypes: true }).catch((error) => {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (entries === undefined) return;
    const { mode } = await stat(from);
    await mkdir(to);
    await chmod(to, mode & 0o777);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) await this.#recordsIn(source, target, writer);
      // A file whose name begins with a dot is being written.
      else if (entry.isFile() && !entry.name.startsWith('.')) await this.#record(source, target, writer);
    }
    await this.#durable.syncDirectory(to);
  }

  async #record(from: string, to: string, writer: ListingWriter): Promise<void> {
    try {
      const mode = (await stat(from)).mode & 0o777;
      const { checksum, identity } = await copyFile(from, to, { mode, signal: this.#request.signal });
      await chmod(to, mode);
      const { size, mtimeNs } = identity;
      this.figures.copiedBytes += size;
      this.figures.bytes += size;
      await writer.add({
        kind: 'records',
        files: [{ path: relative(this.#partial, to), size, checksum, mtimeNs, mode }],
      });
    } catch (error) {
      // It was removed meanwhile: a token that was revoked.
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** Closes the new folder to everybody to whom these folders are closed. */
async function closeLike(path: string, folders: readonly string[]): Promise<void> {
  let { mode } = await stat(path);
  for (const folder of folders) mode &= (await stat(folder).catch(() => undefined))?.mode ?? mode;
  await chmod(path, (mode & 0o777) | 0o700);
}

/** A fault of one frame does not keep other frames out of the backup. */
function outcomeOfUnreadable(error: unknown): FrameOutcome {
  const errno = errnoOf(error) ?? '';
  if (error instanceof AppError && error.code === 'overloaded') return { listed: undefined, fault: error.message };
  if (!['EIO', 'EACCES', 'EPERM', 'ENOENT', 'EISDIR', 'ELOOP'].includes(errno)) throw error;
  return { listed: undefined, fault: `it cannot be read (${errno})` };
}

function isSame(a: Awaited<ReturnType<typeof identify>>, b: typeof a): boolean {
  return a === undefined ? b === undefined : b !== undefined && sameIdentity(a, b);
}
