import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

test('lanes take turns, each in its own order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item);
  queue.push('b', 'b1');
  expect([queue.shift(), queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
    'a1',
    'b1',
    'a2',
    'a3',
    undefined,
  ]);
});

test('a lane that comes back waits behind those that were there', () => {
  const queue = new FairQueue<string>();
  queue.push('a', 'a1');
  queue.push('b', 'b1');
  expect(queue.shift()).toBe('a1');
  queue.push('a', 'a2');
  expect([queue.shift(), queue.shift()]).toEqual(['b1', 'a2']);
});

test('what was removed does not come out', () => {
  const queue = new FairQueue<string>();
  queue.push('a', 'a1');
  queue.push('a', 'a2');
  expect(queue.remove('a', 'a1')).toBe(true);
  expect(queue.remove('a', 'a1')).toBe(false);
  expect(queue.size).toBe(1);
  expect(queue.shift()).toBe('a2');
});
