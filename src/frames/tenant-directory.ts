import type { BigIntStats } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../core/app-error.ts';
import type { Handle } from '../core/handle.ts';
import { isHandle, randomBase32 } from '../core/handle.ts';
import { isOfOtherLivingProcess, processPrefix } from '../core/living-process.ts';
import type { Tenant } from '../core/principal.ts';
import { defaultTenant } from '../core/principal.ts';
import { type DurableFiles, errnoOf } from './durable-file.ts';
import type { FileIdentity, Identity } from './part.ts';
import { identityOf } from './part.ts';

/** What lies on the disk under a handle's names. */
export interface Look {
  readonly file: FileIdentity | undefined;
  /** Parquet files of the handle's folder, in name order. */
  readonly folder: readonly FileIdentity[];
}

/** The handles that have anything on the disk, by what they have. */
export interface Listing {
  readonly files: ReadonlySet<Handle>;
  readonly folders: ReadonlySet<Handle>;
  readonly manifests: ReadonlySet<Handle>;
  readonly pending: ReadonlySet<Handle>;
  readonly tombstones: ReadonlySet<Handle>;
}

type RecordKind = 'manifests' | 'pending' | 'tombstones';

const privateName = '.framehold';
const suffix = '.parquet';
const recordSuffix = '.json';

/** Where everything of one tenant lies. */
export class TenantDirectory {
  readonly tenant: Tenant;
  readonly root: string;
  readonly #durable: DurableFiles;
  /** Tells our temporary names from those of other processes, living or dead. */
  readonly #tag = `${processPrefix()}${randomBase32(8)}`;
  #prepared: Promise<void> | undefined;

  constructor(coldDirectory: string, tenant: Tenant, durable: DurableFiles) {
    if (!isHandle(tenant)) throw new AppError('internal', 'not a name for a tenant');
    this.tenant = tenant;
    this.#durable = durable;
    this.root = tenant === defaultTenant ? coldDirectory : join(coldDirectory, 'tenants', tenant);
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

  newTemporaryPath(ending = suffix): string {
    return join(this.root, privateName, 'tmp', `${this.#tag}-${randomBase32(16)}${ending}`);
  }

  newPinPath(): string {
    return join(this.root, privateName, 'pins', `${this.#tag}-${randomBase32(16)}${suffix}`);
  }

  /** The folder of the default tenant that holds the other tenants cannot be a frame. */
  isReserved(handle: Handle): boolean {
    return this.tenant === defaultTenant && handle === 'tenants';
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
    for (const name of ['manifests', 'pending', 'tombstones', 'tmp', 'pins']) {
      await this.#durable.makeFolder(join(this.root, privateName, name));
    }
  }

  /** Removes what an earlier process left in the middle of its work; one that lives still needs its own. */
  async sweep(): Promise<void> {
    for (const name of ['tmp', 'pins']) {
      const folder = join(this.root, privateName, name);
      for (const left of await namesIn(folder)) {
        if (!left.startsWith(this.#tag) && !isOfOtherLivingProcess(left)) {
          await rm(join(folder, left), { recursive: true, force: true });
        }
      }
    }
  }

  async list(): Promise<Listing> {
    const [entries, manifests, pending, tombstones] = await Promise.all([
      this.listPublic(),
      this.#recorded('manifests'),
      this.#recorded('pending'),
      this.#recorded('tombstones'),
    ]);
    return { ...entries, manifests, pending, tombstones };
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

  async readRecord(kind: RecordKind, handle: Handle): Promise<string | undefined> {
    try {
      return await readFile(this.recordPath(kind, handle), 'utf8');
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  async identify(path: string): Promise<Identity | undefined> {
    const stats = await this.stats(path);
    return stats === undefined ? undefined : identityOf(stats);
  }

  /** Of a file; undefined where there is none. */
  async stats(path: string): Promise<BigIntStats | undefined> {
    try {
      const stats = await stat(path, { bigint: true });
      return stats.isFile() ? stats : undefined;
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  /** `listing` saves looking for what is known not to be there. */
  async look(handle: Handle, listing?: Listing): Promise<Look> {
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
