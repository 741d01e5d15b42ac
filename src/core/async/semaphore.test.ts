import { expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

const { signal } = new AbortController();

it('units are given in the order in which they were asked for, also where a later one would fit', async () => {
  const semaphore = new Semaphore(3);
  const begun: string[] = [];
  const first = await semaphore.acquire({ units: 2, signal });
  const second = semaphore.acquire({ units: 2, signal }).then(() => begun.push('second'));
  const third = semaphore.acquire({ signal }).then(() => begun.push('third'));
  await new Promise(setImmediate);
  expect(begun).toEqual([]);
  first();
  first();
  await Promise.all([second, third]);
  expect(begun).toEqual(['second', 'third']);
});

it('a wait that is given up takes no unit, and lets the next one go', async () => {
  const semaphore = new Semaphore(2);
  const release = await semaphore.acquire({ signal });
  const controller = new AbortController();
  const large = semaphore.acquire({ units: 2, signal: controller.signal });
  const small = semaphore.acquire({ signal });
  controller.abort(new Error('gone'));
  await expect(large).rejects.toThrow('gone');
  await small;
  await expect(semaphore.acquire({ signal: AbortSignal.abort(new Error('late')) })).rejects.toThrow('late');
  release();
});

it('clients take turns, however many connections one of them has', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire({ lane: '10.0.0.1#0' });
  const order: string[] = [];
  const waiting = ['10.0.0.1#1', '10.0.0.1#2', '10.0.0.1#3', '10.0.0.2#1'].map(async (lane) => {
    const releaseOwn = await semaphore.acquire({ lane });
    order.push(lane);
    releaseOwn();
  });
  release();
  await Promise.all(waiting);
  expect(order).toEqual(['10.0.0.1#1', '10.0.0.2#1', '10.0.0.1#2', '10.0.0.1#3']);
});

it.each([0, 1, 2])('of those beyond the units, %d may wait', async (maxWaiting) => {
  const semaphore = new Semaphore(1, { maxWaiting, overloaded: () => new Error('too many') });
  const release = await semaphore.acquire();
  const controller = new AbortController();
  const waiting = Array.from({ length: maxWaiting }, () => semaphore.acquire({ signal: controller.signal }));
  await expect(semaphore.acquire()).rejects.toThrow('too many');
  controller.abort(new Error('gone'));
  for (const wait of waiting) await expect(wait).rejects.toThrow('gone');
  release();
  release();
  (await semaphore.acquire())();
});
