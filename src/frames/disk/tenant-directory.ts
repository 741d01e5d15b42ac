import type { BigIntStats } from 'node:fs';
import { readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultTenant, isTenant, type Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { type Handle, isHandle, randomBase32 } from '../../core/names/handle.ts';
import { type DurableFiles, storage } from './durable-file.ts';
import { type FileIdentity, type Identity, identityOf } from './part.ts';

/** Prefix of records that a process has written beside the others and not yet moved into place. */
export const pendingPrefix = 'pending-';

/** The process that works in the directory. */
interface DirectoryOwner {
  readonly id: string;
  /** Resolves when others can know of it. */
  join(): Promise<void>;
}

/** For callers that only read, or run without a server: they need no place among the processes of the directory. */
export const onlooker: DirectoryOwner = { id: 'onlooker', join: async () => {} };

/** The files on the disk under a handle's names. */
export interface FilesOnDisk {
  readonly file: FileIdentity | undefined;
  /** Parquet files of the handle's folder, in name order. */
  readonly folder: readonly FileIdentity[];
}

/** The handles with files on the disk, by kind of file. */
export interface Listing {
  readonly files: ReadonlySet<Handle>;
  readonly folders: ReadonlySet<Handle>;
  readonly manifests: ReadonlySet<Handle>;
  readonly pending: ReadonlySet<Handle>;
  readonly tombstones: ReadonlySet<Handle>;
  readonly logs: ReadonlySet<Handle>;
}

type RecordKind = 'manifests' | 'pending' | 'tombstones';

const othersName = 'tenants';
const privateName = '.framehold';
const logsName = 'logs';
const suffix = '.parquet';
const recordSuffix = '.json';

/** The directory of one tenant. */
export class TenantDirectory {
  readonly tenant: Tenant;
  readonly root: string;
  readonly #durable: DurableFiles;
  readonly #lease: DirectoryOwner;
  #prepared: Promise<void> | undefined;
  #hasOwnFolders = false;

  constructor(coldDirectory: string, tenant: Tenant, durable: DurableFiles, lease: DirectoryOwner) {
    if (!isTenant(tenant)) throw new AppError('internal', 'not a name for a tenant');
    this.tenant = tenant;
    this.#durable = durable;
    this.#lease = lease;
    this.root = tenantRoot(coldDirectory, tenant);
  }

  path(file: string): string {
    return join(this.root, file);
  }

  fileName(handle: Handle): string {
    return `${handle}${suffix}`;
  }

  partName(handle: Handle, name: string): string {
    return `${handle}/${name}`;
  }

  recordPath(kind: RecordKind, handle: Handle): string {
    return join(this.root, privateName, kind, `${handle}${recordSuffix}`);
  }

  recordDirectory(kind: RecordKind): string {
    return join(this.root, privateName, kind);
  }

  /** Id of this process, among those that serve the same directory. */
  get ownId(): string {
    return this.#lease.id;
  }

  get privateFolder(): string {
    return join(this.root, privateName);
  }

  newTemporaryPath(ending = suffix): string {
    return join(this.#ownFolder('tmp'), `${randomBase32(16)}${ending}`);
  }

  /** Folder of this process for the files that it reads, under names that no other process changes. */
  get pinsFolder(): string {
    return this.#ownFolder('pins');
  }

  newPinPath(): string {
    return join(this.pinsFolder, `${randomBase32(16)}${suffix}`);
  }

  /** A manifest that this process is about to commit. */
  ownPendingPath(handle: Handle): string {
    return join(this.#ownFolder('tmp'), `${pendingPrefix}${handle}${recordSuffix}`);
  }

  /** Rows that were appended and are not in Parquet yet. */
  logsFolder(handle: Handle): string {
    return join(this.root, privateName, logsName, handle);
  }

  /** Folder of macros and types. */
  get definitionsFolder(): string {
    return definitionsFolder(this.root);
  }

  tokenPath(number: number): string {
    return join(this.#ownFolder('tmp'), `token-${number}`);
  }

  lockPath(handle: Handle): string {
    return join(this.root, privateName, 'locks', handle);
  }

  #ownFolder(kind: 'tmp' | 'pins'): string {
    return join(this.root, privateName, kind, this.ownId);
  }

  /** The folder of the default tenant that holds the other tenants cannot be a frame. */
  isReserved(handle: Handle): boolean {
    return this.tenant === defaultTenant && handle === othersName;
  }

  /** The handles that an entry of this name may belong to. */
  handlesNamed(name: string): Handle[] {
    const names = name.endsWith(suffix) ? [name.slice(0, -suffix.length), name] : [name];
    return names.filter((one) => isHandle(one)).filter((one) => !this.isReserved(one));
  }

  /** Makes the private folders, durably. Cheap after the first time. */
  prepare(): Promise<void> {
    this.#prepared ??= this.#makeFolders().catch((error) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #makeFolders(): Promise<void> {
    await this.#lease.join();
    for (const name of ['manifests', 'pending', 'tombstones', 'locks', logsName]) {
      await this.#durable.makeFolder(join(this.root, privateName, name));
    }
    for (const kind of ['tmp', 'pins'] as const) await this.#durable.makeFolder(this.#ownFolder(kind));
    this.#hasOwnFolders = true;
  }

  /** When the process ends. */
  async removeOwnFolders(): Promise<void> {
    if (this.#prepared === undefined) return;
    await this.#prepared.catch(() => {});
    for (const kind of ['tmp', 'pins'] as const) await rm(this.#ownFolder(kind), { recursive: true, force: true });
  }

  /**
   * Removes a file that others may replace: it is moved to our own folder first. A process that was taken for dead has no folder
   * any more, so it removes nothing.
   */
  async discard(path: string): Promise<void> {
    if (!this.#hasOwnFolders) return this.#durable.remove(path);
    const taken = this.newTemporaryPath('');
    try {
      await storage(() => rename(path, taken));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT') return;
      // A name may need disk space, too, which is missing.
      if (errno === 'ENOSPC' || errno === 'EDQUOT') return this.#durable.remove(path);
      throw error;
    }
    await unlink(taken).catch(() => {});
  }

  async list(): Promise<Listing> {
    const [entries, manifests, pending, tombstones, logs] = await Promise.all([
      this.listPublic(),
      this.#recorded('manifests'),
      this.#recorded('pending'),
      this.#recorded('tombstones'),
      namesIn(join(this.root, privateName, logsName)),
    ]);
    return { ...entries, manifests, pending, tombstones, logs: new Set(logs.filter((name) => isHandle(name))) };
  }

  async listPublic(): Promise<Pick<Listing, 'files' | 'folders'>> {
    const files = new Set<Handle>();
    const folders = new Set<Handle>();
    for (const entry of await orEmpty(() => readdir(this.root, { withFileTypes: true }))) {
      const [first] = this.handlesNamed(entry.name);
      if (first === undefined) continue;
      if (entry.isDirectory()) folders.add(entry.name as Handle);
      else if (entry.name.endsWith(suffix)) files.add(first);
    }
    return { files, folders };
  }

  async #recorded(kind: RecordKind): Promise<Set<Handle>> {
    const names = await namesIn(this.recordDirectory(kind));
    const handles = names
      .filter((name) => name.endsWith(recordSuffix))
      .map((name) => name.slice(0, -recordSuffix.length));
    return new Set(handles.filter((name) => isHandle(name)));
  }

  readRecord(kind: RecordKind, handle: Handle): Promise<string | undefined> {
    return this.#readText(this.recordPath(kind, handle));
  }

  /** The manifest of our own coming commit, or of one that another process left in the middle. */
  async readPending(handle: Handle): Promise<string | undefined> {
    return (await this.#readText(this.ownPendingPath(handle))) ?? this.readRecord('pending', handle);
  }

  async #readText(path: string): Promise<string | undefined> {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  identify(path: string): Promise<Identity | undefined> {
    return identify(path);
  }

  stats(path: string): Promise<BigIntStats | undefined> {
    return statsOf(path);
  }

  /** `listing` saves lookups of files that are known to be missing. */
  async look(handle: Handle, listing?: Listing): Promise<FilesOnDisk> {
    const [file, folder] = await Promise.all([
      listing?.files.has(handle) === false ? undefined : this.#lookAt(this.fileName(handle)),
      listing?.folders.has(handle) === false ? [] : this.#lookInto(handle),
    ]);
    return { file, folder };
  }

  async #lookAt(file: string): Promise<FileIdentity | undefined> {
    const identity = await this.identify(this.path(file));
    return identity === undefined ? undefined : { file, ...identity };
  }

  async #lookInto(handle: Handle): Promise<FileIdentity[]> {
    const names = await namesIn(this.path(handle));
    const parts = names.filter((name) => name.endsWith(suffix) && !/^[._]/.test(name)).sort();
    const looks = await Promise.all(parts.map((name) => this.#lookAt(this.partName(handle, name))));
    return looks.filter((look) => look !== undefined);
  }
}

/** Undefined where there is no file. */
export async function identify(path: string): Promise<Identity | undefined> {
  const stats = await statsOf(path);
  return stats === undefined ? undefined : identityOf(stats);
}

async function statsOf(path: string): Promise<BigIntStats | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    return stats.isFile() ? stats : undefined;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

export function definitionsFolder(root: string): string {
  return join(root, privateName, 'definitions');
}

export function tenantRoot(coldDirectory: string, tenant: Tenant): string {
  return tenant === defaultTenant ? coldDirectory : join(coldDirectory, othersName, tenant);
}

/** The tenants that have a folder of their own: all but the default one. */
export async function otherTenants(coldDirectory: string): Promise<Tenant[]> {
  const entries = await readdir(join(coldDirectory, othersName), { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.filter((name) => isTenant(name)).filter((tenant) => tenant !== defaultTenant);
}

/** Frames of a tenant by the names on the disk, without a server. */
export async function countFrames(coldDirectory: string, tenant: Tenant): Promise<number> {
  const entries = await orEmpty(() => readdir(tenantRoot(coldDirectory, tenant), { withFileTypes: true }));
  const names = entries
    .filter((entry) => entry.isDirectory() || entry.name.endsWith(suffix))
    .map(({ name }) => (name.endsWith(suffix) ? name.slice(0, -suffix.length) : name));
  return new Set(names.filter((name) => isHandle(name))).size;
}

function namesIn(folder: string): Promise<string[]> {
  return orEmpty(() => readdir(folder));
}

async function orEmpty<T>(read: () => Promise<T[]>): Promise<T[]> {
  try {
    return await read();
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP';
}
