import { mkdirSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '@framehold/async';
import { backgroundTimeoutMs } from '../../core/async/background-timeout.ts';
import { LinkedAbort } from '../../core/async/linked-abort.ts';
import { defaultTenant, type Tenant } from '../../core/callers/principal.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { FrameTable } from '../../core/sql/sql.ts';
import { newSpillDirectory, removeSpillDirectory } from './pool/spill-directory.ts';
import type { WarmCopy } from './protocol/protocol.ts';

export interface NativeCopiesOptions {
  /** Each server process keeps its copies in a folder of its own below. */
  readonly root: string;
  /** Bounds the copies on disk; 0 = none are made. */
  readonly budgetBytes: number;
  /** Writes a database file with the rows as a native table. */
  readonly copy: (frame: WarmCopy, job: { readonly signal: AbortSignal; readonly lane: string }) => Promise<void>;
  /** Default: a second, ten at most. */
  readonly pause?: Pause;
  /** Most time for a copy. Default: by the size of its frame, far longer than it ever takes. */
  readonly timeoutMs?: number;
  readonly logger: Logger;
}

/** Queries have priority for the processors: a copy waits for a pause between them, but not for ever. */
interface Pause {
  readonly ms: number;
  readonly mostMs: number;
}

interface Entry {
  /** By which it is found. */
  readonly key: string;
  /** The same for all versions of a frame. */
  readonly frame: string;
  readonly versionId: string;
  uses: number;
  state: 'cold' | 'copying' | 'warm' | 'refused';
  path: string;
  bytes: number;
  /** Stops its copy. */
  readonly forgotten: AbortController;
}

/** A frame is copied when it is queried for this many times. */
const usesUntilWarm = 2;
const mostEntries = 10_000;
/** Share of the budget: a smaller frame is copied without compression, which takes about three times the disk. */
const plainShare = 1 / 8;
const defaultPause: Pause = { ms: 1000, mostMs: 10_000 };

/**
 * Frames that are queried often, as native DuckDB tables in files of their own. Decoding Parquet is most of the cost of a query;
 * all workers of a tenant read the same copy, each through its own buffers, which DuckDB bounds and gives up under pressure. A
 * shared frame has a copy for each tenant that queries it: its processes can read the tenant's folder alone.
 */
export class NativeCopies implements AsyncDisposable {
  readonly directory: string;
  readonly #options: NativeCopiesOptions;
  readonly #pause: Pause;
  /** By tenant and version, the one used longest ago first. */
  readonly #entries = new Map<string, Entry>();
  /** By tenant and frame: the entry that was used last. */
  readonly #newest = new Map<string, string>();
  readonly #folders = new Set<Tenant>();
  readonly #controller = new AbortController();
  /** The last copy of each tenant: a long one delays only copies of its own tenant. */
  readonly #copying = new Map<Tenant, Promise<void>>();
  #bytes = 0;
  #lastUseAt = 0;

  constructor(options: NativeCopiesOptions) {
    this.#options = options;
    this.#pause = options.pause ?? defaultPause;
    this.directory = newSpillDirectory(options.root);
    this.#make(this.directory);
  }

  /** The folder with the copies that this tenant reads. */
  folderOf(tenant: Tenant): string {
    const folder = join(this.directory, tenant);
    if (!this.#folders.has(tenant)) this.#make(folder);
    this.#folders.add(tenant);
    return folder;
  }

  /** The file that holds a copy of this version; undefined while there is none. */
  find({ versionId }: FrameTable, tenant = defaultTenant): string | undefined {
    const entry = this.#entries.get(keyOf(tenant, versionId));
    return entry?.state === 'warm' ? entry.path : undefined;
  }

  /** The same for a query that reads it now. */
  use(table: FrameTable, tenant = defaultTenant): string | undefined {
    if (this.#options.budgetBytes === 0) return undefined;
    this.#lastUseAt = performance.now();
    const entry = this.#touch(table, tenant);
    if (entry.state === 'warm') return entry.path;
    if (entry.state === 'cold' && ++entry.uses >= usesUntilWarm) this.#enqueue(entry, table, tenant);
    return undefined;
  }

  /** The copy of this version gave a fault: from now on its Parquet files are read, which have checksums. True if there was a copy. */
  refuse(versionId: string, tenant = defaultTenant): boolean {
    const entry = this.#entries.get(keyOf(tenant, versionId));
    if (entry?.state !== 'warm') return false;
    entry.state = 'refused';
    this.#discard(entry);
    return true;
  }

  /** Removes the copies of other tenants' frames. */
  forgetShared(tenant: Tenant): void {
    for (const { key, frame } of [...this.#entries.values()]) {
      const isShared = frame.startsWith(keyOf(tenant, '')) && !frame.startsWith(keyOf(tenant, `${tenant}/`));
      if (isShared) this.#forget(key);
    }
  }

  /** Resolves when no copy is running or waiting. */
  async settled(): Promise<void> {
    await Promise.all(this.#copying.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
    await this.settled();
    await removeSpillDirectory(this.directory);
  }

  #make(folder: string): void {
    try {
      mkdirSync(folder, { recursive: true });
    } catch (error) {
      this.#options.logger.debug('no warm copies: their directory cannot be made', { error });
    }
  }

  #touch({ frame: name, versionId }: FrameTable, tenant: Tenant): Entry {
    const key = keyOf(tenant, versionId);
    const frame = keyOf(tenant, name);
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known ?? {
      key,
      frame,
      versionId,
      uses: 0,
      state: 'cold',
      path: '',
      bytes: 0,
      forgotten: new AbortController(),
    };
    this.#entries.set(key, entry);
    const before = this.#newest.get(frame);
    if (before !== undefined && before !== key) this.#forget(before);
    this.#newest.set(frame, key);
    if (this.#entries.size > mostEntries) this.#forget(this.#entries.keys().next().value ?? '');
    return entry;
  }

  #enqueue(entry: Entry, table: FrameTable, tenant: Tenant): void {
    if (table.retired.aborted) return;
    entry.state = 'copying';
    const { signal } = entry.forgotten;
    table.retired.addEventListener('abort', () => this.#forget(entry.key), { once: true, signal });
    const held = table.hold();
    const latest = performance.now() + this.#pause.mostMs;
    const copying = (this.#copying.get(tenant) ?? Promise.resolve())
      .then(() => this.#awaitPause(latest))
      .then(() => this.#copy(entry, table, tenant))
      .catch((error: unknown) => {
        entry.state = 'refused';
        if (this.#controller.signal.aborted || signal.aborted) return;
        const isLate = error instanceof DOMException && error.name === 'TimeoutError';
        const fields = { frame: table.frame, error: String(error) };
        this.#options.logger[isLate ? 'warn' : 'debug']('a frame was not warmed', fields);
      })
      .finally(() => {
        held[Symbol.dispose]();
        if (this.#copying.get(tenant) === copying) this.#copying.delete(tenant);
      });
    this.#copying.set(tenant, copying);
  }

  async #copy(entry: Entry, table: FrameTable, tenant: Tenant): Promise<void> {
    const { budgetBytes, copy, timeoutMs = backgroundTimeoutMs(table.bytes) } = this.#options;
    if (this.#entries.get(entry.key) !== entry) return;
    if (table.bytes > budgetBytes) throw new Error(`${table.bytes} bytes are over the budget of ${budgetBytes}`);
    const path = join(this.folderOf(tenant), `${entry.versionId}.duckdb`);
    const isPacked = table.bytes > budgetBytes * plainShare;
    using work = new LinkedAbort([entry.forgotten.signal, this.#controller.signal], timeoutMs);
    try {
      await copy(
        { parts: table.parts, columns: table.columns, path, isPacked },
        { signal: work.signal, lane: `${tenant}#copy` },
      );
    } catch (error) {
      // A killed process leaves its partial files.
      await Promise.all([path, `${path}.wal`].map((file) => rm(file, { force: true })));
      throw error;
    }
    entry.path = path;
    entry.bytes = (await stat(path)).size;
    this.#bytes += entry.bytes;
    if (entry.bytes > budgetBytes) {
      this.#discard(entry);
      throw new Error(`a copy of ${entry.bytes} bytes is over the budget of ${budgetBytes}`);
    }
    entry.state = 'warm';
    // Replaced meanwhile.
    if (this.#entries.get(entry.key) !== entry) return this.#discard(entry);
    for (const [key, other] of this.#entries) {
      if (this.#bytes <= budgetBytes) break;
      if (other.state === 'warm') this.#forget(key);
    }
  }

  /** Resolves when queries leave a pause, at the latest at `latest`. */
  async #awaitPause(latest: number): Promise<void> {
    const { signal } = this.#controller;
    for (;;) {
      signal.throwIfAborted();
      const leftMs = Math.min(this.#lastUseAt + this.#pause.ms, latest) - performance.now();
      if (leftMs <= 0) return;
      await sleep(leftMs, signal);
    }
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    entry.forgotten.abort();
    if (this.#newest.get(entry.frame) === key) this.#newest.delete(entry.frame);
    if (entry.state === 'warm') this.#discard(entry);
  }

  /** Workers that have the file open go on reading it. */
  #discard(entry: Entry): void {
    this.#bytes -= entry.bytes;
    rm(entry.path, { force: true }).catch((error: unknown) =>
      this.#options.logger.debug('a warm copy was not removed', { error }),
    );
  }
}

function keyOf(tenant: Tenant, of: string): string {
  return `${tenant} ${of}`;
}
