import { FrameholdError } from './errors.ts';
import type { HttpRequest } from './transport.ts';

/** A longer wait is left to the caller. */
const longestWaitSeconds = 60;

/** With these codes the server has done nothing, for any operation. */
const undone: ReadonlySet<string> = new Set(['rate_limited', 'overloaded', 'auth_unavailable']);

/** Whether the same may be sent again, now that the server asks for it by Retry-After. */
export function mayRepeat(
  { method, body }: Pick<HttpRequest, 'method' | 'body'>,
  error: unknown,
): error is FrameholdError {
  if (!(error instanceof FrameholdError) || error.retryAfter === undefined) return false;
  if (error.retryAfter > longestWaitSeconds || !canBeSentAgain(body)) return false;
  return method === 'GET' || undone.has(error.code);
}

function canBeSentAgain(body: HttpRequest['body']): boolean {
  if (body === undefined || typeof body === 'string') return true;
  return body instanceof Uint8Array || body instanceof Blob || body instanceof FormData;
}

/** Rejects with the reason of the signal. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort);
  });
}

const firstWaitMs = 250;
const longestWaitMs = 5000;

/** The wait before the attempt of this number, from 1 on: twice as long each time. */
export function backoffMs(attempt: number, error: unknown): number {
  const asked = error instanceof FrameholdError ? (error.retryAfter ?? 0) * 1000 : 0;
  return Math.max(asked, Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs));
}
