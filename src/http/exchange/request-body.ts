import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../core/app-error.ts';
import { IdleTimer } from '../../core/async/idle-timer.ts';
import { ClientGone } from './response-writer.ts';

export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** How long a client may send nothing. */
  readonly stallTimeoutMs: number;
  /** Fewer, on average over `stallTimeoutMs` of waiting for the client, end the request. 0: any number will do. */
  readonly minBodyBytesPerSecond: number;
  /** Resolves when there is memory for so many bytes more that its reader needs. Default: it takes what it needs. */
  readonly takeMemory?: ((bytes: number) => Promise<void>) | undefined;
}

interface BodyWatch {
  readonly onProgress: () => void;
  readonly onEnd: () => void;
}

const mostEarlyBytes = 64 * 1024;

/**
 * The body of a request as it comes, still in its Content-Encoding. Pulled: who reads slowly slows the client down.
 * Rejects with `too_large`, with `invalid_input` where nothing or too little came for too long, and with ClientGone where the client
 * broke off. `watch`: what the request holds may be taken back until its body has come.
 */
export async function* readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes, stallTimeoutMs, minBodyBytesPerSecond }: BodyLimits,
  watch: BodyWatch,
): AsyncGenerator<Buffer, void, undefined> {
  // The client asked whether it is worth its while, and by now it is.
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
  /** Of the time since which the rate is measured: only the waiting, not the work of our reader. */
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
 * What has come of a body with its head: mostly all of a small one. The iterator of a stream, and a timer, would cost more
 * than everything else that is done for it.
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

/** Many clients listen only when they are rid of the whole body; the listener bounds how long that may take. */
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
