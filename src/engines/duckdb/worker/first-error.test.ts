import { expect, test } from 'vitest';
import { firstError } from './first-error.ts';

test('of what fails while something else failed already, the first is told', async () => {
  const failing = (message: string): AsyncDisposable => ({
    [Symbol.asyncDispose]: async () => {
      throw new Error(message);
    },
  });
  const fail = async (): Promise<void> => {
    await using _outer = failing('third');
    await using _inner = failing('second');
    throw new Error('first');
  };
  const thrown = await fail().catch((error: unknown) => error);
  expect((thrown as Error).message).not.toBe('first');
  expect(firstError(thrown)).toEqual(new Error('first'));
});

test('anything else is what it is', () => {
  for (const thrown of [new Error('x'), 'x', undefined]) expect(firstError(thrown)).toBe(thrown);
});
