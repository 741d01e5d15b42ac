import type { ServerResponse } from 'node:http';
import { AppError } from '../../core/app-error.ts';

/** The client did not wait for the end, or took nothing for too long. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

/** Aborts when the client goes away before it was answered. */
export function abortOnLeave(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort(new ReaderGone('the client went away'));
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new ReaderGone('the client went away'));
  });
  return controller.signal;
}

/**
 * Aborts as well when the answer has not begun in time. An error, unlike a cut connection, tells the client what to do.
 */
export function answerInTime(
  response: ServerResponse,
  timeoutMs: number,
  late: () => AppError = () => noAnswerWithin(timeoutMs),
): AbortSignal {
  const left = abortOnLeave(response);
  const controller = new AbortController();
  left.addEventListener('abort', () => controller.abort(left.reason), { once: true });
  const timer = setTimeout(() => {
    if (!response.headersSent) controller.abort(late());
  }, timeoutMs);
  timer.unref();
  response.once('close', () => clearTimeout(timer));
  return controller.signal;
}

/** Writes and, where the client is slower than we are, waits until it has taken what it was given. */
export async function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (response.destroyed) throw new ReaderGone('the client went away');
  if (response.write(bytes)) return;
  await new Promise<void>((resolve, reject) => {
    const onDrain = (): void => {
      response.off('close', onClose);
      resolve();
    };
    const onClose = (): void => {
      response.off('drain', onDrain);
      reject(new ReaderGone('the client went away'));
    };
    response.once('drain', onDrain).once('close', onClose);
  });
}

function noAnswerWithin(timeoutMs: number): AppError {
  return new AppError('sql_timeout', `no answer within ${timeoutMs / 1000} s`, { hint: 'ask for less at once' });
}
