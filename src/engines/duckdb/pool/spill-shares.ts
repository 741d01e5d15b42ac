import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FairShares, type ShareFigures } from '../../../core/async/fair-shares.ts';
import type { Share } from '../../../core/async/share.ts';
import { AppError } from '../../../core/errors/app-error.ts';

const lookMs = 200;
/** Most time for which a job is suspended until others free disk. */
const mostWaitMs = 5000;
/** Jobs may spill up to this share of the free disk. The rest is for frames, and for bytes spilled between two looks. */
const shareOfDisk = 0.95;

export interface SpillOptions {
  /** Holds the folders of all workers. */
  readonly directory: string;
  /** Default: the free bytes of the file system. */
  readonly freeBytes?: (() => Promise<number>) | undefined;
}

/** A job that may spill, each in its own folder. */
export interface SpillingJob {
  readonly directory: string;
  readonly lane: string;
  suspend(): void;
  resume(): void;
  stop(error: AppError): void;
}

/**
 * The disk for work larger than memory, shared by tenants. DuckDB does not ask before it writes: the folders are measured again
 * and again, and a job beyond its share is suspended, or ended.
 */
export class SpillShares {
  readonly #shares: FairShares;
  readonly #freeBytes: () => Promise<number>;
  readonly #jobs = new Set<Spill>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor({ directory, freeBytes }: SpillOptions) {
    this.#freeBytes = freeBytes ?? (() => freeBytesOf(directory));
    this.#shares = new FairShares({
      // Known when something is spilled.
      units: 0,
      what: 'bytes of disk for work larger than memory',
      hint: 'ask for less at once, or try again when there is less other work',
      waitMs: mostWaitMs,
      // A job that only computes is busy although it spills nothing more.
      stillMs: Number.POSITIVE_INFINITY,
    });
  }

  get figures(): ShareFigures {
    return this.#shares.figures;
  }

  /** Counts the bytes that the job spills, until disposed. */
  watch(job: SpillingJob): Disposable {
    const spill = new Spill(this.#shares, job);
    this.#jobs.add(spill);
    this.#timer ??= setInterval(() => void this.#look(), lookMs).unref();
    return {
      [Symbol.dispose]: () => {
        this.#jobs.delete(spill);
        spill[Symbol.dispose]();
      },
    };
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    if (this.#jobs.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#isLooking = true;
    try {
      const spills = [...this.#jobs];
      const bytes = await Promise.all(spills.map(({ directory }) => bytesIn(directory)));
      const all = bytes.reduce((sum, each) => sum + each, 0);
      if (all > 0) this.#shares.units = Math.floor(shareOfDisk * (all + (await this.#freeBytes())));
      for (const [index, spill] of spills.entries()) if (this.#jobs.has(spill)) spill.note(bytes[index] ?? 0);
    } finally {
      this.#isLooking = false;
    }
  }
}

/** The spilled bytes of one job. */
class Spill implements Disposable {
  readonly #job: SpillingJob;
  readonly #shares: FairShares;
  /** Once it spills. */
  #share: Share | undefined;
  #isOver = false;
  #isWaiting = false;

  constructor(shares: FairShares, job: SpillingJob) {
    this.#shares = shares;
    this.#job = job;
  }

  get directory(): string {
    return this.#job.directory;
  }

  note(bytes: number): void {
    if (this.#isOver || this.#isWaiting || (bytes === 0 && this.#share === undefined)) return;
    this.#share ??= this.#shares.open({ lane: this.#job.lane, revoke: (error) => this.#stop(error) });
    const more = bytes - this.#share.units;
    if (more < 0) this.#share.give(-more);
    else if (more > 0 && !this.#share.tryTake(more)) this.#wait(this.#share, more);
  }

  #wait(share: Share, bytes: number): void {
    const isAlone = this.#shares.heldBy(share.lane) === this.#shares.figures.held;
    if (isAlone) {
      const { message } = this.#shares.refusal(share.lane);
      this.#stop(new AppError('storage_full', message, { hint: 'ask for less at once, or free some space' }));
      return;
    }
    this.#isWaiting = true;
    this.#job.suspend();
    share
      .take(bytes)
      .catch((error: AppError) => this.#stop(error))
      .finally(() => {
        this.#isWaiting = false;
        this.#job.resume();
      });
  }

  #stop(error: AppError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#job.stop(error);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#share?.[Symbol.dispose]();
  }
}

async function bytesIn(directory: string): Promise<number> {
  try {
    const names = await readdir(directory);
    const sizes = await Promise.all(names.map((name) => sizeOf(join(directory, name))));
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    // It is made when something is spilled.
    return 0;
  }
}

/** On disk: DuckDB leaves holes in its files. */
async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.blocks * 512 : 0;
  } catch {
    return 0;
  }
}

async function freeBytesOf(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return Number.MAX_SAFE_INTEGER / 2;
  }
}
