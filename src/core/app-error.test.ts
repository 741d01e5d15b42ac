import { expect, test } from 'vitest';
import { AppError, loggedError } from './app-error.ts';

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
