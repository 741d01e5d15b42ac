import { type ArrowEncoder, batchDecoder, createArrowEncoder } from '@framehold/arrow-ipc';
import type { Batch, Column } from '@framehold/columns';
import type { Producer } from '../../core/callers/producer.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Span } from '../../core/logs/span.ts';
import type { Handle } from '../../core/names/handle.ts';
import { assertSameColumns } from '../catalog/column-difference.ts';
import { frameChanged } from '../catalog/frame-errors.ts';
import type { FrameVersion } from '../catalog/frame-version.ts';
import { perhapsWritten, type TenantState } from '../catalog/tenant-state.ts';
import { definitionOf, needsCheckedRows } from '../disk/manifest.ts';
import type { LogFile } from '../log/log-file.ts';
import { encodeRecord, type LogRecord } from '../log/log-record.ts';
import { ProducerMarks } from '../log/producer-marks.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { Flusher } from './flusher.ts';
import { assertNoNulls } from './not-null.ts';
import type { AssertRoom, Quota } from './quota.ts';
import type { LockParts } from './under-lock.ts';

export interface AppendRequest {
  readonly batches: readonly Batch[];
  readonly producer: Producer | undefined;
  /** See `PutRequest`. */
  readonly isChecked: boolean | undefined;
  readonly definition: string | undefined;
  /** Refuses it for as long as it waits. */
  readonly signal: AbortSignal | undefined;
  /** The parent span, if the request is traced. */
  readonly span?: Span | undefined;
}

export interface Appended {
  readonly version: FrameVersion;
  /** Rows of this append. */
  readonly rows: number;
  /** As they are stored. */
  readonly bytes: number;
  readonly isRepeated: boolean;
}

/** The handle's lock is held this long after an append: the next one mostly follows at once. */
const lingerMs = 10;
/** Then other writers get a turn, even if appends never end. */
const turnMs = 5000;
/** Pause between announcements to other processes meanwhile: one that has just started is not known yet. */
const announceMs = 250;
const turnAmongPeersMs = 50;
/** The same if writers of other frames of the tenant wait. */
const turnAmongFramesMs = 20;
/** Bytes of one write. */
const mostGroupBytes = 4 * 1024 * 1024;
const mostGroupRequests = 1024;
/** Appends wait for Parquet where a log is longer. */
const longestTailBytes = 32 * 1024 * 1024;

interface Waiting extends AppendRequest {
  readonly resolve: (appended: Appended | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The appends of one frame. */
class AppendQueue {
  waiting: Waiting[] = [];
  isRunning = false;
  /** The file of this process, which may not be the newest any more. */
  log: LogFile | undefined;
  encoder: ArrowEncoder | undefined;
  encoderColumns: readonly Column[] | undefined;
  #arrived = (): void => {};

  add(request: Waiting): void {
    this.waiting.push(request);
    this.#arrived();
  }

  /** Whether another append arrives in time. */
  async hasMore(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.waiting.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#arrived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#arrived = () => {};
    }
    return this.waiting.length > 0;
  }

  encoderFor(columns: readonly Column[]): ArrowEncoder {
    if (this.encoder === undefined || this.encoderColumns !== columns) this.encoder = createArrowEncoder(columns);
    this.encoderColumns = columns;
    return this.encoder;
  }

  async seal(): Promise<void> {
    const { log } = this;
    this.log = undefined;
    await log?.[Symbol.asyncDispose]();
  }
}

/** Appends small batches to the logs of frames. Everything that waits is made durable by one write. */
export class FrameAppender implements AsyncDisposable {
  readonly flusher: Flusher;
  readonly #state: TenantState;
  readonly #reconciler: Reconciler;
  readonly #quota: Quota;
  readonly #queues = new Map<Handle, AppendQueue>();
  readonly #running = new Set<Promise<void>>();

  constructor({ state, reconciler }: LockParts, quota: Quota) {
    this.#state = state;
    this.#reconciler = reconciler;
    this.#quota = quota;
    this.flusher = new Flusher(state, reconciler, (handle) => this.sealLog(handle));
  }

