import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FairShares, type FairSharesOptions } from './fair-shares.ts';
import type { Share } from './share.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Shares of 100 places, a tenth of them for others; `ended` has the names of those that lost theirs. */
function places(options: Partial<FairSharesOptions> = {}) {
  const shares = new FairShares({ units: 100, what: 'places', ...options });
  const ended: string[] = [];
  const open = (name: string): Share => shares.open({ lane: `${name}#1`, revoke: () => void ended.push(name) });
  const take = (name: string, units: number): Share => {
    const share = open(name);
    share.takeNow(units);
    return share;
  };
  /** How many more it can have at once. */
  const fill = (share: Share): number => {
    let taken = 0;
    while (share.tryTake(1)) taken++;
    return taken;
  };
  return { shares, ended, open, take, fill };
}

test('one that is alone may take all but a tenth', () => {
  const { open, fill } = places();
  const share = open('a');
  expect(fill(share)).toBe(90);
  expect(() => share.takeNow(1)).toThrow('90 of 100 places are taken, 90 of them by you');
  share.give(90);
  expect(fill(share)).toBe(90);
});

test('many requests of one tenant have together what one has', () => {
  const { open, fill, shares } = places();
  expect([fill(open('a')), fill(open('a')), shares.heldBy('a#2')]).toEqual([90, 0, 90]);
});

test('those that take turns at taking have equal shares, and something is left for one more', () => {
  const { open } = places();
  const names = ['a', 'b', 'c'].map(open);
  while (names.map((share) => share.tryTake(1)).includes(true)) {}
  const held = names.map(({ units }) => units);
  expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
  expect(held.reduce((sum, units) => sum + units)).toBeGreaterThanOrEqual(90);
  expect(open('d').tryTake(2)).toBe(true);
});

test('a tenant with little does not halve what another one may have', () => {
  const { open, take, fill } = places();
  take('b', 1);
  expect(fill(open('a'))).toBe(89);
});

test('the reserve is for one that comes, and what is given back goes to it before the one that had all', () => {
  const { open, take, fill } = places();
  const all = take('a', 90);
  const other = open('b');
  expect([other.tryTake(10), all.tryTake(1)]).toEqual([true, false]);
  all.give(10);
  expect([all.tryTake(6), fill(other)]).toEqual([false, 10]);
});

test('what comes free goes to the tenant that holds least, and within it in turns', async () => {
  const { open, take } = places({ reserve: 0 });
  const all = take('a', 100);
  const order: string[] = [];
  const waits = ['a', 'a', 'b', 'b', 'c'].map((name) =>
    open(name)
      .take(10)
      .then(() => order.push(name)),
  );
  all.give(50);
  await Promise.all(waits);
  // They wait with nothing, while a has 50.
  expect(order).toEqual(['b', 'c', 'b', 'a', 'a']);
});

test('who needs much waits for it, and who has more takes nothing of that', () => {
  const { open, take, shares } = places({ reserve: 0 });
  const all = take('a', 90);
  void open('b').take(40);
  expect([all.tryTake(1), shares.figures.waiting]).toEqual([false, 1]);
  expect(open('c').tryTake(5)).toBe(false);
  all.give(30);
  expect(shares.heldBy('b')).toBe(40);
});

test('one that waits with less than an equal share gets it from those with more after a quarter of a second', async () => {
  const { open, take, ended, shares } = places();
  const first = take('a', 45);
  const second = take('a', 45);
  take('b', 10);
  vi.advanceTimersByTime(100);
  first.progress();
  const share = open('b');
  const wait = share.take(20, { waitMs: 2000 });
  await vi.advanceTimersByTimeAsync(200);
  expect([share.units, ended]).toEqual([0, []]);
  await vi.advanceTimersByTimeAsync(200);
  await wait;
  // The second has made no progress for longer.
  expect([share.units, ended, first.units, second.units]).toEqual([20, ['a'], 45, 0]);
  expect(() => second.tryTake(1)).toThrow('others wait for places');
  expect(shares.figures).toEqual({ units: 100, held: 75, waiting: 0, refused: 0, revoked: 1 });
  // Right after that nobody gets more than an equal share.
  expect([first.tryTake(1), share.tryTake(1)]).toEqual([false, true]);
  await vi.advanceTimersByTimeAsync(6000);
  expect(first.tryTake(1)).toBe(true);
});

test('nobody loses what it has where that would not be enough, or where the one that waits has as much', async () => {
  const { shares, open, take, ended } = places();
  shares.open({ lane: 'a#1' }).takeNow(80);
  take('a', 10);
  take('b', 10);
  const refused = open('b').take(25, { waitMs: 1000 }).catch(String);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await refused).toContain('100 of 100 places are taken, 10 of them by you');
  expect([ended, shares.figures.refused]).toEqual([[], 1]);
});

