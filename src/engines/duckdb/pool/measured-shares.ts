import { readFileSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FairShares, type ShareFigures } from '../../../core/async/fair-shares.ts';
import type { Share } from '../../../core/async/share.ts';
import { AppError } from '../../../core/errors/app-error.ts';

const lookMs = 200;
/** Most time for which a job is suspended until others have less. */
const mostWaitMs = 5000;
/** Jobs may spill up to this share of the free disk. The rest is for frames, and for bytes spilled between two looks. */
const shareOfDisk = 0.95;

export type MeasuredName = 'spill' | 'memory';

/** A job, as its process shows it. */
export interface MeasuredJob {
  readonly pid: number | undefined;
  /** Where its process spills, and no other. */
  readonly spillDirectory: string;
  readonly lane: string;
  suspend(why: MeasuredName): void;
  resume(why: MeasuredName): void;
  stop(error: AppError): void;
}

interface Measure {
  readonly name: MeasuredName;
  /** What of it, for messages. */
  readonly what: string;
  /** The bytes that a job has now. */
  bytesOf(job: MeasuredJob): number | Promise<number>;
  /** What there is to share, while jobs have so many bytes. */
  units(usedBytes: number): number | Promise<number>;
  /** Of a tenant that is alone, and wants more than there is. */
  refuse(message: string): AppError;
}

/**
 * What jobs of DuckDB take without a question, shared by tenants: it is measured again and again, and a job beyond its share is
 * suspended, or ended.
 */
export class MeasuredShares {
  readonly #shares: FairShares;
  readonly #measure: Measure;
  readonly #jobs = new Set<JobShare>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(measure: Measure) {
    this.#measure = measure;
    this.#shares = new FairShares({
      // Known when a job has something.
      units: 0,
      what: measure.what,
      hint: 'ask for less at once, or try again when there is less other work',
      waitMs: mostWaitMs,
      // A job that only computes is busy although it takes nothing more.
      stillMs: Number.POSITIVE_INFINITY,
    });
  }

  get figures(): ShareFigures {
    return this.#shares.figures;
  }

  /** Counts the bytes of the job, until disposed. */
  watch(job: MeasuredJob): Disposable {
    const share = new JobShare(this.#shares, job, this.#measure);
    this.#jobs.add(share);
    this.#timer ??= setInterval(() => void this.#look(), lookMs).unref();
    return {
      [Symbol.dispose]: () => {
        this.#jobs.delete(share);
        share[Symbol.dispose]();
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
      const shares = [...this.#jobs];
      const bytes = await Promise.all(shares.map(({ job }) => this.#measure.bytesOf(job)));
      const all = bytes.reduce((sum, each) => sum + each, 0);
      if (all > 0) this.#shares.units = await this.#measure.units(all);
      for (const [index, share] of shares.entries()) if (this.#jobs.has(share)) share.note(bytes[index] ?? 0);
    } finally {
      this.#isLooking = false;
    }
  }
}

export interface SpillOptions {
  /** Holds the folders of all workers. */
  readonly directory: string;
  /** Default: the free bytes of the file system. */
  readonly freeBytes?: (() => Promise<number>) | undefined;
}

/** The disk for work larger than memory. */
export function spillShares({ directory, freeBytes = () => freeBytesOf(directory) }: SpillOptions): MeasuredShares {
  return new MeasuredShares({
    name: 'spill',
    what: 'bytes of disk for work larger than memory',
    bytesOf: ({ spillDirectory }) => bytesIn(spillDirectory),
    units: async (usedBytes) => Math.floor(shareOfDisk * (usedBytes + (await freeBytes()))),
    refuse: (message) => new AppError('storage_full', message, { hint: 'ask for less at once, or free some space' }),
  });
}

/** The memory of processes: DuckDB's own limit does not cover what its functions, its planner and rows in transit take. */
export function memoryShares(units: number): MeasuredShares {
  return new MeasuredShares({
    name: 'memory',
    what: 'bytes of memory of statements',
    bytesOf: ({ pid }) => (pid === undefined ? 0 : memoryOf(pid)),
    units: () => units,
    refuse: (message) =>
      new AppError('sql_out_of_memory', message, {
        hint: 'ask for less at once, or let the operator raise sql.memory_gb',
      }),
  });
}

/** The bytes of one job. */
class JobShare implements Disposable {
  readonly job: MeasuredJob;
  readonly #shares: FairShares;
  readonly #measure: Measure;
  /** Once it has any. */
  #share: Share | undefined;
  #isOver = false;
  #isWaiting = false;

  constructor(shares: FairShares, job: MeasuredJob, measure: Measure) {
    this.#shares = shares;
    this.job = job;
    this.#measure = measure;
  }

  note(bytes: number): void {
    if (this.#isOver || this.#isWaiting || (bytes === 0 && this.#share === undefined)) return;
    this.#share ??= this.#shares.open({ lane: this.job.lane, revoke: (error) => this.#stop(error) });
    const more = bytes - this.#share.units;
    if (more < 0) this.#share.give(-more);
    else if (more > 0 && !this.#share.tryTake(more)) this.#wait(this.#share, more);
  }

  #wait(share: Share, bytes: number): void {
    const isAlone = this.#shares.heldBy(share.lane) === this.#shares.figures.held;
    if (isAlone) {
      this.#stop(this.#measure.refuse(this.#shares.refusal(share.lane).message));
      return;
    }
    this.#isWaiting = true;
    this.job.suspend(this.#measure.name);
    share
      .take(bytes)
      .catch((error: AppError) => this.#stop(error))
      .finally(() => {
        this.#isWaiting = false;
        this.job.resume(this.#measure.name);
      });
  }

  #stop(error: AppError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.job.stop(error);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#share?.[Symbol.dispose]();
  }
}

/** Its own, without files and libraries that processes share. 0 where the kernel does not tell. */
function memoryOf(pid: number): number {
  try {
    return 1024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
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