  /** Resolves when the rows are durable. Undefined where they cannot go to a log: then they become a part. */
  append(handle: Handle, request: AppendRequest): Promise<Appended | undefined> {
    return new Promise((resolve, reject) => {
      let queue = this.#queues.get(handle);
      if (queue === undefined) {
        queue = new AppendQueue();
        this.#queues.set(handle, queue);
      }
      queue.add({ ...request, resolve, reject });
      if (!queue.isRunning) this.#start(handle, queue);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running);
    await this.flusher[Symbol.asyncDispose]();
    await Promise.all([...this.#queues.values()].map((queue) => queue.seal()));
  }

  /** Closes the log file that is written, if any. The handle's lock is held. */
  async sealLog(handle: Handle): Promise<void> {
    const queue = this.#queues.get(handle);
    await queue?.seal();
    if (queue?.isRunning === false) this.#queues.delete(handle);
  }

  /** Its rows are in Parquet now, or are not the frame's any more. The handle's lock is held. Leftovers are not counted. */
  async removeLog(handle: Handle): Promise<void> {
    await this.sealLog(handle);
    await this.#state.logs.removeAll(handle).catch((error) => {
      this.#state.context.logger.debug('could not remove a log', { handle, error: String(error) });
    });
  }

  #start(handle: Handle, queue: AppendQueue): void {
    const running = this.#run(handle, queue).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #run(handle: Handle, queue: AppendQueue): Promise<void> {
    const { context } = this.#state;
    queue.isRunning = true;
    while (queue.waiting.length > 0) {
      try {
        context.signal.throwIfAborted();
        const entry = this.#state.catalog.get(handle);
        if (entry?.kind === 'held' && entry.version.tail.bytes >= longestTailBytes) await this.#keepUp(handle);
        await this.#quota.run((assertRoom) =>
          this.#state.change(handle, () => this.#turn(handle, queue, assertRoom), { tells: false }),
        );
      } catch (error) {
        for (const { reject } of queue.waiting.splice(0)) reject(error);
      }
    }
    queue.isRunning = false;
    if (queue.log === undefined) this.#queues.delete(handle);
  }

