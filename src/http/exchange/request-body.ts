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
}

/**
 * The body of a request as it comes, still in its Content-Encoding. Pulled: who reads slowly slows the client down.
 * Rejects with `too_large`, with `invalid_input` where nothing or too little came for too long, and with ClientGone where the client
 * broke off.
 */
export async function* readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes, stallTimeoutMs, minBodyBytesPerSecond }: BodyLimits,
): AsyncGenerator<Buffer, void, undefined> {
  // The client asked whether it is worth its while, and by now it is.
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
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
    idle.stop();
    if (!request.complete) drain(request, chunks);
  }
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