test('one that sits still for two seconds while others wait loses what it has, also to its own tenant', async () => {
  const { open, take, ended } = places();
  const still = take('a', 45);
  const busy = take('a', 45);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ended).toEqual([]);
  busy.progress();
  const wait = open('a').take(20, { waitMs: 5000 });
  await vi.advanceTimersByTimeAsync(600);
  await wait;
  expect([ended, still.units, busy.units]).toEqual([['a'], 0, 45]);
});

test('where all that a tenant has begun wait for more, the newest makes room, so that the others come to their end', async () => {
  const { open } = places();
  const begun = Array.from({ length: 9 }, () => open('a'));
  for (const share of begun) share.takeNow(10);
  const outcomes = begun.map((share) =>
    share.take(10, { waitMs: 5000 }).then(
      () => share[Symbol.dispose](),
      () => 'refused',
    ),
  );
  await vi.advanceTimersByTimeAsync(600);
  expect(await Promise.all(outcomes)).toEqual([...Array(8).fill(undefined), 'refused']);
});

test('once one had to wait, those that come right after it get their share at once', async () => {
  const { open, take, ended } = places();
  for (let n = 0; n < 9; n++) take('a', 10);
  take('b', 10);
  const first = open('b').take(10);
  await vi.advanceTimersByTimeAsync(600);
  await first;
  await open('b').take(10);
  await open('c').take(10);
  expect(ended).toHaveLength(3);
});

test('who is to wait only below an equal share is refused at once with as much', async () => {
  const { open, take, ended } = places({ reserve: 0 });
  for (let n = 0; n < 10; n++) take('a', 10);
  const options = { onlyBelowShare: true, waitMs: 2000 };
  await expect(open('a').take(1, options)).rejects.toThrow('100 of 100 places are taken, 100 of them by you');
  const other = open('b').take(1, options);
  await vi.advanceTimersByTimeAsync(600);
  await other;
  expect(ended).toEqual(['a']);
});

test('what is settled is not taken back', async () => {
  const { open, take, ended } = places();
  take('a', 90).settle();
  const refused = open('b').take(20, { waitMs: 3000 }).catch(String);
  await vi.advanceTimersByTimeAsync(3000);
  expect(await refused).toContain('are taken');
  expect(ended).toEqual([]);
});

test('one that leaves or is revoked while it waits has no turn, and the next one has', async () => {
  const { open, take, shares } = places({ reserve: 0 });
  const all = take('a', 100);
  const controller = new AbortController();
  const left = open('b').take(100, { signal: controller.signal }).catch(String);
  const gone = open('b');
  const disposed = gone.take(100).catch(String);
  const next = open('b');
  const served = next.take(10);
  controller.abort(new Error('gone'));
  gone[Symbol.dispose]();
  all.give(10);
  await served;
  expect([await left, await disposed, next.units]).toEqual(['Error: gone', 'Error: the share was given back', 10]);
  expect(shares.figures).toMatchObject({ held: 100, waiting: 0 });
});

test('disposed of, it gives back all that it holds, and leaves no timer', async () => {
  const { open, take, shares } = places();
  const share = take('a', 90);
  const wait = open('b').take(50);
  share[Symbol.dispose]();
  share[Symbol.dispose]();
  await wait;
  expect([shares.figures.held, vi.getTimerCount()]).toEqual([50, 0]);
});

test('more than there is is refused at once, and what is there may change', async () => {
  const { open, take, shares } = places();
  await expect(open('a').take(101)).rejects.toThrow('0 of 100 places');
  take('a', 90);
  shares.units = 200;
  expect(take('a', 90).units).toBe(90);
});

test('a tenant whose waiting request leaves while another of its begins is counted as before', async () => {
  const { shares, open, take } = places({ reserve: 0 });
  const all = take('b', 100);
  const leaving = new AbortController();
  const wait = open('a')
    .take(10, { signal: leaving.signal })
    .catch(() => 'left');
  leaving.abort();
  expect(open('a').tryTake(10)).toBe(false);
  all.give(100);
  const next = take('a', 10);
  expect(await wait).toBe('left');
  expect(shares.heldBy('a')).toBe(10);
  next.give(10);
  expect(shares.figures.held).toBe(0);
});

test('what is left when a waiting request has its units is there for others at once', async () => {
  const { open, take } = places({ reserve: 0 });
  const all = take('b', 100);
  const wait = open('a').take(10);
  all.give(80);
  // Before the one that waited hears of it.
  expect(open('b').tryTake(10)).toBe(true);
  await wait;
});
