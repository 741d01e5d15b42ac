import type { Handle } from '../../core/names/handle.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { DirectoryWatch } from '../disk/directory-watch.ts';
import type { Listing } from '../disk/tenant-directory.ts';
import type { Reconciler } from './reconciler.ts';

const looksAtOnce = 32;

/** Finds the frames of a tenant: all at the start, then the changed ones. */
export class Scanner implements AsyncDisposable {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #watch: DirectoryWatch;
  /** Resolves when everything on the disk is in the catalog. */
  loaded: Promise<void> = Promise.resolve();
  #rescanning: Promise<void> = Promise.resolve();

  constructor(state: TenantState, reconciler: Reconciler) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#watch = new DirectoryWatch({
      path: state.directory.root,
      logger: state.context.logger,
      onNames: (names) => this.#lookAtNames(names),
      onListing: (options) => this.#lookAtListing(options),
      onRescan: () => this.#rescan(),
    });
  }

  start(): void {
    this.#watch.start();
    this.loaded = this.#load().catch((error) => {
      this.#state.context.logger.error('could not read the cold directory', { error: String(error) });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch.dispose();
    await this.loaded;
  }

  /** Handles that others changed, or may have. */
  async lookAtSuspects(isWanted: (handle: Handle) => boolean): Promise<void> {
    const { catalog } = this.#state;
    const wanted = catalog.suspects().filter(isWanted);
    if (wanted.length > 0) await this.#each(wanted, (handle) => this.#reconciler.reconcile(handle));
  }

  lookSoon(handle: Handle): void {
    void this.#each([handle], (one) => this.#reconciler.reconcile(one));
  }

  /** Resolves when everything that other processes did before this call is in the catalog. */
  async catchUp(): Promise<void> {
    await this.loaded;
    await this.#state.context.peers.poll();
    await this.#rescanning;
    await this.lookAtSuspects(() => true);
    // A look that another one began has taken the suspicion away, and may not be done.
    await this.#reconciler.idle();
  }

  rescanSoon(): void {
    const before = this.#rescanning;
    this.#rescanning = this.#rescan().catch((error) => {
      this.#state.context.logger.warn('could not look for changes', { error: String(error) });
    });
    this.#rescanning = Promise.all([before, this.#rescanning]).then(() => {});
  }

  async #load(): Promise<void> {
    const { directory, catalog, context } = this.#state;
    const begun = performance.now();
    await context.cleanUp(directory).catch((error) => {
      context.logger.debug('could not sweep what was left over', { error: String(error) });
    });
    const listing = await directory.list();
    this.#watch.setFolders(listing.folders);
    const handles = new Set(Object.values(listing).flatMap((some: ReadonlySet<Handle>) => [...some]));
    await this.#each(handles, async (handle) => {
      if (catalog.get(handle) !== undefined) return;
      // If the look fails, the next request for the frame looks again.
      catalog.suspect(handle);
      await this.#reconciler.reconcile(handle, listing);
    });
    if (context.signal.aborted) return;
    this.#state.isLoaded = true;
    const ms = Math.round(performance.now() - begun);
    context.logger.debug('loaded', { tenant: directory.tenant, handles: handles.size, ms });
  }

  async #lookAtNames(names: ReadonlySet<string>): Promise<void> {
    const handles = [...names].flatMap((name) => this.#state.directory.handlesNamed(name));
    await this.#each(handles, (handle) => this.#lookAt(handle));
  }

  async #lookAtListing({ isPrecise }: { readonly isPrecise: boolean }): Promise<void> {
    const { directory, catalog } = this.#state;
    const { files, folders } = await directory.listPublic();
    this.#watch.setFolders(folders);
    await this.loaded;
    if (!isPrecise) return this.#rescan({ files, folders });
    const isThere = (handle: Handle): boolean => files.has(handle) || folders.has(handle);
    const came = [...files, ...folders].filter((handle) => (catalog.get(handle)?.kind ?? 'gone') === 'gone');
    const went = catalog.handles().filter((handle) => catalog.get(handle)?.kind !== 'gone' && !isThere(handle));
    await this.#each([...came, ...went], (handle) => this.#lookAt(handle));
  }

  async #rescan(listing?: Pick<Listing, 'files' | 'folders'>): Promise<void> {
    const { directory, catalog } = this.#state;
    await this.loaded;
    const { files, folders } = listing ?? (await directory.listPublic());
    this.#watch.setFolders(folders);
    await this.#each(new Set([...files, ...folders, ...catalog.handles()]), (handle) => this.#lookAt(handle));
  }

  async #lookAt(handle: Handle): Promise<void> {
    const { catalog, locks } = this.#state;
    if (locks.isHeld(handle) || catalog.isSuspect(handle) || !(await this.#reconciler.isAsKnown(handle))) {
      await this.#reconciler.reconcile(handle);
    }
  }

  async #each(handles: Iterable<Handle>, task: (handle: Handle) => Promise<void>): Promise<void> {
    const { context } = this.#state;
    const queue = [...handles];
    const worker = async (): Promise<void> => {
      for (let handle = queue.pop(); handle !== undefined; handle = queue.pop()) {
        if (context.signal.aborted) return;
        try {
          await task(handle);
        } catch (error) {
          context.logger.warn('could not look at a frame', { handle, error: String(error) });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(looksAtOnce, queue.length) }, worker));
  }
}
