import type { Tenant } from '../../core/callers/principal.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Handle } from '../../core/names/handle.ts';
import { DurableFiles } from '../disk/durable-file.ts';
import { ManifestFiles } from '../disk/manifest-files.ts';
import { TenantDirectory } from '../disk/tenant-directory.ts';
import { ignoredEvents, PeerGroup } from '../peers/peer-group.ts';
import { SharedLocks } from '../peers/shared-locks.ts';
import { FrameCapture } from './frame-capture.ts';

const mostAttempts = 3;

/** The source directory. The backup joins its servers as a process, so that they do not change the files that it reads. */
export class BackupSource implements AsyncDisposable {
  readonly #coldDirectory: string;
  readonly #logger: Logger;
  #place: Place;
  #replacing: Promise<void> | undefined;

  constructor(coldDirectory: string, logger: Logger) {
    this.#coldDirectory = coldDirectory;
    this.#logger = logger;
    this.#place = new Place(coldDirectory, logger);
  }

  /** All that have anything on the disk, sorted. */
  async handles(tenant: Tenant): Promise<Handle[]> {
    const { directory } = this.#place.of(tenant);
    const { files, folders, manifests, pending, tombstones } = await directory.list();
    const all = new Set([...files, ...folders, ...manifests, ...pending, ...tombstones]);
    return [...all].filter((handle) => !directory.isReserved(handle)).sort();
  }

  /** Again under another name where the servers took this process for dead, and its links away. */
  async attempt<T>(tenant: Tenant, task: (capture: FrameCapture) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const place = this.#place;
      await place.entered;
      try {
        return await task(place.of(tenant).capture);
      } catch (error) {
        if (attempt === mostAttempts) throw error;
        if (await place.isLost()) await this.#replace(place);
        // Without links of our own, servers may take files away.
        else if (errnoOf(error) !== 'ENOENT') throw error;
      }
    }
  }

  async #replace(lost: Place): Promise<void> {
    if (this.#place === lost) {
      this.#place = new Place(this.#coldDirectory, this.#logger);
      this.#replacing = lost[Symbol.asyncDispose]();
    }
    await this.#replacing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place[Symbol.asyncDispose]();
  }
}

/** One stay among the servers. */
class Place implements AsyncDisposable {
  readonly entered: Promise<void>;
  readonly #coldDirectory: string;
  readonly #durable = new DurableFiles();
  readonly #group: PeerGroup;
  readonly #closing = new AbortController();
  readonly #tenants = new Map<Tenant, { readonly directory: TenantDirectory; readonly capture: FrameCapture }>();

  constructor(coldDirectory: string, logger: Logger) {
    this.#coldDirectory = coldDirectory;
    this.#group = new PeerGroup(coldDirectory, this.#durable, logger, ignoredEvents);
    this.entered = this.#group.parts.peers.poll();
    this.entered.catch(() => {});
  }

  of(tenant: Tenant): { readonly directory: TenantDirectory; readonly capture: FrameCapture } {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const { lease, peers, releaseUnknown } = this.#group.parts;
    const directory = new TenantDirectory(this.#coldDirectory, tenant, this.#durable, lease);
    const locks = new SharedLocks({
      directory,
      hasPeers: () => peers.hasPeers,
      releaseUnknown: (id) => releaseUnknown(directory, id),
      signal: this.#closing.signal,
    });
    const made = {
      directory,
      capture: new FrameCapture(directory, new ManifestFiles(directory, this.#durable), locks),
    };
    this.#tenants.set(tenant, made);
    return made;
  }

  isLost(): Promise<boolean> {
    return this.#group.parts.lease.hasLostLease();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const { directory } of this.#tenants.values()) await directory.removeOwnFolders();
    await this.#group[Symbol.asyncDispose]();
  }
}
