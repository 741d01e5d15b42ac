import { expect, test } from 'vitest';
import { Readiness } from './readiness.ts';

test('a server is ready from the opening of its listeners until it stops, unless its storage is in trouble', () => {
  const readiness = new Readiness();
  expect(readiness.problem).toBe('starting');
  let trouble: 'storage_read_only' | undefined;
  readiness.serving(() => trouble);
  expect(readiness.problem).toBeUndefined();
  trouble = 'storage_read_only';
  expect(readiness.problem).toBe('storage_read_only');
  readiness.stopping();
  expect(readiness.problem).toBe('stopping');
});
