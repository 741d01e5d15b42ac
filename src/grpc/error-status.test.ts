import { expect, it } from 'vitest';
import { AppError, toAppError } from '../core/errors/app-error.ts';
import { failureOf } from './error-status.ts';

it('tells code, message, hint, position and delay of an AppError', () => {
  const error = new AppError('handle_not_found', 'no frame "é"', {
    hint: 'see 100 %',
    position: 3,
    retryAfterSeconds: 2,
  });
  expect(failureOf(error)).toEqual({
    status: 'NOT_FOUND',
    message: 'no frame "é" (see 100 %)',
    trailers: {
      'framehold-code': 'handle_not_found',
      'framehold-hint': 'see 100 %',
      'framehold-position': 3,
      'framehold-retry-after': 2,
    },
  });
});

it('tells nothing of the inside when something unforeseen was thrown', () => {
  const failure = failureOf(toAppError(new Error('/secret/path')));
  expect(failure).toEqual({
    status: 'INTERNAL',
    message: 'internal error',
    trailers: { 'framehold-code': 'internal' },
  });
});
