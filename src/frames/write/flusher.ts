import { arrowIpcStream } from '@framehold/arrow-ipc';
import { Semaphore } from '../../core/async/semaphore.ts';
import type { Producer } from '../../core/callers/producer.ts';
import type { Handle } from '../../core/names/handle.ts';
import { whyNotHeld } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import type { TenantState } from '../catalog/tenant-state.ts';
import { lineageOf } from '../disk/manifest.ts';
import { ProducerMarks } from '../log/producer-marks.ts';
import type { KnownFile, Tail } from '../log/tail.ts';
import { tailMessages } from '../log/tail-files.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { commitVersion, placeBehind } from './commit-version.ts';
import { grownFacts } from './next-manifest.ts';
import { StagedParts, writtenPart } from './staged-parts.ts';

/** Bytes of a log that are moved into Parquet at once. */
const flushBytes = 4 * 1024 * 1024;
/** Most time that rows stay in a log without further appends. */
const flushAgeMs = 30_000;
/** Most bytes in the logs of all frames of a tenant. */
const mostBytes = 128 * 1024 * 1024;
const lookMs = 1000;
const retryMs = 5000;
const flushesAtOnce = 2;

/** Rows that are not in Parquet yet. */
export interface LogBacklog {
  readonly logBytes: number;
  /** Age of the oldest log. */
  readonly oldestLogMs: number;
}

/** Closes the log file that this process writes, if any. The handle's lock is held. */
type SealLog = (handle: Handle) => Promise<void>;

