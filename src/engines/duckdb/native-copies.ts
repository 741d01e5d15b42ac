import { mkdirSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { backgroundTimeoutMs, sleep } from '../../core/async/limited-wait.ts';
import { LinkedAbort } from '../../core/async/linked-abort.ts';
import type { Logger } from '../../core/logger.ts';
import type { FrameTable } from '../../core/sql.ts';
import { newSpillDirectory, removeSpillDirectory } from './pool/spill-directory.ts';
import type { WarmCopy } from './protocol/protocol.ts';

export interface NativeCopiesOptions {
  /** Each server process keeps its copies in a folder of its own below. */
  readonly root: string;
  /** Bounds the copies on disk; 0 = none are made. */
  readonly budgetBytes: number;
  /** Writes a database file with the rows as a native table. */
  readonly copy: (frame: WarmCopy, signal: AbortSignal) => Promise<void>;
  /** Default: a second, ten at most. */
  readonly pause?: Pause;
  /** How long a copy may take. Default: by the size of its frame, far longer than it ever takes. */
  readonly timeoutMs?: number;
  readonly logger: Logger;
}

/** Queries have the processors first: a copy waits until none has come for a while, but not for ever. */
interface Pause {
  readonly ms: number;
  readonly mostMs: number;
}

interface Entry {
  readonly owner: string;
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
/** Of the budget: what is stored in less is copied without being packed, which takes about three times as much. */
const plainShare = 1 / 8;
const defaultPause: Pause = { ms: 1000, mostMs: 10_000 };

/**
 * Frames that are queried often, as native DuckDB tables in files of their own. Decoding Parquet is most of what a query
 * costs; all workers read the same copy, each through its own buffers, which DuckDB bounds and gives up under pressure.
 */
export class NativeCopies implements AsyncDisposable {
  readonly directory: string;
  readonly #options: NativeCopiesOptions;
  readonly #pause: Pause;
  /** By version, the one used longest ago first. */
  readonly #entries = new Map<string, Entry>();
  /** By owner: the version that was used last. */
  readonly #newest = new Map<string, string>();
  readonly #controller = new AbortController();
  #copying: Promise<void> = Promise.resolve();
  #bytes = 0;
  #lastUseAt = 0;

  constructor(options: NativeCopiesOptions) {
    this.#options = options;
    this.#pause = options.pause ?? defaultPause;
    this.directory = newSpillDirectory(options.root);
    try {
      mkdirSync(this.directory, { recursive: true });
    } catch (error) {
      options.logger.debug('no warm copies: their directory cannot be made', { error });
    }
  }

  /** The file that holds a copy of this version; undefined while there is none. */
  find({ versionId }: FrameTable): string | undefined {
    const entry = this.#entries.get(versionId);
    return entry?.state === 'warm' ? entry.path : undefined;
  }

  /** The same for a query that reads it now. */
  use(table: FrameTable): string | undefined {
    if (this.#options.budgetBytes === 0) return undefined;
    this.#lastUseAt = performance.now();
    const entry = this.#touch(table);
    if (entry.state === 'warm') return entry.path;
    if (entry.state === 'cold' && ++entry.uses >= usesUntilWarm) this.#enqueue(entry, table);
    return undefined;
  }

  /** Something was wrong where this version was read: from now on its own files are, which have a checksum. */
  distrust(versionId: string): boolean {
    const entry = this.#entries.get(versionId);
    if (entry?.state !== 'warm') return false;
    entry.state = 'refused';
    this.#discard(entry);
    return true;
  }

  /** Resolves when no copy is under way or waiting. */
  async settled(): Promise<void> {
    await this.#copying;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
    await this.#copying;
    removeSpillDirectory(this.directory);
  }

  #touch({ owner, versionId }: FrameTable): Entry {
    const known = this.#entries.get(versionId);
    this.#entries.delete(versionId);
    const entry = known ?? {
      owner,
      versionId,
      uses: 0,
      state: 'cold',
      path: '',
      bytes: 0,
      forgotten: new AbortController(),
    };
    this.#entries.set(versionId, entry);
    const before = this.#newest.get(owner);
    if (before !== undefined && before !== versionId) this.#forget(before);
    this.#newest.set(owner, versionId);
    if (this.#entries.size > mostEntries) this.#forget(this.#entries.keys().next().value ?? '');
    return entry;
  }

  #enqueue(entry: Entry, table: FrameTable): void {
    if (table.retired.aborted) return;
    entry.state = 'copying';
    const { signal } = entry.forgotten;
    table.retired.addEventListener('abort', () => this.#forget(entry.versionId), { once: true, signal });
    const held = table.hold();
    const latest = performance.now() + this.#pause.mostMs;
    this.#copying = this.#copying
      .then(() => this.#awaitPause(latest))
      .then(() => this.#copy(entry, table))
      .catch((error: unknown) => {
        entry.state = 'refused';
        if (this.#controller.signal.aborted || signal.aborted) return;
        const isLate = error instanceof DOMException && error.name === 'TimeoutError';
        const fields = { frame: table.owner, error: String(error) };
        this.#options.logger[isLate ? 'warn' : 'debug']('a frame was not warmed', fields);
      })
      .finally(() => held[Symbol.dispose]());
  }

  async #copy(entry: Entry, table: FrameTable): Promise<void> {
    const { budgetBytes, copy, timeoutMs = backgroundTimeoutMs(table.bytes) } = this.#options;
    if (this.#entries.get(entry.versionId) !== entry) return;
    if (table.bytes > budgetBytes) throw new Error(`${table.bytes} bytes are over the budget of ${budgetBytes}`);
    const path = join(this.directory, `${entry.versionId}.duckdb`);
    const isPacked = table.bytes > budgetBytes * plainShare;
    using work = new LinkedAbort([entry.forgotten.signal, this.#controller.signal], timeoutMs);
    try {
      await copy({ parts: table.parts, path, isPacked }, work.signal);
    } catch (error) {
      // A process that had to be killed has left what it wrote.
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
    if (this.#entries.get(entry.versionId) !== entry) return this.#discard(entry);
    for (const [versionId, other] of this.#entries) {
      if (this.#bytes <= budgetBytes) break;
      if (other.state === 'warm') this.#forget(versionId);
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

  #forget(versionId: string): void {
    const entry = this.#entries.get(versionId);
    if (entry === undefined) return;
    this.#entries.delete(versionId);
    entry.forgotten.abort();
    if (this.#newest.get(entry.owner) === versionId) this.#newest.delete(entry.owner);
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
