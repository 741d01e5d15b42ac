import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../core/logs/logger.ts';
import type { Handle } from '../../core/names/handle.ts';

export interface WatchOptions {
  readonly path: string;
  readonly logger: Logger;
  /** Something happened to entries of these names. */
  readonly onNames: (names: ReadonlySet<string>) => Promise<void>;
  /** Entries came or went; `isPrecise` if `onNames` also reports replaced ones. */
  readonly onListing: (options: { readonly isPrecise: boolean }) => Promise<void>;
  /** Time to look at everything. */
  readonly onRescan: () => Promise<void>;
}

const pollMs = 500;
const rescanEveryPolls = 60;
const gatherMs = 25;
const foldersAPoll = 64;

/**
 * Notices changes from outside. `fs.watch` is quick but may be missing (network file systems, no inotify watches left) and does
 * not report changes inside folders, so modification times are polled as well.
 */
export class DirectoryWatch {
  readonly #options: WatchOptions;
  readonly #gathered = new Set<string>();
  readonly #folders = new Map<Handle, bigint | undefined>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #gatherTimer: NodeJS.Timeout | undefined;
  #changedAt: bigint | undefined;
  #polls = 0;
  #polling: Promise<void> | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#watch();
    this.#timer = setInterval(() => {
      this.#polling ??= this.#poll()
        .catch((error) => this.#options.logger.warn('could not look for changes', { error: String(error) }))
        .finally(() => {
          this.#polling = undefined;
        });
    }, pollMs).unref();
  }

  /** The folders whose insides are polled. */
  setFolders(folders: ReadonlySet<Handle>): void {
    for (const known of this.#folders.keys()) if (!folders.has(known)) this.#folders.delete(known);
    for (const folder of folders) if (!this.#folders.has(folder)) this.#folders.set(folder, undefined);
  }

  async dispose(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#gatherTimer);
    this.#watcher?.close();
    await this.#polling;
  }

  #watch(): void {
    try {
      const watcher = watch(this.#options.path, { persistent: false }, (_event, name) => {
        if (name !== null && !name.startsWith('.')) this.#gather(name);
      });
      watcher.on('error', (error) => {
        this.#options.logger.debug('watching stopped', { error: String(error) });
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = undefined;
      });
      this.#watcher = watcher;
    } catch (error) {
      this.#options.logger.debug('cannot watch, polling only', { error: String(error) });
    }
  }

  #gather(name: string): void {
    this.#gathered.add(name);
    this.#gatherTimer ??= setTimeout(() => {
      this.#gatherTimer = undefined;
      const names = new Set(this.#gathered);
      this.#gathered.clear();
      this.#options.onNames(names).catch((error) => {
        this.#options.logger.warn('could not look at changes', { error: String(error) });
      });
    }, gatherMs).unref();
  }

  async #poll(): Promise<void> {
    if (this.#watcher === undefined) this.#watch();
    this.#polls++;
    const changedAt = await changeTime(this.#options.path);
    const isChanged = changedAt !== this.#changedAt;
    this.#changedAt = changedAt;
    if (this.#polls % rescanEveryPolls === 0) await this.#options.onRescan();
    else if (isChanged) await this.#options.onListing({ isPrecise: this.#watcher !== undefined });
    await this.#pollFolders();
  }

  async #pollFolders(): Promise<void> {
    const changed = new Set<string>();
    for (const [folder, before] of [...this.#folders].slice(0, foldersAPoll)) {
      const changedAt = await changeTime(join(this.#options.path, folder));
      if (changedAt !== before) changed.add(folder);
      // To the end of the line, so that every folder has its turn.
      if (this.#folders.delete(folder)) this.#folders.set(folder, changedAt);
    }
    if (changed.size > 0) await this.#options.onNames(changed);
  }
}

async function changeTime(path: string): Promise<bigint | undefined> {
  try {
    return (await stat(path, { bigint: true })).mtimeNs;
  } catch {
    return undefined;
  }
}
