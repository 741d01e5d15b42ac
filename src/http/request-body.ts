import { AppError } from '../core/app-error.ts';
import { ReaderGone } from './response-writer.ts';
import type { Exchange } from './route.ts';

export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** How long a client may send nothing. */
  readonly stallTimeoutMs: number;
}

/**
 * The body of a request as it comes, still in its Content-Encoding. Pulled: who reads slowly slows the client down.
 * Rejects with `too_large`, with `invalid_input` where nothing came for too long, and with ReaderGone where the client
 * broke off.
 */
export async function* requestBody(
  { request }: Pick<Exchange, 'request'>,
  { maxBodyBytes, stallTimeoutMs }: BodyLimits,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  let stalled: NodeJS.Timeout | undefined;
  const chunks = request[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      let onStall: ((error: AppError) => void) | undefined;
      const late = new Promise<never>((_, reject) => {
        onStall = reject;
      });
      stalled = setTimeout(() => onStall?.(standsStill(stallTimeoutMs)), stallTimeoutMs);
      const step = await Promise.race([chunks.next(), late]).catch((error: unknown) => {
        throw error instanceof AppError ? error : new ReaderGone('the client broke off its body');
      });
      clearTimeout(stalled);
      if (step.done === true) break;
      bytes += step.value.length;
      if (bytes > maxBodyBytes) throw tooLarge(maxBodyBytes);
      yield step.value;
    }
    if (!request.complete) throw new ReaderGone('the client broke off its body');
  } finally {
    clearTimeout(stalled);
  }
}

export function tooLarge(maxBodyBytes: number): AppError {
  return new AppError('too_large', `the body is larger than the ${maxBodyBytes} bytes allowed`, {
    hint: 'send less at once, or let the operator raise http.max_body',
  });
}

function standsStill(stallTimeoutMs: number): AppError {
  return new AppError('invalid_input', `nothing of the body came for ${stallTimeoutMs / 1000} s`, {
    hint: 'send it without pauses, or let the operator raise http.stall_timeout',
  });
}
