import { expect, test } from 'vitest';
import { principalOf } from '../../../test/support/principals.ts';
import { OwnedMap } from './owned-map.ts';

const [ann, bob] = [principalOf('a'), principalOf('b')];

test('a tenant that keeps too much loses its own oldest, never those of others', () => {
  const map = new OwnedMap<number>(10);
  for (let n = 0; n < 3; n++) map.set(bob, String(n), n);
  for (let n = 0; n < 100; n++) map.set(ann, String(n), n);
  expect(map.size).toBe(10);
  expect([0, 1, 2].map((n) => map.get(bob, String(n)))).toEqual([0, 1, 2]);
  expect([92, 93, 99].map((n) => map.get(ann, String(n)))).toEqual([undefined, 93, 99]);
});

test('bytes count as well, and the newest stays however large it is', () => {
  const map = new OwnedMap<string>(100, 1000);
  map.set(bob, 'small', 'x', 10);
  map.set(ann, 'large', 'y', 900);
  map.set(ann, 'larger', 'z', 950);
  expect([map.get(bob, 'small'), map.get(ann, 'large'), map.get(ann, 'larger')]).toEqual(['x', undefined, 'z']);
  map.set(ann, 'endless', 'w', 5000);
  expect([map.get(bob, 'small'), map.get(ann, 'endless'), map.size]).toEqual(['x', 'w', 2]);
});

test('what one keeps, nobody else finds or deletes', () => {
  const map = new OwnedMap<number>(10);
  map.set(ann, 'x', 1);
  expect([map.has(bob, 'x'), map.get(bob, 'x'), map.delete(bob, 'x')]).toEqual([false, undefined, false]);
  expect([map.has(ann, 'x'), map.delete(ann, 'x'), map.size]).toEqual([true, true, 0]);
});
