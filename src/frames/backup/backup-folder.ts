import { readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { DurableFiles } from '../disk/durable-file.ts';
import { takeExclusiveFile } from '../peers/exclusive-file.ts';
import { listingName, readListingEnd } from './listing.ts';

/** `2026-11-18T193000Z` */
const backupName = /^\d{4}-\d\d-\d\dT\d{6}Z$/;
const leftoverName = /^\d{4}-\d\d-\d\dT\d{6}Z\.(partial|removed)$/;
const lockName = '.backup.lock';

/** The folder of backups, each in a subfolder with the time of its beginning as its name. */
export class BackupFolder implements AsyncDisposable {
  readonly path: string;
  readonly #durable: DurableFiles;
  readonly #lock: AsyncDisposable;

  private constructor(path: string, durable: DurableFiles, lock: AsyncDisposable) {
    this.path = path;
    this.#durable = durable;
    this.#lock = lock;
  }

  /** For a new backup. Removes the rest of an interrupted one. `sources`: folders that must not contain the backup. */
  static async open(given: string, sources: readonly string[], durable: DurableFiles): Promise<BackupFolder> {
    const path = resolve(given);
    const isThere = await isFolder(path);
    for (const source of sources) {
      if (await isInside(path, source)) {
        throw new AppError('invalid_input', `the destination ${path} lies in ${source}, which is to be backed up`, {
          hint: 'name a folder elsewhere, best on another disk',
        });
      }
    }
    const lock = await takeLock(path, isThere, durable).catch((error) => {
      throw unusable(path, error);
    });
    if (lock.kind === 'elsewhere') {
      const by = lock.process === undefined ? '' : ` (process ${lock.process.pid})`;
      throw new AppError('overloaded', `another backup to ${path} is under way${by}`, {
        hint: 'try again when it is done',
      });
    }
    const folder = new BackupFolder(path, durable, lock);
    try {
      await folder.#sweep();
      return folder;
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The paths of the next backup. */
  async begin(now: number): Promise<{ readonly path: string; readonly partial: string }> {
    for (let at = now; ; at += 1000) {
      const name = `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z`;
      const path = join(this.path, name);
      if ((await stat(path).catch(() => undefined)) !== undefined) continue;
      const partial = `${path}.partial`;
      await this.#durable.makeFolder(partial);
      return { path, partial };
    }
  }

  /** The newest complete backup. */
  async newest(): Promise<string | undefined> {
    return (await backupsIn(this.path)).at(-1);
  }

  /** Gives it its name, durably. */
  async complete(partial: string, path: string): Promise<void> {
    await this.#durable.rename(partial, path);
    await this.#durable.syncDirectory(this.path);
  }

  /**
   * Removes all backups older than the newest complete ones. Returns their number. `made`: stays, even if the clock was put back
   * and other backups have later names.
   */
  async keep(newest: number, made: string): Promise<number> {
    const all = await backupsIn(this.path);
    let first = all.length;
    for (let complete = 0; first > 0 && complete < newest; ) {
      first -= 1;
      if (await isComplete(all[first] as string)) complete += 1;
    }
    const old = all.slice(0, first).filter((path) => path !== made);
    for (const path of old) {
      // A backup that has its name is whole.
      await rename(path, `${path}.removed`);
      await rm(`${path}.removed`, { recursive: true, force: true });
    }
    if (old.length > 0) await this.#durable.syncDirectory(this.path);
    return old.length;
  }

  async #sweep(): Promise<void> {
    for (const name of await readdir(this.path)) {
      if (leftoverName.test(name)) await rm(join(this.path, name), { recursive: true, force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock[Symbol.asyncDispose]();
  }
}

/** Their paths, the oldest first. */
export async function backupsIn(path: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await readdir(path)).filter((each) => backupName.test(each)).sort()) {
    if (await isBackup(join(path, name))) found.push(join(path, name));
  }
  return found;
}

export async function isBackup(path: string): Promise<boolean> {
  return (await stat(join(path, listingName)).catch(() => undefined))?.isFile() === true;
}

/** A backup without a readable end is incomplete: it cannot be restored. */
async function isComplete(path: string): Promise<boolean> {
  const end = await readListingEnd(join(path, listingName));
  return end !== undefined && (end.leftOut ?? []).length === 0;
}

async function takeLock(path: string, isThere: boolean, durable: DurableFiles) {
  if (!isThere) await durable.makeFolder(path);
  return takeExclusiveFile(join(path, lockName), durable);
}

/** False if it can be made. Its parent folders are not: the disk that it is meant for may not be mounted. */
async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch((error) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw unusable(path, error);
  });
  if (found?.isDirectory()) return true;
  if (found !== undefined) {
    throw new AppError('invalid_input', `the destination ${path} is a file`, { hint: 'name a folder' });
  }
  if (!(await stat(dirname(path)).catch(() => undefined))?.isDirectory()) {
    throw new AppError('invalid_input', `there is no folder ${dirname(path)} for the destination ${basename(path)}`, {
      hint: 'make it, or mount the disk on which it lies',
    });
  }
  return false;
}

function unusable(path: string, error: unknown): unknown {
  if (errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT') return destinationFull(path, error);
  return new AppError('invalid_input', `the destination ${path} cannot be used (${errnoOf(error) ?? String(error)})`, {
    hint: 'name a folder that this user may write',
    cause: error,
  });
}

export function destinationFull(path: string, cause: unknown): AppError {
  return new AppError('storage_full', `the destination ${path} is full`, {
    hint: 'make room there; earlier backups are as they were, and nothing is left of this one',
    cause,
  });
}

async function isInside(path: string, folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => resolve(folder));
  const realPath = await realpath(path).catch(async () => join(await realpath(dirname(path)), basename(path)));
  const from = relative(real, realPath);
  return from === '' || !(from === '..' || from.startsWith('../') || resolve(from) === from);
}
