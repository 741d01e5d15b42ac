import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import {
  endedSuffix,
  hasEnded,
  leasesFolder,
  livingSuffix,
  type ProcessIdentity,
  type ProcessLease,
  parseHeader,
  silenceMs,
} from './process-lease.ts';

export interface PeerEvents {
  /** These lines were announced by others. */
  readonly onLines: (lines: readonly string[]) => void;
  /** Something may have been announced that was not read: everything is to be looked at again. */
  readonly onMissed: () => void;
  /** Takes the place of a process that has ended from it. Done again until it resolves. */
  readonly onEnded: (id: string) => Promise<void>;
}

interface Peer {
  readonly id: string;
  file: string;
  process: ProcessIdentity | undefined;
  /** The last state of its file; another one is a sign of life. */
  mark: string;
  generation: number;
  readTo: number;
  /** Time without a sign of life, by our own clock and only while we were looking. */
  silentMs: number;
  /** It gave a sign of life since we know of it. */
  isHeard: boolean;
  evictedAt: number | undefined;
}

const mostHeaderBytes = 400;
const pollMs = 200;
const beatMs = 500;
/** After a longer silence the process may have ended. */
const doubtMs = 2000;
/** The state of other processes is trusted for this long after the look at it began. */
const trustMs = 700;
/** The last announcements of a process are kept for processes that have not read them yet. */
const keepWordsMs = 10_000;

/** The other processes that serve the same cold directory: their changes, and whether they live. */
export class PeerWatch {
  readonly #lease: ProcessLease;
  readonly #folder: string;
  readonly #events: PeerEvents;
  readonly #logger: Logger;
  readonly #known = new Map<string, Peer>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #tending: Promise<void> | undefined;
  #beatAt = Number.NEGATIVE_INFINITY;
  #polledAt = Number.NEGATIVE_INFINITY;
  /** Changes announced before our first look are on the disk, of which nothing was read yet. */
  #isFirst = true;
  #isDisposed = false;
  /** The last beat failed. */
  #isMute = false;

