import { lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Handle } from '../../core/names/handle.ts';
import { type DurableFiles, storage } from './durable-file.ts';
import type { Manifest } from './manifest.ts';
import type { ManifestFiles } from './manifest-files.ts';
import { type FileIdentity, sameFiles, sameIdentity } from './part.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** Moves data to its public name, durably. Leaves nothing behind when it rejects. */
export type Placement = () => Promise<Placed>;

/** A file that becomes a part of a folder under this name. */
export interface PlacedPart {
  readonly path: string;
  readonly name: string;
}

interface Placed {
  takeBack(): Promise<void>;
  /** When it is certain that nothing is taken back. */
  readonly settle?: () => Promise<void>;
}

/** Parts that a placement could not take back: the pending record stays, by which they are known. */
class LeftBehind extends Error {
  constructor(options: { readonly cause: unknown }) {
    super('parts of a put could not be taken back', options);
  }
}

/**
 * Makes versions visible. The manifest is written before the data moves, as a pending one, so that after a crash the
 * data either is still what the old manifest says or is what the pending one says, and a full disk is noticed before
 * anything is replaced.
 */
export class Commits {
  readonly #directory: TenantDirectory;
  readonly #records: ManifestFiles;
  readonly #durable: DurableFiles;
  readonly #logger: Logger;

  constructor(directory: TenantDirectory, records: ManifestFiles, durable: DurableFiles, logger: Logger) {
    this.#directory = directory;
    this.#records = records;
    this.#durable = durable;
    this.#logger = logger;
  }

