import { join } from 'node:path';
import { type Handle, isHandle } from '../../core/handle.ts';
import type { Logger } from '../../core/logger.ts';
import { defaultTenant, isTenant, type Tenant } from '../../core/principal.ts';
import type { StoreContext } from '../catalog/tenant-state.ts';
import type { DurableFiles } from '../disk/durable-file.ts';
import { otherTenants, type TenantDirectory, tenantRoot } from '../disk/tenant-directory.ts';
import { bury, buryStranger, buryStrangers, type Ground } from './evict-process.ts';
import { Neighbours } from './peer-watch.ts';
import { Membership } from './process-lease.ts';

export interface SharingNews {
  readonly onChanged: (tenant: Tenant, handle: Handle) => void;
  readonly onRead: (tenant: Tenant, handle: Handle) => void;
  /** Anything may have changed. */
  readonly onMissed: () => void;
  /** Work that another process leaves undone is ours now. */
  readonly onInherited: () => void;
  readonly onLost: () => void;
}

/** A place among the processes that serve one cold directory, from joining them to leaving or being taken for dead. */
export class Sharing implements AsyncDisposable {
  readonly parts: Pick<StoreContext, 'membership' | 'neighbours' | 'clearUp' | 'releaseStrange'>;
  readonly #coldDirectory: string;
  readonly #membership: Membership;
  readonly #neighbours: Neighbours;

  constructor(coldDirectory: string, durable: DurableFiles, logger: Logger, news: SharingNews) {
    this.#coldDirectory = coldDirectory;
    this.#membership = new Membership(coldDirectory, durable, logger, news.onLost);
    this.#neighbours = new Neighbours(
      coldDirectory,
      this.#membership,
      {
        onLines: (lines) => tellAll(lines, news),
        onMissed: news.onMissed,
        onEnded: async (id) => {
          if (await this.#bury(id)) news.onInherited();
        },
      },
      logger,
    );
    this.parts = {
      membership: this.#membership,
      neighbours: this.#neighbours,
      clearUp: (directory) => this.#clearUp(directory),
      releaseStrange: (directory, id) => this.#releaseStrange(directory, id),
    };
    this.#membership
      .join()
      .catch((error) => logger.debug('could not join the servers of the directory', { error: String(error) }));
    this.#neighbours.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#neighbours.dispose();
    await this.#membership.leave({ isAlone: !this.#neighbours.areThere });
  }

  /** In every tenant's directory, also of those that nobody has asked for here. */
  async #bury(id: string): Promise<boolean> {
    let isHeir = false;
    for (const tenant of [defaultTenant, ...(await otherTenants(this.#coldDirectory))]) {
      const folder = join(tenantRoot(this.#coldDirectory, tenant), '.framehold');
      const ground = { folder, ownId: this.#membership.id };
      if (await bury(ground, id)) isHeir = true;
    }
    return isHeir;
  }

  /** A lock whose owner nobody knows, as after a power cut. */
  async #releaseStrange(directory: TenantDirectory, id: string): Promise<void> {
    await this.#neighbours.poll();
    if (!this.#neighbours.isKnown(id) && id !== directory.ownId) await buryStranger(groundOf(directory), id);
  }

  async #clearUp(directory: TenantDirectory): Promise<void> {
    await this.#neighbours.poll();
    await this.#neighbours.tend();
    await buryStrangers(groundOf(directory), async (names) => {
      // A process that has come since is known by now: its folders are made after its place is taken.
      await this.#neighbours.poll();
      return names.filter((name) => !this.#neighbours.isKnown(name));
    });
  }
}

function groundOf(directory: TenantDirectory): Ground {
  return { folder: directory.privateFolder, ownId: directory.ownId };
}

function tellAll(lines: readonly string[], news: SharingNews): void {
  const told = new Set<string>();
  for (const line of lines) {
    if (told.has(line)) continue;
    told.add(line);
    const [what, tenant = '', handle = ''] = line.split(' ');
    if (!isHandle(handle) || !isTenant(tenant)) continue;
    if (what === 'changed') news.onChanged(tenant, handle);
    else if (what === 'read') news.onRead(tenant, handle);
  }
}