  constructor(coldDirectory: string, lease: ProcessLease, events: PeerEvents, logger: Logger) {
    this.#lease = lease;
    this.#folder = leasesFolder(coldDirectory);
    this.#events = events;
    this.#logger = logger;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.poll().catch((error) => this.#logger.warn('could not look for other servers', { error: String(error) }));
    }, pollMs).unref();
  }

  /** Whether everything that others acknowledged, but for the last moment, is known here. */
  get isFresh(): boolean {
    return performance.now() - this.#polledAt <= trustMs;
  }

  get hasPeers(): boolean {
    for (const { evictedAt } of this.#known.values()) if (evictedAt === undefined) return true;
    return false;
  }

  isKnown(id: string): boolean {
    return this.#known.has(id);
  }

  /** Whether a process may be alive or dead: its commits may have to be finished. */
  get isUncertain(): boolean {
    for (const { isHeard, silentMs, evictedAt } of this.#known.values()) {
      if (evictedAt === undefined && (!isHeard || silentMs > doubtMs)) return true;
    }
    return false;
  }

  /** Resolves when a look that began after this call is done. */
  poll(): Promise<void> {
    if (this.#isDisposed) return Promise.resolve();
    if (this.#polling === undefined) return this.#begin();
    this.#queued ??= this.#polling
      .catch(() => {})
      .then(() => {
        this.#queued = undefined;
        return this.#begin();
      });
    return this.#queued;
  }

  /** Resolves at once if the state is fresh. */
  async refresh(): Promise<void> {
    if (!this.isFresh) await this.poll();
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearInterval(this.#timer);
    await this.#polling?.catch(() => {});
    await this.#tending;
  }

  #begin(): Promise<void> {
    const polling = this.#pollOnce().finally(() => {
      if (this.#polling === polling) this.#polling = undefined;
    });
    this.#polling = polling;
    return polling;
  }

  async #pollOnce(): Promise<void> {
    const begunAt = performance.now();
    // Our own pauses are not the silence of others.
    const passedMs = Math.min(begunAt - this.#polledAt, 2 * pollMs);
    const found = await this.#list();
    let hasMissed = false;
    const lines: string[] = [];
    for (const [id, file] of found) {
      const peer = this.#known.get(id) ?? this.#track(id, file);
      // It may have changed something at its end without an announcement.
      if (peer.file !== file) hasMissed = true;
      peer.file = file;
      hasMissed = (await this.#read(peer, passedMs, lines)) || hasMissed;
    }
    for (const peer of this.#known.values()) {
      if (found.has(peer.id)) continue;
      this.#known.delete(peer.id);
      if (peer.silentMs < silenceMs) hasMissed = true;
    }
    this.#isFirst = false;
    if (hasMissed) this.#events.onMissed();
    if (lines.length > 0) this.#events.onLines(lines);
    this.#polledAt = begunAt;
    // A process counts as alive only after it has read the others' announcements: they are kept for it.
    if (begunAt - this.#beatAt >= beatMs) {
      this.#beatAt = begunAt;
      await this.#heartbeat();
    }
    void this.reapEnded();
  }

  /** A process that cannot write any more can still read. */
  async #heartbeat(): Promise<void> {
    try {
      await this.#lease.heartbeat();
      this.#isMute = false;
    } catch (error) {
      if (!this.#isMute) this.#logger.warn('cannot show other servers that this one lives', { error: String(error) });
      this.#isMute = true;
    }
  }

  /** Cleans up after processes that have ended. */
  reapEnded(): Promise<void> {
    this.#tending ??= (async () => {
      for (const peer of [...this.#known.values()]) {
        if (!this.#isDisposed) await this.#reap(peer);
      }
    })().finally(() => {
      this.#tending = undefined;
    });
    return this.#tending;
  }

  async #list(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    try {
      for (const name of await readdir(this.#folder)) {
        const suffix = [livingSuffix, endedSuffix].find((one) => name.endsWith(one));
        if (suffix === undefined) continue;
        const id = name.slice(0, -suffix.length);
        if (id !== this.#lease.id) found.set(id, name);
      }
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    return found;
  }

  #track(id: string, file: string): Peer {
    const peer: Peer = {
      id,
      file,
      process: undefined,
      mark: '',
      generation: 0,
      readTo: 0,
      silentMs: 0,
      isHeard: false,
      evictedAt: undefined,
    };
    this.#known.set(id, peer);
    return peer;
  }

  /** True when something was missed. */
  async #read(peer: Peer, passedMs: number, lines: string[]): Promise<boolean> {
    let file: FileHandle;
    try {
      file = await open(join(this.#folder, peer.file), 'r');
    } catch (error) {
      // It ended, or was taken for dead, since the folder was read: the next look shows it.
      if (['ENOENT', 'ESTALE'].includes(errnoOf(error) ?? '')) return true;
      throw error;
    }
    try {
      const { size, mtimeNs } = await file.stat({ bigint: true });
      const mark = `${size} ${mtimeNs}`;
      if (mark === peer.mark) {
        peer.silentMs += passedMs;
        return false;
      }
      if (peer.mark !== '') peer.isHeard = true;
      peer.silentMs = 0;
      const header = parseHeader((await readBytes(file, 0, mostHeaderBytes)).toString('latin1'));
      if (header === undefined) return false;
      peer.process = header.process;
      const { readTo } = peer;
      const isAnew = readTo > 0 && (header.generation !== peer.generation || Number(size) < readTo);
      const from = isAnew ? header.bytes : Math.max(header.bytes, readTo);
      const added = await readBytes(file, from, Number(size) - from);
      const end = added.lastIndexOf('\n') + 1;
      if (!this.#isFirst) lines.push(...added.toString('utf8', 0, end).split('\n').slice(0, -1));
      peer.generation = header.generation;
      peer.readTo = from + end;
      peer.mark = mark;
      return isAnew;
    } finally {
      await file.close();
    }
  }

  async #reap(peer: Peer): Promise<void> {
    const { id, file, process, silentMs } = peer;
    try {
      if (peer.evictedAt === undefined) {
        const isOver = file.endsWith(endedSuffix) || silentMs >= silenceMs;
        if (!isOver && (process === undefined || !(await hasEnded(id, process)))) return;
        const [living, ended] = [livingSuffix, endedSuffix].map((suffix) => join(this.#folder, `${id}${suffix}`));
        await rename(living as string, ended as string).catch((error) => {
          if (errnoOf(error) !== 'ENOENT') throw error;
        });
        await this.#events.onEnded(id);
        peer.evictedAt = performance.now();
      }
      if (!this.hasPeers || performance.now() - peer.evictedAt > keepWordsMs) {
        await rm(join(this.#folder, `${id}${endedSuffix}`), { force: true });
      }
    } catch (error) {
      this.#logger.debug('could not clear up after another server', { id, error: String(error) });
    }
  }
}

async function readBytes(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, length));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  return buffer.subarray(0, bytesRead);
}
