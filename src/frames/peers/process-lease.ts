import { constants } from 'node:fs';
import { open, readFile, readlink, rename, rm, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import { randomBase32 } from '../../core/names/handle.ts';
import { isProcessAlive } from '../../core/system/process-id.ts';
import type { DurableFiles } from '../disk/durable-file.ts';

/** The identity of a process, for checks whether it still runs. */
export interface ProcessIdentity {
  /** Equal only for processes that see each other's numbers. */
  readonly host: string;
  readonly pid: number;
}

/** Beyond this many bytes a journal begins anew; a process that has not read all of it looks at every frame. */
const mostJournalBytes = 1_000_000;
const generationDigits = 12;
/** Less than the silence after which the others take a process for dead. */
const surelyHeldMs = 3000;

/** Stores that are open in this very process: there may be several. */
const livingHere = new Set<string>();

/**
 * This process among those that serve the same cold directory. It has a file there that shows that it lives (its modification
 * time moves on) and names the frames that it changed. If the process is taken for dead, the file is renamed and its folders are
 * moved away, so that none of its pending steps can succeed.
 */
export class ProcessLease {
  readonly id = `${process.pid}-${randomBase32(8)}`;
  readonly #folder: string;
  readonly #durable: DurableFiles;
  readonly #logger: Logger;
  readonly #onLost: () => void;
  #joined: Promise<void> | undefined;
  #isLost = false;
  /** When the last look began that found the place held. */
  #beatAt = Number.NEGATIVE_INFINITY;
  #hasLeft = false;
  #headerBytes = 0;
  #bytes = 0;
  #generation = 0;
  #lines: string[] = [];
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(coldDirectory: string, durable: DurableFiles, logger: Logger, onLost: () => void) {
    this.#folder = leasesFolder(coldDirectory);
    this.#durable = durable;
    this.#logger = logger;
    this.#onLost = onLost;
  }

  /** The others took this process for dead; it is to begin anew under another name. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether it is certain that no process has taken this one for dead yet. Mostly without a look at the disk. */
  async isHeld(): Promise<boolean> {
    if (!this.#isSurelyHeld) await this.heartbeat().catch(() => {});
    return this.#isSurelyHeld;
  }

  get #isSurelyHeld(): boolean {
    return !this.#isLost && performance.now() - this.#beatAt < surelyHeldMs;
  }

  /** Before anything is written into the directory. Cheap after the first time. */
  join(): Promise<void> {
    if (this.#isLost || this.#hasLeft) return Promise.reject(leaseLost());
    this.#joined ??= this.#enter().catch((error) => {
      this.#joined = undefined;
      throw error;
    });
    return this.#joined;
  }

  /** Shows that the process lives. */
  async heartbeat(): Promise<void> {
    if (this.#joined === undefined || this.#hasLeft) return;
    const hasPlace = await this.#joined.then(
      () => true,
      () => false,
    );
    if (!hasPlace) return;
    try {
      const begunAt = performance.now();
      const now = new Date();
      await utimes(this.#path, now, now);
      this.#beatAt = begunAt;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      this.#lose();
    }
  }

  /** Whether the place is lost, by a look at the disk: its errors are ignored before the next beat. */
  async hasLostLease(): Promise<boolean> {
    await this.heartbeat().catch(() => {});
    return this.#isLost;
  }

  /** Resolves when the others can read it. */
  announce(line: string): Promise<void> {
    if (this.#joined === undefined || this.#hasLeft) return Promise.resolve();
    this.#lines.push(line);
    this.#next ??= this.#last.then(() => this.#append());
    this.#last = this.#next;
    return this.#next;
  }

  /** `isAlone`: no process has yet to read the announcements. */
  async leave({ isAlone }: { readonly isAlone: boolean }): Promise<void> {
    const joined = this.#joined;
    await this.#last;
    this.#hasLeft = true;
    livingHere.delete(this.id);
    if (joined === undefined || this.#isLost) return;
    try {
      await joined;
      if (isAlone) await rm(this.#path, { force: true });
      else await rename(this.#path, join(this.#folder, `${this.id}${endedSuffix}`));
    } catch (error) {
      this.#logger.debug('could not take leave of the directory', { error: String(error) });
    }
  }

  get #path(): string {
    return join(this.#folder, `${this.id}${livingSuffix}`);
  }

  async #enter(): Promise<void> {
    const header = `${JSON.stringify(await identifyProcess())} ${shownGeneration(0)}\n`;
    await this.#durable.makeFolder(this.#folder);
    livingHere.add(this.id);
    // After a power cut the owners of the locks that are found must be known.
    try {
      await this.#durable.writeFile(this.#path, header);
      await this.#durable.syncDirectory(this.#folder);
    } catch (error) {
      await this.#durable.remove(this.#path).catch(() => {});
      throw error;
    }
    this.#headerBytes = Buffer.byteLength(header);
    this.#bytes = this.#headerBytes;
  }

  async #append(): Promise<void> {
    const text = `${this.#lines.join('\n')}\n`;
    this.#lines = [];
    this.#next = undefined;
    try {
      await this.#joined;
      if (this.#bytes > mostJournalBytes) await this.#beginAnew();
      await this.#write(text);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return this.#lose();
      try {
        // On a full disk there is still the room that the journal has.
        await this.#beginAnew();
        await this.#write(text);
      } catch {
        this.#logger.warn('could not tell the other servers of a change', { error: String(error) });
      }
    }
  }

  /** Opened and closed each time: network file systems show others the written bytes when the file is closed. */
  async #write(text: string): Promise<void> {
    const file = await open(this.#path, constants.O_WRONLY | constants.O_APPEND);
    try {
      await file.appendFile(text);
    } finally {
      await file.close();
    }
    this.#bytes += Buffer.byteLength(text);
  }

  async #beginAnew(): Promise<void> {
    const file = await open(this.#path, 'r+');
    try {
      this.#generation++;
      await file.write(shownGeneration(this.#generation), this.#headerBytes - generationDigits - 1);
      await file.truncate(this.#headerBytes);
    } finally {
      await file.close();
    }
    this.#bytes = this.#headerBytes;
  }

  #lose(): void {
    if (this.#isLost || this.#hasLeft) return;
    this.#isLost = true;
    livingHere.delete(this.id);
    this.#logger.warn('the other servers took this one for dead, because it stood still; it begins anew');
    this.#onLost();
  }
}

/** A process that gives no sign of life for so long has lost its place. */
export const silenceMs = 5000;
export const livingSuffix = '.living';
export const endedSuffix = '.ended';

export function leasesFolder(coldDirectory: string): string {
  return join(coldDirectory, '.framehold', 'leases');
}

/** The folder of leases before format 3. A file by now. */
export function earlierLeasesFolder(coldDirectory: string): string {
  return join(coldDirectory, '.framehold', 'processes');
}

export function leaseLost(cause?: unknown): AppError {
  return new AppError('overloaded', 'this server stood still for so long that the others took it for dead', {
    hint: 'try again: it has begun anew',
    retryAfterSeconds: 1,
    cause,
  });
}

/** The first line of a journal: its process and how often it has begun anew. Undefined while it is being written. */
export function parseHeader(
  text: string,
): { readonly process: ProcessIdentity; readonly generation: number; readonly bytes: number } | undefined {
  const end = text.indexOf('\n');
  if (end < generationDigits + 1) return undefined;
  const line = text.slice(0, end);
  try {
    const process = JSON.parse(line.slice(0, -generationDigits - 1)) as ProcessIdentity;
    const generation = Number(line.slice(-generationDigits));
    return { process, generation, bytes: Buffer.byteLength(line) + 1 };
  } catch {
    return undefined;
  }
}

/** Whether a process has certainly ended. For a process of another machine never: only its silence shows it. */
export async function hasEnded(id: string, { host, pid }: ProcessIdentity): Promise<boolean> {
  if (host !== (await thisHost())) return false;
  return pid === process.pid ? !livingHere.has(id) : !isProcessAlive(pid);
}

export async function identifyProcess(): Promise<ProcessIdentity> {
  return { host: await thisHost(), pid: process.pid };
}

let knownHost: Promise<string> | undefined;

function thisHost(): Promise<string> {
  knownHost ??= (async () => {
    try {
      const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
      return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`;
    } catch {
      return hostname();
    }
  })();
  return knownHost;
}

function shownGeneration(generation: number): string {
  return String(generation).padStart(generationDigits, '0');
}
