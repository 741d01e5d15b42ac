import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import { type DurableFiles, type OpenDirectory, storage } from './durable-file.ts';
import { encodeManifest, type Manifest, parseManifest } from './manifest.ts';
import type { Listing, TenantDirectory } from './tenant-directory.ts';
import { encodeTombstone, parseTombstone, type Tombstone } from './tombstone.ts';

/** The records of a handle on disk, besides the data. */
export interface HandleRecords {
  readonly manifest: Manifest | undefined;
  /** Written before the data is moved into place: a process that finds its data there may finish the commit. */
  readonly pending: Manifest | undefined;
  readonly tombstone: Tombstone | undefined;
}

/** The small files beside the data: manifests, pending ones, and tombstones. */
export class ManifestFiles {
  readonly #directory: TenantDirectory;
  readonly #durable: DurableFiles;

  constructor(directory: TenantDirectory, durable: DurableFiles) {
    this.#directory = directory;
    this.#durable = durable;
  }

  /** `listing` saves lookups of files that are known to be missing. */
  async read(handle: Handle, listing?: Listing): Promise<HandleRecords> {
    const isThere = (kind: 'manifests' | 'pending' | 'tombstones') =>
      listing === undefined || listing[kind].has(handle);
    const [manifest, pending, tombstone] = await Promise.all([
      isThere('manifests') ? this.#directory.readRecord('manifests', handle) : undefined,
      isThere('pending') ? this.#directory.readPending(handle) : undefined,
      isThere('tombstones') ? this.#directory.readRecord('tombstones', handle) : undefined,
    ]);
    return {
      manifest: manifest === undefined ? undefined : parseManifest(manifest, handle),
      pending: pending === undefined ? undefined : parseManifest(pending, handle),
      tombstone: tombstone === undefined ? undefined : parseTombstone(tombstone, handle),
    };
  }

  /** There is a manifest, and it cannot be believed. */
  async isManifestDamaged(handle: Handle): Promise<boolean> {
    const text = await this.#directory.readRecord('manifests', handle);
    return text !== undefined && parseManifest(text, handle) === undefined;
  }

  async writePending(manifest: Manifest): Promise<void> {
    const path = this.#directory.ownPendingPath(manifest.handle);
    try {
      await this.#durable.writeFile(path, encodeManifest(manifest));
    } catch (error) {
      await this.#durable.remove(path).catch(() => {});
      throw error;
    }
  }

  async syncPending(): Promise<void> {
    await this.#durable.syncDirectory(dirname(this.#directory.newTemporaryPath()));
  }

  async promotePending(handle: Handle): Promise<void> {
    await this.#durable.rename(this.#directory.ownPendingPath(handle), this.#directory.recordPath('manifests', handle));
  }

  /** Takes over a commit that another process left in the middle. */
  async takeOverPending(handle: Handle): Promise<void> {
    const left = this.#directory.recordPath('pending', handle);
    try {
      await this.#durable.linkNew(left, this.#directory.ownPendingPath(handle));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    await this.#directory.discard(left);
  }

  openManifests(): Promise<OpenDirectory> {
    return this.#durable.openDirectory(this.#directory.recordDirectory('manifests'));
  }

  async syncManifests(): Promise<void> {
    await using manifests = await this.openManifests();
    await manifests.sync();
  }

  async dropPending(handle: Handle): Promise<void> {
    await this.#durable.remove(this.#directory.ownPendingPath(handle));
  }

  /** Also one of another process. */
  async dropAnyPending(handle: Handle): Promise<void> {
    await this.dropPending(handle);
    await this.#directory.discard(this.#directory.recordPath('pending', handle));
  }

  /** For a frame from outside: lost in a power cut, it is made again, so it need not be synced. */
  async writeAdopted(manifest: Manifest): Promise<void> {
    const temporary = this.#directory.newTemporaryPath('.json');
    await storage(async () => {
      await writeFile(temporary, encodeManifest(manifest), { flag: 'wx' });
      await rename(temporary, this.#directory.recordPath('manifests', manifest.handle));
    });
    await this.dropAnyPending(manifest.handle);
    await this.dropTombstone(manifest.handle);
  }

  async dropManifest(handle: Handle): Promise<void> {
    await this.#directory.discard(this.#directory.recordPath('manifests', handle));
    await this.dropAnyPending(handle);
  }

  async writeTombstone(tombstone: Tombstone): Promise<void> {
    const temporary = this.#directory.newTemporaryPath('.json');
    const path = this.#directory.recordPath('tombstones', tombstone.handle);
    await using tombstones = await this.#durable.openDirectory(this.#directory.recordDirectory('tombstones'));
    try {
      await this.#durable.writeFile(temporary, encodeTombstone(tombstone));
      await this.#durable.rename(temporary, path);
    } catch (error) {
      await this.#durable.remove(temporary).catch(() => {});
      throw error;
    }
    try {
      await tombstones.sync();
    } catch (error) {
      // Otherwise the next start would complete a failed drop.
      await this.#directory.discard(path).catch(() => {});
      throw error;
    }
  }

  async dropTombstone(handle: Handle): Promise<void> {
    await this.#directory.discard(this.#directory.recordPath('tombstones', handle));
  }
}
