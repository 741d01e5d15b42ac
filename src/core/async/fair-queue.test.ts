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

test('a client with many connections has no more turns than one with a single connection', () => {
  const queue = new FairQueue<string>();
  for (let n = 1; n <= 5; n++) queue.push(`10.0.0.1#${n}`, `heavy ${n}`);
  queue.push('10.0.0.2#1', 'light 1');
  queue.push('10.0.0.2#1', 'light 2');
  const order = Array.from({ length: 7 }, () => queue.shift());
  expect(order).toEqual(['heavy 1', 'light 1', 'heavy 2', 'light 2', 'heavy 3', 'heavy 4', 'heavy 5']);
  expect([queue.size, queue.shift()]).toEqual([0, undefined]);
});

test('what was removed has no turn, and leaves nothing behind', () => {
  const queue = new FairQueue<string>();
  queue.push('a#1', 'one');
  queue.push('a#2', 'two');
  expect([queue.remove('a#1', 'one'), queue.remove('a#1', 'one')]).toEqual([true, false]);
  expect([queue.size, queue.shift(), queue.shift()]).toEqual([1, 'two', undefined]);
});
