import { join } from 'node:path';
import { type Handle, isHandle } from '../../core/handle.ts';
import type { Logger } from '../../core/logger.ts';
import { defaultTenant, isTenant, type Tenant } from '../../core/principal.ts';
import type { DurableFiles } from '../disk/durable-file.ts';
import { otherTenants, type TenantDirectory, tenantRoot } from '../disk/tenant-directory.ts';
import { evictAllUnknown, evictProcess, evictUnknown, type PrivateFolder } from './evict-dead-process.ts';
import { PeerWatch } from './peer-watch.ts';
import { ProcessLease } from './process-lease.ts';

/** What the store uses of it. */
export interface PeerParts {
  readonly lease: ProcessLease;
  readonly peers: PeerWatch;
  /** Removes what processes that are over left in the middle of their work. */
  readonly cleanUp: (directory: TenantDirectory) => Promise<void>;
  /** Takes the locks from a process that is not known here, if it is not known at all. */
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

/** For those who hold no frames. */
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

  /** In every tenant's directory, also of those that nobody has asked for here. */
  async #evict(id: string): Promise<boolean> {
    let isHeir = false;
    for (const tenant of [defaultTenant, ...(await otherTenants(this.#coldDirectory))]) {
      const folder = join(tenantRoot(this.#coldDirectory, tenant), '.framehold');
      const privateFolder = { folder, ownId: this.#lease.id };
      if (await evictProcess(privateFolder, id)) isHeir = true;
    }
    return isHeir;
  }

  /** A lock whose owner nobody knows, as after a power cut. */
  async #releaseUnknown(directory: TenantDirectory, id: string): Promise<void> {
    await this.#peers.poll();
    if (!this.#peers.isKnown(id) && id !== directory.ownId) await evictUnknown(privateFolderOf(directory), id);
  }

  async #cleanUp(directory: TenantDirectory): Promise<void> {
    await this.#peers.poll();
    await this.#peers.reapEnded();
    await evictAllUnknown(privateFolderOf(directory), async (names) => {
      // A process that has come since is known by now: its folders are made after its place is taken.
      await this.#peers.poll();
      return names.filter((name) => !this.#peers.isKnown(name));
    });
  }
}

function privateFolderOf(directory: TenantDirectory): PrivateFolder {
  return { folder: directory.privateFolder, ownId: directory.ownId };
}

function dispatch(lines: readonly string[], events: PeerGroupEvents): void {
  const told = new Set<string>();
  for (const line of lines) {
    if (told.has(line)) continue;
    told.add(line);
    const [what, tenant = '', handle = ''] = line.split(' ');
    if (!isHandle(handle) || !isTenant(tenant)) continue;
    if (what === 'changed') events.onChanged(tenant, handle);
    else if (what === 'read') events.onRead(tenant, handle);
  }
}
