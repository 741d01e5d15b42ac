import { expect, test } from 'vitest';
import { LruMap } from './lru-map.ts';

const keysOf = (map: LruMap<number>): string[] => ['a', 'b', 'c', 'd'].filter((key) => map.has(key));

test('the entry that was not used for longest makes room', () => {
  const map = new LruMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.get('a')).toBe(1);
  map.set('c', 3);
  expect(keysOf(map)).toEqual(['a', 'c']);
});

test('bytes are bounded too, but the newest entry stays, whatever its size', () => {
  const map = new LruMap<number>(10, 100);
  for (const key of ['a', 'b', 'c']) map.set(key, 1, 40);
  expect(keysOf(map)).toEqual(['b', 'c']);
  map.set('c', 1, 20);
  map.set('a', 1, 40);
  expect(map.size).toBe(3);
  map.set('d', 1, 1000);
  expect(keysOf(map)).toEqual(['d']);
  expect([map.delete('d'), map.delete('d')]).toEqual([true, false]);
  for (const key of ['a', 'b']) map.set(key, 1, 50);
  expect(map.size).toBe(2);
});

test('the oldest entries are dropped up to the first that does not match', () => {
  const map = new LruMap<number>();
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 9, d: 1 })) map.set(key, value);
  map.deleteOldestWhile((value) => value < 5);
  expect(keysOf(map)).toEqual(['c', 'd']);
});
