import { join } from 'node:path';
import { defaultTenant, isTenant, type Tenant } from '../../core/callers/principal.ts';
import type { Logger } from '../../core/logs/logger.ts';
import { type Handle, isHandle } from '../../core/names/handle.ts';
import type { DurableFiles } from '../disk/durable-file.ts';
import { otherTenants, type TenantDirectory, tenantRoot } from '../disk/tenant-directory.ts';
import { evictAllUnknown, evictProcess, evictUnknown, type PrivateFolder } from './evict-dead-process.ts';
import { PeerWatch } from './peer-watch.ts';
import { ProcessLease } from './process-lease.ts';

/** The parts that the store uses. */
export interface PeerParts {
  readonly lease: ProcessLease;
  readonly peers: PeerWatch;
  /** Cleans up after processes that ended in the middle of their work. */
  readonly cleanUp: (directory: TenantDirectory) => Promise<void>;
  /** Releases the locks of a process that this one does not know, if no process knows it. */
  readonly releaseUnknown: (directory: TenantDirectory, id: string) => Promise<void>;
}

export interface PeerGroupEvents {
  readonly onChanged: (tenant: Tenant, handle: Handle) => void;
  readonly onRead: (tenant: Tenant, handle: Handle) => void;
  /** Anything may have changed. */
  readonly onMissed: () => void;
  /** Work that another process leaves undone is ours now. */
  readonly onInherited: () => void;
  readonly onLost: () => void;
}

const ignore = (): void => {};

/** For processes without frames. */
export const ignoredEvents: PeerGroupEvents = {
  onChanged: ignore,
  onRead: ignore,
  onMissed: ignore,
  onInherited: ignore,
  onLost: ignore,
};

/** A place among the processes that serve one cold directory, from joining them to leaving or being taken for dead. */
export class PeerGroup implements AsyncDisposable {
  readonly parts: PeerParts;
  readonly #coldDirectory: string;
  readonly #lease: ProcessLease;
  readonly #peers: PeerWatch;

  constructor(coldDirectory: string, durable: DurableFiles, logger: Logger, events: PeerGroupEvents) {
    this.#coldDirectory = coldDirectory;
    this.#lease = new ProcessLease(coldDirectory, durable, logger, events.onLost);
    this.#peers = new PeerWatch(
      coldDirectory,
      this.#lease,
      {
        onLines: (lines) => dispatch(lines, events),
        onMissed: events.onMissed,
        onEnded: async (id) => {
          if (await this.#evict(id)) events.onInherited();
        },
      },
      logger,
    );
    this.parts = {
      lease: this.#lease,
      peers: this.#peers,
      cleanUp: (directory) => this.#cleanUp(directory),
      releaseUnknown: (directory, id) => this.#releaseUnknown(directory, id),
    };
    this.#lease
      .join()
      .catch((error) => logger.debug('could not join the servers of the directory', { error: String(error) }));
    this.#peers.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#peers.dispose();
    await this.#lease.leave({ isAlone: !this.#peers.hasPeers });
  }

  /** In every tenant's directory, also of tenants without requests here. */
  async #evict(id: string): Promise<boolean> {
    let isHeir = false;
    for (const tenant of [defaultTenant, ...(await otherTenants(this.#coldDirectory))]) {
      const folder = join(tenantRoot(this.#coldDirectory, tenant), '.framehold');
      const privateFolder = { folder, ownId: this.#lease.id };
      if (await evictProcess(privateFolder, id)) isHeir = true;
    }
    return isHeir;
  }

  /** A lock of an unknown owner, as after a power cut. */
  async #releaseUnknown(directory: TenantDirectory, id: string): Promise<void> {
    await this.#peers.poll();
    if (!this.#peers.isKnown(id) && id !== directory.ownId) await evictUnknown(privateFolderOf(directory), id);
  }

  async #cleanUp(directory: TenantDirectory): Promise<void> {
    await this.#peers.poll();
    await this.#peers.reapEnded();
    await evictAllUnknown(privateFolderOf(directory), async (names) => {
      // A process that joined since is known by now: its folders are made after its place is taken.
      await this.#peers.poll();
      return names.filter((name) => !this.#peers.isKnown(name));
    });
  }
}

function privateFolderOf(directory: TenantDirectory): PrivateFolder {
  return { folder: directory.privateFolder, ownId: directory.ownId };
}

function dispatch(lines: readonly string[], events: PeerGroupEvents): void {
  const seen = new Set<string>();
  for (const line of lines) {
    if (seen.has(line)) continue;
    seen.add(line);
    const [what, tenant = '', handle = ''] = line.split(' ');
    if (!isHandle(handle) || !isTenant(tenant)) continue;
    if (what === 'changed') events.onChanged(tenant, handle);
    else if (what === 'read') events.onRead(tenant, handle);
  }
}
