import { expect, it } from 'vitest';
import { AppError } from '../../core/errors/app-error.ts';
import { errorTrailers } from './error-status.ts';

it('tells code, message, hint, position and delay of an AppError', () => {
  const error = new AppError('handle_not_found', 'no frame "é"', {
    hint: 'see 100 %',
    position: 3,
    retryAfterSeconds: 2,
  });
  expect(errorTrailers(error)).toEqual({
    'grpc-status': 5,
    'grpc-message': 'no frame "%C3%A9" (see 100 %25)',
    'framehold-code': 'handle_not_found',
    'framehold-hint': 'see 100 %25',
    'framehold-position': 3,
    'framehold-retry-after': 2,
  });
});

it('tells nothing of the inside when something unforeseen was thrown', () => {
  const trailers = errorTrailers(new Error('/secret/path'));
  expect(trailers).toEqual({ 'grpc-status': 13, 'grpc-message': 'internal error', 'framehold-code': 'internal' });
});