  /** Parquet is behind. */
  async #keepUp(handle: Handle): Promise<void> {
    await this.flusher.ended(handle);
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind === 'held' && entry.version.tail.bytes >= longestTailBytes) await this.flusher.flush(handle);
  }

  /** Appends for as long as the handle's lock may be held. */
  async #turn(handle: Handle, queue: AppendQueue, assertRoom: AssertRoom): Promise<void> {
    const { context, locks } = this.#state;
    const { peers } = context;
    context.durable.assertWritable();
    await this.#reconciler.reconcileLocked(handle);
    const begunAt = performance.now();
    let announcedAt = begunAt;
    const turn: Turn = { handle, queue, assertRoom, marks: undefined, alone: 0, isWriting: false };
    try {
      do {
        const version = this.#appendable(handle);
        if (version === undefined) {
          for (const { resolve } of queue.waiting.splice(0)) resolve(undefined);
          return;
        }
        if (version.tail.bytes >= longestTailBytes) return;
        await this.#appendGroup(turn, version);
        const longestMs = peers.hasPeers ? turnAmongPeersMs : turnMs;
        const mostMs = this.#state.hasWaitingFrames ? turnAmongFramesMs : longestMs;
        const now = performance.now();
        if (now - begunAt > mostMs || locks.hasWaiting(handle)) return;
        if (now - announcedAt > announceMs) {
          announcedAt = now;
          void this.#state.announceChange(handle);
        }
      } while (await queue.hasMore(lingerMs, context.signal));
    } finally {
      await this.#state.announceChange(handle);
    }
  }

  /** The version that rows may be added to. */
  #appendable(handle: Handle): FrameVersion | undefined {
    const entry = this.#state.catalog.get(handle);
    if (entry?.kind !== 'held' || entry.version.isExpired(this.#state.context.now())) return undefined;
    return batchDecoder(entry.version.manifest.columns) === undefined ? undefined : entry.version;
  }

  async #appendGroup(turn: Turn, version: FrameVersion): Promise<void> {
    const { queue } = turn;
    const encoder = queue.encoderFor(version.manifest.columns);
    const group: GroupMember[] = [];
    const mostRequests = turn.alone > 0 ? 1 : mostGroupRequests;
    turn.alone = Math.max(0, turn.alone - 1);
    turn.isWriting = false;
    try {
      const producers: Producer[] = [];
      while (group.length < mostRequests && encoder.pendingBytes < mostGroupBytes) {
        const request = queue.waiting.shift();
        if (request === undefined) break;
        const isRepeated = this.#admit(turn, version, request);
        if (isRepeated === undefined) continue;
        const member = { request, rows: 0, bytes: 0, isRepeated };
        group.push(member);
        if (isRepeated) continue;
        const { pendingBytes } = encoder;
        member.rows = encodeAll(encoder, request.batches);
        member.bytes = encoder.pendingBytes - pendingBytes;
        if (request.producer !== undefined) producers.push(request.producer);
      }
      const spans = group.flatMap(({ request }) => request.span?.child('fsync') ?? []);
      const grown = await this.#write(turn, version, encoder, producers).finally(() => {
        for (const span of spans) span.end();
      });
      for (const { request, rows, bytes, isRepeated } of group) {
        request.resolve({ version: grown, rows, bytes, isRepeated });
      }
    } catch (error) {
      // Their marks are not written, and the encoded rows must not be sent with others.
      turn.marks = undefined;
      queue.encoder = undefined;
      if (turn.isWriting || group.length === 1) {
        for (const { request } of group) request.reject(error);
        return;
      }
      // One request is too large, or has a value that cannot be stored: each is tried alone.
      queue.waiting.unshift(...group.map(({ request }) => request));
      turn.alone = group.length;
    }
  }

  /** Whether the append was seen before. Undefined where it is refused, or must become a part of its own. */
  #admit(turn: Turn, version: FrameVersion, waiting: Waiting): boolean | undefined {
    const { columns } = version.manifest;
    const { batches, producer, isChecked, definition, signal, reject, resolve } = waiting;
    // A record of the log cannot note it.
    if (!isChecked && needsCheckedRows(version.manifest)) {
      resolve(undefined);
      return undefined;
    }
    try {
      signal?.throwIfAborted();
      if (definition !== undefined && definition !== definitionOf(version.manifest)) throw frameChanged(turn.handle);
      for (const { columns: brought } of batches) {
        if (brought !== columns) assertSameColumns(turn.handle, columns, brought);
      }
      assertNoNulls(turn.handle, version.manifest, batches);
      return producer !== undefined && this.#isRepeated(turn, version, producer);
    } catch (error) {
      reject(error);
      return undefined;
    }
  }

  #isRepeated(turn: Turn, version: FrameVersion, producer: Producer): boolean {
    turn.marks ??= new ProducerMarks(version.producers);
    if (turn.marks.isRepeated(producer)) return true;
    turn.marks.add(producer);
    return false;
  }

  async #write(
    turn: Turn,
    version: FrameVersion,
    encoder: ArrowEncoder,
    producers: readonly Producer[],
  ): Promise<FrameVersion> {
    if (encoder.pendingRows === 0 && producers.length === 0) return version;
    const { handle, queue, assertRoom } = turn;
    const { context, logs } = this.#state;
    const { rows, bytes: message } = encoder.takeMessage();
    assertRoom({ handle, bytes: message.length, isReplacement: false });
    const record: LogRecord = { firstRow: version.rows, rows, version: version.number + 1, producers, message };
    if (queue.log?.isBroken || queue.log?.name !== version.tail.files.at(-1)?.name) await queue.seal();
    queue.log ??= await logs.beginAfter(version);
    turn.isWriting = true;
    await queue.log.append(encodeRecord(record));
    // A process that took this one for dead may have read the log before these rows were in it.
    if (!(await context.lease.isHeld())) throw perhapsWritten(undefined);
    const grown = await this.#state.grow(version, version.tail.with(record, queue.log.known));
    if (context.peers.hasPeers) void this.#state.announceChange(handle);
    this.flusher.flushIfLarge(handle, grown.tail);
    return grown;
  }
}

interface GroupMember {
  readonly request: Waiting;
  rows: number;
  bytes: number;
  readonly isRepeated: boolean;
}

interface Turn {
  readonly handle: Handle;
  readonly queue: AppendQueue;
  readonly assertRoom: AssertRoom;
  marks: ProducerMarks | undefined;
  /** Waiting requests that are written one by one, after a group of them has failed. */
  alone: number;
  /** The rows of the group may be in the log already. */
  isWriting: boolean;
}

/** Returns the number of rows. */
function encodeAll(encoder: ArrowEncoder, batches: readonly Batch[]): number {
  let rows = 0;
  for (const batch of batches) {
    if (batch.rows === 0) continue;
    if (encoder.encodeRows(batch, 0, batch.rows) < batch.rows) throw new AppError('too_large', 'the rows are too many');
    rows += batch.rows;
  }
  return rows;
}
