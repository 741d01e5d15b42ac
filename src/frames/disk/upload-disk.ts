import { statfs } from 'node:fs/promises';
import { abortable } from '@framehold/async';
import { FairShares, type ShareFigures } from '../../core/async/fair-shares.ts';
import type { Share } from '../../core/async/share.ts';
import { AppError } from '../../core/errors/app-error.ts';

interface FreeDisk {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Bytes of each upload that are not counted: any disk has this for the largest number of uploads. */
const uncountedBytes = 16_000_000;
/** Share of the disk that uploads leave free. */
const keptPart = 0.05;
const mostKeptBytes = 5_000_000_000;
/** How long a measurement of the free disk is reused. */
const lookEveryMs = 2000;
const mostWaitMs = 5000;

/** Disk for uploads, which tenants share: the free bytes, and the bytes that uploads hold. */
export class UploadDisk {
  readonly #free: () => Promise<FreeDisk>;
  readonly #shares = new FairShares({
    units: Number.MAX_SAFE_INTEGER,
    what: 'bytes of disk for uploads',
    waitMs: mostWaitMs,
  });
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking = Promise.resolve();

  constructor(free: () => Promise<FreeDisk>) {
    this.#free = free;
  }

  static below(directory: string): UploadDisk {
    return new UploadDisk(async () => {
      const { bavail, blocks, bsize } = await statfs(directory);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    });
  }

  /** There are no units before the first upload: the disk is not measured yet. */
  get figures(): ShareFigures {
    const { figures } = this.#shares;
    return this.#lookedAtMs < 0 ? { ...figures, units: 0 } : figures;
  }

  /** Passes an upload on; its bytes are counted until the share of `onHeld` is disposed of. */
  async *counted<T extends Uint8Array>(
    stream: AsyncIterable<T>,
    lane: string,
    onHeld: (share: Share) => void,
  ): AsyncGenerator<T, void, undefined> {
    const pieces = stream[Symbol.asyncIterator]();
    const revoked = new AbortController();
    let share: Share | undefined;
    let isDone = false;
    try {
      for (let bytes = 0; ; ) {
        const step = await (share === undefined ? pieces.next() : abortable(pieces.next(), revoked.signal));
        isDone = step.done === true;
        if (step.done === true) break;
        bytes += step.value.length;
        if (bytes > uncountedBytes) {
          if (share === undefined) {
            share = this.#shares.open({ lane, revoke: (error) => revoked.abort(error) });
            onHeld(share);
          }
          await this.#take(share, step.value.length);
        }
        yield step.value;
      }
    } finally {
      share?.settle();
      // Does not wait for a piece that may never come.
      if (!isDone) pieces.return?.().catch(() => {});
    }
  }

  async #take(share: Share, bytes: number): Promise<void> {
    if (performance.now() - this.#lookedAtMs > lookEveryMs) this.#looking = this.#look();
    // Also where another upload looks: before the first look nothing is known.
    await this.#looking;
    if (share.tryTake(bytes)) return;
    await share.take(bytes, { onlyBelowShare: true }).catch((error: unknown) => {
      throw this.#isAlone(share) ? noRoom(error) : error;
    });
  }

  #isAlone({ lane }: Share): boolean {
    return this.#shares.figures.held === this.#shares.heldBy(lane);
  }

  async #look(): Promise<void> {
    this.#lookedAtMs = performance.now();
    // If it is unknown, the disk itself reports when it is full.
    const disk = await this.#free().catch(() => undefined);
    if (disk === undefined) return;
    const kept = Math.min(keptPart * disk.totalBytes, mostKeptBytes);
    this.#shares.units = Math.floor(this.#shares.figures.held + Math.max(0, disk.freeBytes - kept));
  }
}

function noRoom(cause: unknown): AppError {
  return new AppError('storage_full', 'the disk has no room for this upload', {
    hint: 'drop frames or make room on the disk, then try again',
    cause,
  });
}
