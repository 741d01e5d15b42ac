import { statfs } from 'node:fs/promises';
import { AppError } from '../../core/app-error.ts';
import { FairShares, type Share, type ShareFigures } from '../../core/async/fair-shares.ts';
import { abortable } from '../../core/async/limited-wait.ts';

interface FreeDisk {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Of each upload: so little can be put on any disk for as many as there may be. */
const uncountedBytes = 16_000_000;
/** Left for what is not on its way in. */
const keptPart = 0.05;
const mostKeptBytes = 5_000_000_000;
/** How long what is free is believed to be so. */
const lookEveryMs = 2000;
const mostWaitMs = 5000;

/** Disk for bytes on their way in, which tenants share: what is free, and what uploads hold of it already. */
export class UploadDisk {
  readonly #free: () => Promise<FreeDisk>;
  readonly #shares = new FairShares({ units: Number.MAX_SAFE_INTEGER, what: 'bytes of disk for uploads' });
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(free: () => Promise<FreeDisk>) {
    this.#free = free;
  }

  static below(directory: string): UploadDisk {
    return new UploadDisk(async () => {
      const { bavail, blocks, bsize } = await statfs(directory);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    });
  }

  get figures(): ShareFigures {
    return this.#shares.figures;
  }

  /** Passes an upload on, whose bytes are held until `onHeld`'s share is disposed of. */
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
      // Does not wait for what may never come.
      if (!isDone) pieces.return?.().catch(() => {});
    }
  }

  async #take(share: Share, bytes: number): Promise<void> {
    if (performance.now() - this.#lookedAtMs > lookEveryMs) await this.#look();
    if (share.tryTake(bytes)) return;
    await share.take(bytes, { waitMs: mostWaitMs, onlyBelowShare: true }).catch((error: unknown) => {
      throw this.#isAlone(share) ? noRoom(error) : error;
    });
  }

  #isAlone({ lane }: Share): boolean {
    return this.#shares.figures.held === this.#shares.heldBy(lane);
  }

  async #look(): Promise<void> {
    this.#lookedAtMs = performance.now();
    // Where it cannot be told, the disk itself says when it is full.
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