  async commit(manifest: Manifest, place: Placement, { syncPending = false } = {}): Promise<void> {
    const { handle } = manifest;
    await using manifests = await this.#records.openManifests();
    let placed: Placed | undefined;
    try {
      await this.#records.writePending(manifest);
      if (syncPending) await this.#records.syncPending();
      placed = await place();
      await this.#records.promotePending(handle);
    } catch (error) {
      if (error instanceof LeftBehind) throw error.cause;
      await this.#attempt('take back', handle, async () => {
        await placed?.takeBack();
        await this.#records.dropPending(handle);
      });
      throw error;
    }
    await this.#attempt('clean up after', handle, async () => placed?.settle?.());
    await manifests.sync();
    // Not before: a power cut could bring back the manifest of these files.
    await this.#attempt('clean up after', handle, async () => {
      await this.removeFiles(manifest.replaces);
      await this.#records.dropTombstone(handle);
    });
  }

  /** Ends an interrupted commit whose data is in place. Only now may the superseded data be removed. */
  async finish(handle: Handle): Promise<void> {
    await this.#durable.syncDirectory(this.#directory.root);
    await this.#durable.syncDirectory(this.#directory.path(handle)).catch((error) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
    });
    await using manifests = await this.#records.openManifests();
    await this.#records.takeOverPending(handle);
    await this.#records.promotePending(handle);
    await manifests.sync();
  }

  /** Removes those files that are unchanged, and folders that are empty then. */
  async removeFiles(files: readonly FileIdentity[]): Promise<void> {
    if (files.length === 0) return;
    for (const file of files) {
      const found = await this.#directory.identify(this.#directory.path(file.file));
      if (found !== undefined && sameIdentity(found, file))
        await this.#directory.discard(this.#directory.path(file.file));
    }
    for (const folder of new Set(files.map((file) => dirname(file.file)).filter((name) => name !== '.'))) {
      const path = this.#directory.path(folder);
      const isGone = await rmdir(path).then(
        () => true,
        (error) => errnoOf(error) === 'ENOENT',
      );
      // A later manifest need not name them any more.
      if (!isGone) await this.#durable.syncDirectory(path);
    }
    await this.#durable.syncDirectory(this.#directory.root);
  }

  /** The same, so that a crash leaves all or none of them; a folder with other files is emptied one by one. */
  async removeAtOnce(handle: Handle, files: readonly FileIdentity[]): Promise<void> {
    const { folder } = await this.#directory.look(handle);
    const names = await readdir(this.#directory.path(handle)).catch(() => []);
    const isOurs = files.length > 1 && sameFiles(files, folder) && names.length === files.length;
    const isFolder = await lstat(this.#directory.path(handle)).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    if (!isOurs || !isFolder) return this.removeFiles(files);
    const taken = this.#directory.newTemporaryPath('');
    try {
      await this.#durable.rename(this.#directory.path(handle), taken);
    } catch (error) {
      // A name may need disk space, too, which is missing.
      if (['ENOSPC', 'EDQUOT', 'ENOENT'].includes(errnoOf(error) ?? '')) return this.removeFiles(files);
      throw error;
    }
    await this.#durable.syncDirectory(this.#directory.root);
    await rm(taken, { recursive: true, force: true });
  }

  /** Those of the files that could not be removed yet and are unchanged. */
  async stillThere(files: readonly FileIdentity[]): Promise<FileIdentity[]> {
    const looks = await Promise.all(
      files.map(async (file) => ({ file, found: await this.#directory.identify(this.#directory.path(file.file)) })),
    );
    return looks.flatMap(({ file, found }) => (found !== undefined && sameIdentity(found, file) ? [file] : []));
  }

  /** A new public file where none is. */
  create(handle: Handle, temporary: string): Placement {
    const path = this.#directory.path(this.#directory.fileName(handle));
    return async () => {
      if (!(await this.#durable.linkNew(temporary, path))) throw taken(handle);
      return this.#synced(this.#directory.root, { takeBack: () => this.#directory.discard(path) });
    };
  }

  /** A file in the place of a file. */
  replace(file: string, temporary: string): Placement {
    const path = this.#directory.path(file);
    const kept = this.#directory.newTemporaryPath();
    return async () => {
      const isKept = await this.#durable.linkNew(path, kept).catch(() => false);
      try {
        await this.#durable.rename(temporary, path);
      } catch (error) {
        await rm(kept, { force: true });
        throw error;
      }
      const takeBack = async (): Promise<void> => {
        if (isKept) await this.#durable.rename(kept, path);
      };
      return this.#synced(dirname(path), { takeBack, settle: () => rm(kept, { force: true }) });
    };
  }

  /** A new folder where none is. */
  createFolder(handle: Handle, parts: readonly PlacedPart[]): Placement {
    const folder = this.#directory.path(handle);
    const made = this.#directory.newTemporaryPath('');
    return async () => {
      try {
        await storage(() => mkdir(made));
        for (const { path, name } of parts) await this.#durable.linkNew(path, join(made, name));
        await this.#durable.syncDirectory(made);
        await this.#durable.rename(made, folder);
      } catch (error) {
        await rm(made, { recursive: true, force: true });
        if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw taken(handle);
        throw error;
      }
      const takeBack = async (): Promise<void> => {
        await this.#durable.rename(folder, made);
        await rm(made, { recursive: true });
      };
      return this.#synced(this.#directory.root, { takeBack });
    };
  }

  /** More parts in the folder. */
  addParts(handle: Handle, parts: readonly PlacedPart[]): Placement {
    return async () => {
      const added: string[] = [];
      const takeBack = async (): Promise<void> => {
        for (const path of added) await this.#directory.discard(path);
      };
      try {
        for (const { path, name } of parts) {
          const target = this.#directory.path(this.#directory.partName(handle, name));
          if (!(await this.#durable.linkNew(path, target))) throw taken(handle);
          added.push(target);
        }
        await this.#durable.syncDirectory(this.#directory.path(handle));
      } catch (error) {
        await takeBack().catch(() => {
          throw new LeftBehind({ cause: error });
        });
        throw error;
      }
      return { takeBack };
    };
  }

  /** Only the manifest changes. */
  inPlace(): Placement {
    return async () => ({ takeBack: async () => {} });
  }

  async #synced(folder: string, placed: Placed): Promise<Placed> {
    try {
      await this.#durable.syncDirectory(folder);
    } catch (error) {
      await placed.takeBack().catch(() => {});
      throw error;
    }
    return placed;
  }

  async #attempt(what: string, handle: Handle, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#logger.warn(`could not ${what} a put; a restart will`, { handle, error: String(error) });
    }
  }
}

function taken(handle: Handle): AppError {
  return new AppError('handle_exists', `${handle} is taken: a file or folder from outside has its name`, {
    hint: 'choose another handle, or say overwrite',
  });
}

/** A name for a part behind `last` in name order. */
export function nextPartName(last: string): string {
  const base = last.slice(0, -'.parquet'.length);
  const [, stem = base, digits] = /^(.*?)(\d{6})$/.exec(base) ?? [];
  if (digits === undefined || digits === '999999') return `${base}_000001.parquet`;
  return `${stem}${String(Number(digits) + 1).padStart(6, '0')}.parquet`;
}
