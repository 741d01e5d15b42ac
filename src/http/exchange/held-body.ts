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
  /** Undefined where the body does not say it, or is packed. */
  readonly length: number | undefined;
  readonly signal: () => AbortSignal;
  /** Called at once with what gives the memory back. */
  readonly onHeld: (share: Share) => void;
}

/** A whole body in memory that tenants share. Of bodies that stand still, or whose tenant has too much, the memory is taken back. */
export async function holdBody(
  pieces: AsyncGenerator<Buffer, void, undefined>,
  { memory, lane, length: announced, signal, onHeld }: HeldBodyOptions,
): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0);
  let filled = 0;
  let share: Share | undefined;
  let revoked: AbortSignal | undefined;
  const next = () => (revoked === undefined ? pieces.next() : abortable(pieces.next(), revoked));
  try {
    for (let step = await next(); step.done !== true; step = await next()) {
      const piece = step.value;
      const length = filled + piece.length;
      if (length > freeBytes) {
        share ??= openShare();
        if (!share.tryTake(piece.length)) await share.take(piece.length, { signal: signal(), waitMs: mostWaitMs });
      }
      // Copied: there may be a million pieces, and each would take more than its bytes.
      if (filled === 0) bytes = piece;
      else {
        if (length > bytes.length)
          bytes = withRoom(bytes.subarray(0, filled), Math.max(length, announced ?? 2 * length));
        piece.copy(bytes, filled);
      }
      filled = length;
    }
  } catch (error) {
    // Does not wait for what may never come.
    pieces.return().catch(() => {});
    throw error;
  }
  share?.settle();
  return bytes.subarray(0, filled);

  function openShare(): Share {
    const controller = new AbortController();
    revoked = controller.signal;
    const opened = memory.open({ lane, revoke: (error: AppError) => controller.abort(error) });
    onHeld(opened);
    return opened;
  }
}

/** The system gives the pages as they are written, so that memory follows what has come. */
function withRoom(bytes: Buffer, room: number): Buffer {
  const out = Buffer.allocUnsafeSlow(room);
  bytes.copy(out);
  return out;
}
