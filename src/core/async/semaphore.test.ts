import { expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

const { signal } = new AbortController();

it('units are given in the order in which they were asked for, also where a later one would fit', async () => {
  const semaphore = new Semaphore(3);
  const begun: string[] = [];
  const first = await semaphore.acquire(2, signal);
  const second = semaphore.acquire(2, signal).then(() => begun.push('second'));
  const third = semaphore.acquire(1, signal).then(() => begun.push('third'));
  await new Promise(setImmediate);
  expect(begun).toEqual([]);
  first();
  first();
  await Promise.all([second, third]);
  expect(begun).toEqual(['second', 'third']);
});

it('a wait that is given up takes no unit, and lets the next one go', async () => {
  const semaphore = new Semaphore(2);
  const release = await semaphore.acquire(1, signal);
  const controller = new AbortController();
  const large = semaphore.acquire(2, controller.signal);
  const small = semaphore.acquire(1, signal);
  controller.abort(new Error('gone'));
  await expect(large).rejects.toThrow('gone');
  await small;
  await expect(semaphore.acquire(1, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  release();
});