/** Brings rows from the logs into Parquet. */
export class Flusher implements AsyncDisposable {
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #sealLog: SealLog;
  readonly #semaphore = new Semaphore(flushesAtOnce);
  readonly #running = new Map<Handle, Promise<FrameVersion>>();
  readonly #failedAt = new Map<Handle, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(state: TenantState, reconciler: Reconciler, sealLog: SealLog) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#sealLog = sealLog;
    this.#timer = setInterval(() => this.#flushDue(), lookMs).unref();
  }

  get backlog(): LogBacklog {
    const now = performance.now();
    let [logBytes, oldestLogMs] = [0, 0];
    for (const [, { since, version }] of this.#state.catalog.tails()) {
      logBytes += version.tail.bytes;
      oldestLogMs = Math.max(oldestLogMs, now - since);
    }
    return { logBytes, oldestLogMs };
  }

  /** Resolves when every row that the frame has now is in Parquet. */
  async flush(handle: Handle): Promise<FrameVersion> {
    // A running flush may have begun without the newest rows.
    await this.#running.get(handle)?.catch(() => {});
    return this.#start(handle);
  }

  /** After an append. */
  flushIfLarge(handle: Handle, tail: Tail): void {
    if (tail.bytes >= flushBytes) this.#startInBackground(handle);
  }

  /** Resolves when a running flush has ended, with or without an error. */
  async ended(handle: Handle): Promise<void> {
    await this.#running.get(handle)?.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#running.values());
  }

  #flushDue(): void {
    const tails = [...this.#state.catalog.tails()];
    let bytes = tails.reduce((sum, [, { version }]) => sum + version.tail.bytes, 0);
    // The oldest first.
    for (const [handle, { since, version }] of tails) {
      const isDue = performance.now() - since >= flushAgeMs || version.tail.bytes >= flushBytes || bytes > mostBytes;
      if (!isDue) continue;
      bytes -= version.tail.bytes;
      this.#startInBackground(handle);
    }
  }

  #startInBackground(handle: Handle): void {
    const { context } = this.#state;
    if (this.#running.has(handle) || context.signal.aborted) return;
    if (performance.now() - (this.#failedAt.get(handle) ?? Number.NEGATIVE_INFINITY) < retryMs) return;
    this.#start(handle).catch((error) => {
      if (context.signal.aborted || this.#state.catalog.get(handle)?.kind !== 'held') return;
      this.#failedAt.set(handle, performance.now());
      context.onFlushFailed();
      context.logger.warn('a log could not be brought into Parquet yet', { handle, error: String(error) });
    });
  }

  #start(handle: Handle): Promise<FrameVersion> {
    const running = this.#running.get(handle);
    if (running !== undefined) return running;
    const flushing = this.#semaphore
      .run(() => this.#flush(handle))
      .finally(() => {
        if (this.#running.get(handle) === flushing) this.#running.delete(handle);
      });
    this.#running.set(handle, flushing);
    flushing.then(
      () => this.#failedAt.delete(handle),
      () => {},
    );
    return flushing;
  }

  async #flush(handle: Handle): Promise<FrameVersion> {
    for (;;) {
      const flushed = await this.#flushOnce(handle);
      if (flushed !== undefined) return flushed;
    }
  }

  /** Undefined where another process brought some of the rows into Parquet meanwhile, and not all. */
  async #flushOnce(handle: Handle): Promise<FrameVersion | undefined> {
    const { context } = this.#state;
    context.signal.throwIfAborted();
    const version = await this.#state.change(handle, () => this.#seal(handle), { tells: false });
    const { tail, manifest } = version;
    if (tail.rows === 0) return version;
    context.durable.assertWritable();
    await using staged = await stageTail(this.#state, version);
    return await this.#state.change(handle, async () => {
      context.durable.assertWritable();
      await this.#reconciler.reconcileLocked(handle);
      const current = this.#held(handle);
      // Another process, or a put, was faster.
      if (lineageOf(current.manifest) !== lineageOf(manifest) || current.storedRows >= tail.toRow) return current;
      if (current.storedRows !== tail.fromRow || current.rows < tail.toRow) return undefined;
      return this.#commit(current, tail, staged);
    });
  }

  async #seal(handle: Handle): Promise<FrameVersion> {
    await this.#reconciler.reconcileLocked(handle);
    const version = this.#held(handle);
    await this.#sealLog(handle);
    const { tail } = version;
    if (tail.files.length === 0) return version;
    if (tail.rows === 0) return this.#endLog(version);
    const { logs, directory } = this.#state;
    const last = tail.files.at(-1)?.name ?? '';
    // Another process would continue its file, which is removed when its rows are in Parquet.
    if (!logs.isOf(directory.ownId, last)) await (await logs.beginAfter(version))[Symbol.asyncDispose]();
    return version;
  }

  /** A log without rows may still hold the progress of producers. */
  async #endLog(version: FrameVersion): Promise<FrameVersion> {
    const { context, commits, directory, logs } = this.#state;
    const { manifest, tail } = version;
    if (tail.records.length > 0) {
      context.durable.assertWritable();
      await directory.prepare();
      const next = { ...manifest, version: version.number, producers: producersOf(version, version.rows) };
      await commits.commit(next, commits.inPlace());
      version.manifest = next;
    }
    await logs.remove(manifest.handle, tail.files);
    return this.#state.grow(version, tail.from(version.rows, []));
  }

  #held(handle: Handle): FrameVersion {
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held') throw whyNotHeld(handle, entry);
    return entry.version;
  }

  async #commit(current: FrameVersion, tail: Tail, staged: StagedParts): Promise<FrameVersion> {
    const { manifest } = current;
    const { handle } = manifest;
    const placed = await placeBehind(this.#state, current, staged.files, (file, name) =>
      writtenPart(this.#state, file, name),
    );
    const facts = {
      ...grownFacts(current, tail.toRow),
      version: tail.version ?? manifest.version,
      producers: producersOf(current, tail.toRow),
    };
    const isCovered = ({ name, size }: KnownFile): boolean =>
      tail.files.some((file) => file.name === name && file.size === size);
    const covered = current.tail.files.filter(isCovered);
    const left = current.tail.from(
      tail.toRow,
      current.tail.files.filter((file) => !isCovered(file)),
    );
    const parts = { state: this.#state, reconciler: this.#reconciler };
    const version = await commitVersion(parts, current, { ...placed, facts, tail: left });
    await staged.removeFiles();
    const written = placed.moved === undefined ? placed.parts.slice(-staged.files.length) : placed.parts;
    await this.#state.partLinks.noteWritten(written).catch(() => {});
    await this.#state.logs.remove(handle, covered).catch((error) => {
      this.#state.context.logger.debug('could not remove a log', { handle, error: String(error) });
    });
    return version;
  }
}

/** The rows of the log in a file beside the frame. */
export function stageTail(state: TenantState, version: FrameVersion): Promise<StagedParts> {
  const { tail, manifest } = version;
  const { columns } = manifest;
  const stream = arrowIpcStream(columns, tailMessages(tail, tail.fromRow));
  return StagedParts.stage(state, { kind: 'arrow', stream }, state.context);
}

/** The progress of each producer before this row. */
function producersOf({ manifest, tail }: FrameVersion, toRow: number): readonly Producer[] {
  const records = tail.records.filter(({ firstRow, rows }) => firstRow + rows <= toRow);
  return new ProducerMarks([...(manifest.producers ?? []), ...records.flatMap(({ producers }) => producers)]).all;
}
