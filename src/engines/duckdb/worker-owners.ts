import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { defaultTenant, type Tenant } from '../../core/callers/principal.ts';
import type { PartSource } from '../../core/rows/frame-engine.ts';
import type { SqlTable } from '../../core/sql/sql.ts';
import type { NativeCopies } from './native-copies.ts';
import type { WorkerOwner } from './pool/worker-process.ts';

/** All that SQL can read while there is one tenant. */
export interface SqlReach {
  readonly coldDirectory: string;
  readonly warmDirectory: string;
  readonly analyticsPath: string;
  /** With rows of the external database, for each tenant in a folder of its own. Undefined: there is none. */
  readonly liveDirectory?: string | undefined;
}

/** The files that a tenant may read. */
export interface TenantReach {
  /** Folder with links to the frames' files. Undefined if the disk cannot be written. */
  readonly linksFolder: string | undefined;
  readonly hasAnalytics: boolean;
  /** It is granted the external database. Default false. */
  readonly hasLive?: boolean;
  /** Changes when other frames are shared with the tenant: its processes must forget the frames that it lost. */
  readonly shared: string;
}

export type ReachOf = (tenant: Tenant) => Promise<TenantReach>;

/** Chooses the processes for a statement: shared by all callers, or the tenant's own. */
export class WorkerOwners {
  /** The owner for all callers, if there is one tenant. */
  readonly everyone: WorkerOwner | undefined;
  readonly #analyticsPath: string;
  readonly #liveDirectory: string | undefined;
  readonly #nativeCopies: NativeCopies;
  readonly #reachOf: ReachOf | undefined;
  readonly #shared = new Map<Tenant, string>();
  readonly #liveFolders = new Set<Tenant>();

  constructor(reach: SqlReach, nativeCopies: NativeCopies, reachOf: ReachOf | undefined) {
    const { coldDirectory, warmDirectory, analyticsPath, liveDirectory } = reach;
    const directories = [coldDirectory, warmDirectory, ...(liveDirectory === undefined ? [] : [liveDirectory])];
    const files = withLog(analyticsPath);
    const everyone = { key: 'everyone', tenant: '', sql: { directories, files, analyticsPath, isConfined: false } };
    this.everyone = reachOf === undefined ? everyone : undefined;
    this.#analyticsPath = analyticsPath;
    this.#liveDirectory = liveDirectory;
    this.#nativeCopies = nativeCopies;
    this.#reachOf = reachOf;
  }

  /** The owner for a statement over these tables. */
  async of(tenant: Tenant = defaultTenant, tables: readonly SqlTable[] = []): Promise<WorkerOwner> {
    if (this.#reachOf === undefined || this.everyone !== undefined) return this.everyone as WorkerOwner;
    const { linksFolder, hasAnalytics, hasLive = false, shared } = await this.#reachOf(tenant);
    this.#forgetShared(tenant, shared);
    const analyticsPath = hasAnalytics ? this.#analyticsPath : undefined;
    const liveFolder = hasLive ? await this.#liveFolderOf(tenant) : undefined;
    const folders = [linksFolder, this.#nativeCopies.folderOf(tenant), liveFolder];
    const directories = folders.filter((folder) => folder !== undefined);
    const parts = tables.flatMap((table) => (table.kind === 'frame' ? table.parts : []));
    const files = [...outside(parts, linksFolder), ...(analyticsPath === undefined ? [] : withLog(analyticsPath))];
    // The kernel's rules are about files, not about their names: one in the place of another needs another process.
    const known = await Promise.all(files.map(identify));
    const key = JSON.stringify([tenant, shared, directories, files, known]);
    return { key, tenant, sql: { directories, files, analyticsPath, isConfined: true } };
  }

  /** The kernel's rule for a process covers only folders that exist when it starts. */
  async #liveFolderOf(tenant: Tenant): Promise<string | undefined> {
    if (this.#liveDirectory === undefined) return undefined;
    const folder = join(this.#liveDirectory, tenant);
    if (!this.#liveFolders.has(tenant)) await mkdir(folder, { recursive: true }).catch(() => {});
    this.#liveFolders.add(tenant);
    return folder;
  }

  #forgetShared(tenant: Tenant, shared: string): void {
    const before = this.#shared.get(tenant);
    this.#shared.set(tenant, shared);
    if (before !== undefined && before !== shared) this.#nativeCopies.forgetShared(tenant);
  }
}

function withLog(analyticsPath: string): readonly string[] {
  return [analyticsPath, `${analyticsPath}.wal`];
}

/** Files that cannot be reached by the folder: where the file system has no hard links, and behind symbolic links. */
function outside(parts: readonly PartSource[], folder: string | undefined): readonly string[] {
  const paths = parts.filter(({ path, isElsewhere }) => isElsewhere === true || dirname(path) !== folder);
  return [...new Set(paths.map(({ path }) => path))].sort();
}

async function identify(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}
