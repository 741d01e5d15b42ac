import type { AppError } from '../../core/app-error.ts';
import type { FairShares, Share } from '../../core/async/fair-shares.ts';
import { abortable } from '../../core/async/limited-wait.ts';

/** Of each body: as many of these as there may be requests under way are little. */
const freeBytes = 64 * 1024;
/** The client of a body waits for so long, unread, while others hold the memory. */
const mostWaitMs = 5000;

export interface HeldBodyOptions {
  readonly memory: FairShares;
  readonly lane: string;
  readonly signal: () => AbortSignal;
  /** Called at once with what gives the memory back. */
  readonly onHeld: (share: Share) => void;
}

/** A whole body in memory that tenants share. Of bodies that stand still, or whose tenant has too much, the memory is taken back. */
export async function holdBody(
  pieces: AsyncGenerator<Buffer, void, undefined>,
  { memory, lane, signal, onHeld }: HeldBodyOptions,
): Promise<Buffer> {
  const body = new CopiedPieces();
  let share: Share | undefined;
  let revoked: AbortSignal | undefined;
  const next = () => (revoked === undefined ? pieces.next() : abortable(pieces.next(), revoked));
  try {
    for (let step = await next(); step.done !== true; step = await next()) {
      const piece = step.value;
      if (body.length + piece.length > freeBytes) {
        share ??= openShare();
        if (!share.tryTake(piece.length)) await share.take(piece.length, { signal: signal(), waitMs: mostWaitMs });
      }
      body.add(piece);
    }
  } catch (error) {
    // Does not wait for what may never come.
    pieces.return().catch(() => {});
    throw error;
  }
  share?.settle();
  return body.whole();

  function openShare(): Share {
    const controller = new AbortController();
    revoked = controller.signal;
    const opened = memory.open({ lane, revoke: (error: AppError) => controller.abort(error) });
    onHeld(opened);
    return opened;
  }
}

const slabBytes = 1024 * 1024;

/** Pieces, copied into few: there may be a million of them, and each would take more than its bytes. */
class CopiedPieces {
  readonly #slabs: Buffer[] = [];
  /** Filled in the last slab. */
  #filled = 0;
  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    // Mostly it is all that there is.
    if (this.#slabs.length === 0) {
      this.#slabs.push(piece);
      this.#filled = piece.length;
      return;
    }
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(this.#lastWithRoom(piece.length - at), this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
  }

  whole(): Buffer {
    const last = this.#slabs.at(-1)?.subarray(0, this.#filled) ?? Buffer.alloc(0);
    return this.#slabs.length <= 1 ? last : Buffer.concat([...this.#slabs.slice(0, -1), last], this.length);
  }

  #lastWithRoom(bytes: number): Buffer {
    const last = this.#slabs.at(-1);
    if (last !== undefined && this.#filled < last.length) return last;
    // Doubled at first, and never zeroed: the system gives the pages as they are written, so that memory follows what has come.
    const slab = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(slabBytes, this.length)));
    this.#filled = 0;
    this.#slabs.push(slab);
    return slab;
  }
}
