import { expect, test } from 'vitest';
import { ByteCache } from './byte-cache.ts';

const overhead = 256;

test('gives back what it was given, by version and key', () => {
  const space = new ByteCache(1_000_000).space<string>();
  space.set('v1', 'a', 'one', 3);
  space.set('v2', 'a', 'two', 3);
  expect(space.get('v1', 'a')).toBe('one');
  expect(space.get('v2', 'a')).toBe('two');
  expect(space.get('v1', 'b')).toBeUndefined();
});

test('tells what it holds of a version, in all its parts', () => {
  const hot = new ByteCache(1_000_000);
  const [one, other] = [hot.space<string>(), hot.space<string>()];
  one.set('v1', 'a', 'x', 100);
  one.set('v1', 'b', 'x', 10);
  other.set('v1', 'a', 'x', 1);
  other.set('v2', 'a', 'x', 1);
  expect(hot.bytesOf('v1')).toBe(111 + 3 * overhead);
  hot.deleteVersion('v1');
  expect(hot.bytesOf('v1')).toBe(0);
});

test('never holds more than its budget', () => {
  const hot = new ByteCache(100_000);
  const space = hot.space<number>();
  for (let n = 0; n < 5000; n++) {
    space.set(`v${n % 7}`, String(n % 613), n, (n * 7919) % 12_000);
    if (n % 3 === 0) space.get(`v${n % 7}`, String((n * 31) % 613));
    expect(hot.usedBytes).toBeLessThanOrEqual(100_000);
  }
  expect(hot.usedBytes).toBeGreaterThan(50_000);
});

test('a walk through everything does not flush what is read often', () => {
  const space = new ByteCache(100 * 1256).space<number>();
  for (let n = 0; n < 20; n++) space.set('hot', String(n), n, 1000);
  for (let round = 0; round < 3; round++) for (let n = 0; n < 20; n++) space.get('hot', String(n));
  for (let n = 0; n < 2000; n++) space.set('walk', String(n), n, 1000);
  const kept = Array.from({ length: 20 }, (_, n) => space.get('hot', String(n))).filter((value) => value !== undefined);
  expect(kept).toHaveLength(20);
});

test('what comes back soon after it fell out goes to the main queue', () => {
  const space = new ByteCache(20 * 1256).space<number>();
  space.set('v', 'again', 1, 1000);
  for (let n = 0; n < 25; n++) space.set('v', `once${n}`, n, 1000);
  expect(space.has('v', 'again')).toBe(false);
  space.set('v', 'again', 1, 1000);
  for (let n = 0; n < 30; n++) space.set('v', `later${n}`, n, 1000);
  expect(space.has('v', 'again')).toBe(true);
});

test('does not keep an entry larger than an eighth of the budget', () => {
  const hot = new ByteCache(8000);
  const space = hot.space<number>();
  expect(space.set('v', 'fits', 1, 1000 - overhead)).toBe(true);
  expect(space.set('v', 'large', 1, 1001)).toBe(false);
  expect(space.get('v', 'large')).toBeUndefined();
});

test('a budget of nothing keeps nothing', () => {
  const hot = new ByteCache(0);
  const space = hot.space<number>();
  expect(space.set('v', 'a', 1, 0)).toBe(false);
  expect(hot.entries).toBe(0);
});

test('forgets a version in all spaces at once', () => {
  const hot = new ByteCache(1_000_000);
  const [pages, chunks] = [hot.space<number>(), hot.space<number>()];
  pages.set('old', 'a', 1, 10);
  chunks.set('old', 'b', 2, 10);
  chunks.set('new', 'b', 3, 10);
  expect(hot.hasVersion('old')).toBe(true);
  hot.deleteVersion('old');
  expect(hot.hasVersion('old')).toBe(false);
  expect(chunks.get('new', 'b')).toBe(3);
  expect(hot.usedBytes).toBe(10 + overhead);
});

test('replacing an entry counts its bytes once', () => {
  const hot = new ByteCache(1_000_000);
  const space = hot.space<number>();
  space.set('v', 'a', 1, 500);
  space.set('v', 'a', 2, 100);
  expect(space.get('v', 'a')).toBe(2);
  expect(hot.usedBytes).toBe(100 + overhead);
});
