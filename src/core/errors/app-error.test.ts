import { expect, test } from 'vitest';
import { AppError, loggedError, toAppError } from './app-error.ts';

test.each(['sql_error', 'sql_forbidden'] as const)(
  '%s is logged without its text, which quotes the statement',
  (code) => {
    expect(loggedError(new AppError(code, 'near "secret"', { cause: new Error('secret') }))).toBeUndefined();
  },
);

test('other errors are logged with their cause, or as they are', () => {
  const cause = new Error('no room');
  expect(loggedError(new AppError('storage_full', 'full', { cause }))).toBe(cause);
  expect(loggedError(cause)).toBe(cause);
});

test.each(['EMFILE', 'ENFILE'])('%s is load that passes, wherever it comes from', (code) => {
  const thrown = new Error('the upload failed', { cause: Object.assign(new Error('open'), { code }) });
  expect(toAppError(thrown)).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1, cause: thrown });
});

test('what nobody foresaw is internal, and its message is not shown', () => {
  expect(toAppError(new Error('secret'))).toMatchObject({ code: 'internal', message: 'internal error' });
});

test('an error for callers stays as it is', () => {
  const error = new AppError('sql_error', 'no');
  expect(toAppError(error)).toBe(error);
});
