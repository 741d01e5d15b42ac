import { chmod, mkdir, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isTenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { isHandle } from '../../core/names/handle.ts';
import { Checksum } from '../../core/rows/checksum.ts';
import { DurableFiles } from '../disk/durable-file.ts';
import { encodeManifest, parseManifest } from '../disk/manifest.ts';
import { onlooker, TenantDirectory } from '../disk/tenant-directory.ts';
import { takeExclusiveFile } from '../peers/exclusive-file.ts';
import { assertReadableFormat } from '../upkeep/upgrade-directory.ts';
import { type BackupFault, backupAnalytics, backupCold } from './backup-directory.ts';
import { backupsIn, isBackup } from './backup-folder.ts';
import { copyFile } from './copy-file.ts';
import { partialOf, restoreLockOf } from './cut-off-restore.ts';
import { movedManifest } from './frame-backup.ts';
import {
  type LeftOut,
  type ListedFile,
  type ListedFrame,
  type ListingEnd,
  listingName,
  readListing,
} from './listing.ts';

export interface RestoreRequest {
  /** A backup, or the folder of several, of which it is the newest. */
  readonly source: string;
  /** Absent or empty. */
  readonly coldDirectory: string;
  readonly analyticsPath: string;
  readonly signal: AbortSignal;
}

export interface RestoreReport {
  readonly backup: string;
  readonly frames: number;
  readonly bytes: number;
  /** Damaged parts of the backup, which were left out. */
  readonly faults: readonly BackupFault[];
  /** Frames that are not in the backup, because they could not be copied then. */
  readonly leftOut: readonly BackupFault[];
  readonly ms: number;
}

/** A file of the backup is not as it was written. */
class Damaged extends Error {}

/** Makes a data directory of a backup. It gets its name when it is whole. */
export async function restoreBackup(request: RestoreRequest): Promise<RestoreReport> {
  const begunMs = performance.now();
  const backup = await findBackup(resolve(request.source));
  const listed = await checkListing(backup);
  await assertReadableFormat(join(backup, backupCold));
  const durable = new DurableFiles();
  const named = resolve(request.coldDirectory);
  await durable.makeFolder(dirname(named));
  // A link to an empty folder stays one.
  const cold = await realpath(named).catch(() => named);
  const lock = await takeExclusiveFile(restoreLockOf(cold), durable);
  if (lock.kind === 'elsewhere') throw new AppError('overloaded', `another restore to ${cold} is under way`);
  await using _ = lock;
  await assertFree(cold, request.analyticsPath, listed.hasAnalytics);
  const partial = partialOf(cold);
  await rm(partial, { recursive: true, force: true });
  const work = new Restore(backup, partial, request, durable);
  try {
    await work.all();
    await work.complete(cold);
    const leftOut = (listed.end.leftOut ?? []).map(faultOf);
    return { backup, ...work.figures, faults: work.faults, leftOut, ms: performance.now() - begunMs };
  } catch (error) {
    await work.remove();
    if (errnoOf(error) !== 'ENOSPC' && errnoOf(error) !== 'EDQUOT') throw error;
    throw new AppError('storage_full', `there is no room for the backup in ${dirname(cold)}`, {
      hint: 'make room there; nothing was restored',
      cause: error,
    });
  }
}

async function findBackup(source: string): Promise<string> {
  if (!(await stat(source).catch(() => undefined))?.isDirectory()) {
    throw new AppError('invalid_input', `there is no folder ${source}`, {
      hint: 'name a backup, or the folder in which backups lie',
    });
  }
  if (await isBackup(source)) return source;
  const newest = (await backupsIn(source)).at(-1);
  if (newest !== undefined) return newest;
  throw new AppError('invalid_input', `${source} is no backup and has none in it: there is no ${listingName}`, {
    hint: 'name what "framehold backup" has made',
  });
}

/** Before any change: the whole listing must be as it was written. */
async function checkListing(backup: string): Promise<{ readonly end: ListingEnd; readonly hasAnalytics: boolean }> {
  const path = join(backup, listingName);
  let end: ListingEnd | undefined;
  let hasAnalytics = false;
  try {
    for await (const line of readListing(path)) {
      if (line.kind === 'end') end = line;
      if (line.kind === 'analytics') hasAnalytics = line.files.length > 0;
    }
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is damaged' : (errnoOf(error) ?? (error as Error).message);
    throw new AppError('invalid_input', `${path} cannot be used: ${reason}`, {
      hint: 'restore another backup, or copy the Parquet files of this one to a new cold directory',
      cause: error,
    });
  }
  if (end === undefined) throw new AppError('internal', `${path} has no end`);
  return { end, hasAnalytics };
}

function faultOf({ tenant = '', handle = '', reason }: LeftOut): BackupFault {
  return { frame: isTenant(tenant) && isHandle(handle) ? { tenant, handle } : undefined, reason };
}

async function assertFree(cold: string, analyticsPath: string, hasAnalytics: boolean): Promise<void> {
  const found = await stat(cold).catch(() => undefined);
  if (found !== undefined) {
    const names = found.isDirectory() ? await readdir(cold) : ['a file'];
    if (names.length > 0) {
      throw new AppError('invalid_input', `${cold} is there and not empty`, {
        hint: 'name another data directory with --data-dir, or move this one away',
      });
    }
    if (found.dev !== (await stat(dirname(cold))).dev) {
      throw new AppError('invalid_input', `${cold} is a disk of its own, whose place nothing can take`, {
        hint: 'restore to a folder on it, and name that as the data directory',
      });
    }
  }
  if (hasAnalytics && (await stat(analyticsPath).catch(() => undefined)) !== undefined) {
    throw new AppError('invalid_input', `${analyticsPath} is there, and the backup has one as well`, {
      hint: 'move it away, or name another file with --duckdb-path',
    });
  }
}

class Restore {
  readonly figures = { frames: 0, bytes: 0 };
  readonly faults: BackupFault[] = [];
  readonly #backup: string;
  readonly #partial: string;
  readonly #request: RestoreRequest;
  readonly #durable: DurableFiles;
  readonly #folders = new Set<string>();
  readonly #analytics: { readonly from: string; readonly to: string }[] = [];

  constructor(backup: string, partial: string, request: RestoreRequest, durable: DurableFiles) {
    this.#backup = backup;
    this.#partial = partial;
    this.#request = request;
    this.#durable = durable;
  }

  async all(): Promise<void> {
    await this.#makeFolder(this.#partial);
    for await (const line of readListing(join(this.#backup, listingName))) {
      this.#request.signal.throwIfAborted();
      if (line.kind === 'frame') await this.#frame(line);
      if (line.kind === 'records') for (const file of line.files) await this.#record(file);
      if (line.kind === 'analytics') await this.#analyticsFiles(line.files);
    }
    for (const folder of this.#folders) await this.#durable.syncDirectory(folder);
  }

  async complete(cold: string): Promise<void> {
    const mode = (await stat(cold).catch(() => undefined))?.mode;
    if (mode !== undefined) await chmod(this.#partial, mode & 0o7777);
    for (const { from, to } of this.#analytics) await rename(from, to);
    try {
      await this.#durable.rename(this.#partial, cold);
    } catch (error) {
      for (const { to } of this.#analytics) await rm(to, { force: true });
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
      throw new AppError('invalid_input', `${cold} was made while the backup was restored`, {
        hint: 'stop the server that made it, and move it away',
      });
    }
    await this.#durable.syncDirectory(dirname(cold));
    for (const { to } of this.#analytics) await this.#durable.syncDirectory(dirname(to));
  }

  /** Removes all that was made so far. */
  async remove(): Promise<void> {
    const made = [this.#partial, ...this.#analytics.map(({ from }) => from)];
    for (const path of made) await rm(path, { recursive: true, force: true }).catch(() => {});
  }

  async #frame(listed: ListedFrame): Promise<void> {
    const { tenant, handle, parts, manifest, others } = listed;
    if (!isTenant(tenant) || !isHandle(handle)) return;
    const target = new TenantDirectory(this.#partial, tenant, this.#durable, onlooker);
    const made: string[] = [];
    try {
      // Before the others: without it the rows of the log belong to nothing.
      const text = manifest === undefined ? undefined : await this.#textOf(manifest);
      const known = text === undefined ? undefined : parseManifest(text, handle);
      if (manifest !== undefined && known === undefined) throw new Damaged('its manifest is not readable');
      for (const file of [...parts, ...others]) await this.#copy(file, made);
      if (manifest !== undefined && known !== undefined) {
        const path = this.#targetOf(manifest);
        await this.#makeFolder(dirname(path));
        made.push(path);
        await this.#durable.writeFile(path, encodeManifest(await movedManifest(known, parts, target)));
      }
      if (parts.length > 0 || known?.view !== undefined) this.figures.frames++;
      for (const { size } of [...parts, ...others]) this.figures.bytes += size;
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      for (const path of made) await rm(path, { force: true });
      this.faults.push({ frame: { tenant, handle }, reason: error.message });
    }
  }

  async #record(file: ListedFile & { readonly mode?: number }): Promise<void> {
    const made: string[] = [];
    try {
      await this.#copy(file, made);
      const [path] = made;
      if (path === undefined) return;
      if (file.mode !== undefined) await chmod(path, file.mode);
      await this.#keepModes(dirname(file.path));
      this.figures.bytes += file.size;
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      this.faults.push({ frame: undefined, reason: error.message });
    }
  }

  /** Folders of access records may be closed to others. */
  async #keepModes(folder: string): Promise<void> {
    if (basename(folder) === '.framehold' || folder === '.') return;
    const { mode } = await stat(join(this.#backup, folder));
    await chmod(join(this.#partial, ...folder.split('/').slice(1)), mode & 0o7777);
    await this.#keepModes(dirname(folder));
  }

  async #analyticsFiles(files: readonly ListedFile[]): Promise<void> {
    const { analyticsPath, signal } = this.#request;
    const begun: { readonly from: string; readonly to: string }[] = [];
    try {
      await this.#durable.makeFolder(dirname(resolve(analyticsPath)));
      for (const file of files) {
        const to = `${analyticsPath}${file.path.slice(backupAnalytics.length)}`;
        const from = `${to}.partial`;
        await rm(from, { force: true });
        const { checksum } = await this.#read(file, (path) => copyFile(path, from, { signal }));
        begun.push({ from, to });
        if (checksum !== file.checksum) throw new Damaged(`${file.path}: its bytes are not those that were written`);
        this.figures.bytes += file.size;
      }
      this.#analytics.push(...begun);
    } catch (error) {
      for (const { from } of begun) await rm(from, { force: true });
      if (!(error instanceof Damaged)) throw error;
      this.faults.push({ frame: undefined, reason: error.message });
    }
  }

  async #copy(file: ListedFile, made: string[]): Promise<void> {
    const to = this.#targetOf(file);
    await this.#makeFolder(dirname(to));
    const { signal } = this.#request;
    const copy = await this.#read(file, (from) => copyFile(from, to, { checksumLike: file.checksum, signal }));
    made.push(to);
    if (copy.checksum !== file.checksum || copy.identity.size !== file.size) {
      await rm(to, { force: true });
      throw new Damaged(`${file.path}: its bytes are not those that were written`);
    }
  }

  async #textOf(file: ListedFile): Promise<string> {
    const text = await this.#read(file, (path) => readFile(path, 'utf8'));
    const sum = new Checksum();
    sum.update(Buffer.from(text));
    if (sum.digest() !== file.checksum) throw new Damaged(`${file.path}: its bytes are not those that were written`);
    return text;
  }

  async #read<T>(file: ListedFile, read: (path: string) => Promise<T>): Promise<T> {
    const path = join(this.#backup, file.path);
    try {
      return await read(path);
    } catch (error) {
      const errno = errnoOf(error);
      const isOfBackup = (error as NodeJS.ErrnoException).path === path || errno === 'EIO';
      if (isOfBackup && (errno === 'ENOENT' || errno === 'EIO' || errno === 'EACCES')) {
        throw new Damaged(`${file.path}: ${errno === 'ENOENT' ? 'it is missing' : `it cannot be read (${errno})`}`);
      }
      throw error;
    }
  }

  /** The target path for a file of the backup's cold directory. */
  #targetOf({ path }: ListedFile): string {
    const [first, ...rest] = path.split('/');
    if (first !== backupCold || rest.length === 0 || rest.includes('..')) {
      throw new Damaged(`${path} lies outside of the backup`);
    }
    return join(this.#partial, ...rest);
  }

  /** With its parent folders, all of which are made durable at the end. */
  async #makeFolder(path: string): Promise<void> {
    if (this.#folders.has(path)) return;
    if (path !== this.#partial) await this.#makeFolder(dirname(path));
    this.#folders.add(path);
    await mkdir(path).catch((error) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
  }
}
