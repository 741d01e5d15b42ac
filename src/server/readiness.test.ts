import { expect, test } from 'vitest';
import { Readiness } from './readiness.ts';

test('a server is ready from the opening of its listeners until it stops, unless its storage is in trouble', () => {
  const readiness = new Readiness();
  expect([readiness.problem, readiness.problemOfWrites]).toEqual(['starting', 'starting']);
  let trouble: 'storage_failed' | undefined;
  let writeTrouble: 'storage_full' | undefined = 'storage_full';
  readiness.serving(
    () => trouble,
    () => writeTrouble,
  );
  expect([readiness.problem, readiness.problemOfWrites]).toEqual([undefined, 'storage_full']);
  expect(readiness.isStorageWritable).toBe(false);
  writeTrouble = undefined;
  expect([readiness.problem, readiness.problemOfWrites]).toEqual([undefined, undefined]);
  expect(readiness.isStorageWritable).toBe(true);
  trouble = 'storage_failed';
  expect([readiness.problem, readiness.problemOfWrites]).toEqual(['storage_failed', 'storage_failed']);
  expect(readiness.isStorageWritable).toBe(false);
  readiness.stopping();
  expect(readiness.problem).toBe('stopping');
});
