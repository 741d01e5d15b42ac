import { abortable, ownTurn } from '@framehold/async';
import { uncountedBytes } from './request-body.ts';

export interface HeldBodyOptions {
  /** Resolves when there is memory for `bytes` more. */
  readonly takeMemory: (bytes: number) => Promise<void>;
  /** Aborted where the memory is taken back. */
  readonly signal: () => AbortSignal;
  /** In which turn a long one is joined. */
  readonly lane: () => string;
}

/** A whole body. */
export async function holdBody(
  pieces: AsyncGenerator<Buffer, void, undefined>,
  { takeMemory, signal, lane }: HeldBodyOptions,
): Promise<Buffer> {
  const body = new CopiedPieces();
  let isCounted = false;
  const next = () => (isCounted ? abortable(pieces.next(), signal()) : pieces.next());
  try {
    for (let step = await next(); step.done !== true; step = await next()) {
      const piece = step.value;
      isCounted = body.length + piece.length > uncountedBytes;
      if (isCounted) await takeMemory(piece.length);
      body.add(piece);
    }
  } catch (error) {
    // Does not wait for a piece that may never come.
    pieces.return().catch(() => {});
    throw error;
  }
  return body.whole(lane);
}

const slabBytes = 1024 * 1024;
/** Joined in one go. */
const slabsInTurn = 8;

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

  async whole(lane: () => string): Promise<Buffer> {
    const last = this.#slabs.at(-1)?.subarray(0, this.#filled) ?? Buffer.alloc(0);
    if (this.#slabs.length <= 1) return last;
    const whole = Buffer.allocUnsafeSlow(this.length);
    let filled = 0;
    for (const [index, slab] of [...this.#slabs.slice(0, -1), last].entries()) {
      if (index > 0 && index % slabsInTurn === 0) await ownTurn(lane());
      filled += slab.copy(whole, filled);
    }
    return whole;
  }

  #lastWithRoom(bytes: number): Buffer {
    const last = this.#slabs.at(-1);
    if (last !== undefined && this.#filled < last.length) return last;
    // Doubled at first, and never zeroed: the system gives pages as they are written, so that memory follows the received bytes.
    const slab = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(slabBytes, this.length)));
    this.#filled = 0;
    this.#slabs.push(slab);
    return slab;
  }
}
