import type { IncomingMessage, ServerResponse } from 'node:http';
import { IdleTimer } from '@framehold/async';
import { AppError } from '../../core/errors/app-error.ts';
import { ClientGone } from './response-writer.ts';
import { isCutShort } from './short-chunks.ts';

export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** Most time for which a client may send nothing. */
  readonly stallTimeoutMs: number;
  /** Fewer, on average over `stallTimeoutMs` of waiting for the client, end the request. 0: any number will do. */
  readonly minBodyBytesPerSecond: number;
  /** Resolves when there is memory for `bytes` more for the reader. Default: no limit. */
  readonly takeMemory?: ((bytes: number) => Promise<void>) | undefined;
  /** In whose turn it is unpacked. Default: one for all. */
  readonly lane?: string | undefined;
}

interface BodyWatch {
  readonly onProgress: () => void;
  /** Awaited before the next piece, so that other requests get a turn. */
  readonly turn: () => Promise<void> | undefined;
  readonly onEnd: () => void;
}

/** Bytes of each body whose memory is not counted: little even for the largest number of requests. */
export const uncountedBytes = 64 * 1024;

const mostEarlyBytes = 64 * 1024;

/**
 * The body of a request as it comes, still in its Content-Encoding. Pulled: a slow reader slows the client down. Rejects with
 * `too_large`, with `invalid_input` if nothing or too little came for too long, and with ClientGone if the client broke off.
 * `watch`: the memory of the request may be taken back until its body has come.
 */
export async function* readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes, stallTimeoutMs, minBodyBytesPerSecond }: BodyLimits,
  watch: BodyWatch,
): AsyncGenerator<Buffer, void, undefined> {
  // The client waits for permission to send its body, and gets it now.
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
  if (Number(request.headers['content-length']) <= Math.min(mostEarlyBytes, maxBodyBytes)) {
    const { pieces, isWhole } = await readEarly(request);
    let isTaken = false;
    try {
      yield* pieces;
      isTaken = true;
    } finally {
      if (!isTaken) request.resume();
    }
    if (isWhole) {
      watch.onEnd();
      return;
    }
  }
  let bytes = 0;
  /** For the rate: only the waiting counts, not the work of our reader. */
  let [waitedMs, waitedBytes] = [0, 0];
  const idle = new IdleTimer(stallTimeoutMs, () => standsStill(stallTimeoutMs));
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  try {
    for (;;) {
      const waitingSince = performance.now();
      const step = await idle.limit(chunks.next()).catch((error: unknown) => {
        throw error instanceof AppError ? error : new ClientGone('the client broke off its body');
      });
      if (step.done === true) break;
      watch.onProgress();
      bytes += step.value.length;
      waitedBytes += step.value.length;
      waitedMs += performance.now() - waitingSince;
      if (waitedMs >= stallTimeoutMs) {
        if (waitedBytes * 1000 < minBodyBytesPerSecond * waitedMs) throw tooSlow(minBodyBytesPerSecond, stallTimeoutMs);
        [waitedMs, waitedBytes] = [0, 0];
      }
      if (bytes > maxBodyBytes) throw tooLarge(maxBodyBytes);
      if (isCutShort(request)) throw tooShortChunks();
      const turn = watch.turn();
      if (turn !== undefined) await turn;
      yield step.value;
    }
    if (!request.complete) throw new ClientGone('the client broke off its body');
  } finally {
    watch.onEnd();
    idle.stop();
    if (!request.complete) drain(request, chunks);
  }
}

interface EarlyBody {
  readonly pieces: readonly Buffer[];
  readonly isWhole: boolean;
}

/**
 * The bytes of a body that came with its head: mostly all of a small one. The iterator of a stream, and a timer, would cost more
 * than all other work for it.
 */
function readEarly(request: IncomingMessage): Promise<EarlyBody> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const onData = (piece: Buffer): void => void pieces.push(piece);
    const settle = (): void => {
      clearImmediate(waiting);
      request.off('data', onData).off('end', settle).off('close', settle).off('error', settle).pause();
      resolve({ pieces, isWhole: request.complete && request.readableEnded });
    };
    request.on('data', onData).on('end', settle).on('close', settle).on('error', settle);
    const waiting = setImmediate(settle);
  });
}

/** Many clients read only after they have sent the whole body; the listener bounds how long that may take. */
function drain(request: IncomingMessage, chunks: AsyncIterator<Buffer>): void {
  chunks.return?.().then(
    () => request.resume(),
    () => {},
  );
}

export function tooLarge(maxBodyBytes: number): AppError {
  return new AppError('too_large', `the body is larger than the ${maxBodyBytes} bytes allowed`, {
    hint: 'send less at once, or let the operator raise http.max_body',
  });
}

function tooShortChunks(): AppError {
  return new AppError('invalid_input', 'the body came in chunks of a few bytes each', {
    hint: 'send chunks of at least 16 bytes',
  });
}

function tooSlow(bytesPerSecond: number, windowMs: number): AppError {
  const message = `the body came with fewer than ${bytesPerSecond} bytes a second over ${windowMs / 1000} s`;
  return new AppError('invalid_input', message, {
    hint: 'send it faster, or let the operator lower http.min_body_rate',
  });
}

function standsStill(stallTimeoutMs: number): AppError {
  return new AppError('invalid_input', `nothing of the body came for ${stallTimeoutMs / 1000} s`, {
    hint: 'send it without pauses, or let the operator raise http.stall_timeout',
  });
}
