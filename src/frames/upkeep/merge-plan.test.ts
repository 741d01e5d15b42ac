import { describe, expect, test } from 'vitest';
import { type MergeOptions, type MergePart, planMerge } from './merge-plan.ts';

const [kib, mib] = [2 ** 10, 2 ** 20];

const part = (size: number, isMergeable = true): MergePart => ({ size, uncompressedBytes: size, isMergeable });
const parts = (count: number, size: number): MergePart[] => Array.from({ length: count }, () => part(size));

/** A frame that grows. A merged part has all the bytes of its parts, as if files had no overhead. */
class Growth {
  parts: MergePart[] = [];
  appended = 0;
  rewritten = 0;
  most = 0;

  append(size: number, options: MergeOptions = {}): void {
    this.parts.push(part(size));
    this.appended += size;
    this.settle(options);
    this.most = Math.max(this.most, this.parts.length);
  }

  settle(options: MergeOptions = {}): void {
    for (;;) {
      const run = planMerge(this.parts, options);
      if (run === undefined) return;
      const size = this.parts.slice(run.from, run.to).reduce((sum, one) => sum + one.size, 0);
      if (run.to - run.from < 2 || size > 128 * mib)
        throw new Error(`a run of ${run.to - run.from} parts, ${size} bytes`);
      this.rewritten += size;
      this.parts.splice(run.from, run.to - run.from, part(size));
    }
  }
}

/** Numbers from 0 to 1, the same in every run. */
function* pseudoRandom(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe('many small appends', () => {
  test.each([1.5, 20])(
    'of %d KiB, 100,000 of them, leave few parts and rewrite each byte at most three times',
    (size) => {
      const frame = new Growth();
      for (let n = 0; n < 100_000; n++) frame.append(size * kib);
      expect(frame.rewritten / frame.appended).toBeLessThanOrEqual(3);
      const large = frame.appended / (32 * mib);
      expect(frame.most).toBeLessThan(100 + large);
      frame.settle({ standsStill: true });
      expect(frame.parts.length).toBeLessThan(10 + large);
      expect(planMerge(frame.parts, { standsStill: true })).toBeUndefined();
    },
  );

  test('of any size have a bound on both', () => {
    const frame = new Growth();
    const random = pseudoRandom();
    for (let n = 0; n < 2000; n++) frame.append(Math.round(kib * 2 ** (10 * random.next().value)));
    expect(frame.rewritten / frame.appended).toBeLessThanOrEqual(3);
    expect(frame.most).toBeLessThan(260 + frame.appended / (32 * mib));
  });

  test('with a standstill behind every hundredth do not rewrite the same bytes again and again', () => {
    const frame = new Growth();
    for (let n = 0; n < 10_000; n++) frame.append(2 * kib, { standsStill: n % 100 === 99 });
    expect(frame.rewritten / frame.appended).toBeLessThanOrEqual(6);
    expect(frame.most).toBeLessThan(120);
  });
});

test('small parts behind a large one are merged without it', () => {
  expect(planMerge([part(500 * mib), ...parts(40, kib)])).toEqual({ from: 1, to: 41 });
  expect(planMerge([part(20 * mib), ...parts(40, kib)])).toEqual({ from: 1, to: 41 });
});

test('parts that must stay separate runs', () => {
  const all = [...parts(20, kib), part(kib, false), ...parts(20, kib)];
  expect(planMerge(all)).toBeUndefined();
  expect(planMerge(all, { standsStill: true })).toEqual({ from: 0, to: 20 });
});

test('several sizes are merged at once, rather than one behind the other', () => {
  expect(planMerge([...parts(31, mib), ...parts(31, 32 * kib), ...parts(32, kib)])).toEqual({ from: 0, to: 94 });
});

test('a few parts wait, and are merged when the frame stands still', () => {
  const few = parts(8, kib);
  expect(planMerge(few)).toBeUndefined();
  expect(planMerge(few, { standsStill: true })).toEqual({ from: 0, to: 8 });
});

test('a standstill does not rewrite a part for a few bytes more', () => {
  expect(planMerge([part(mib), part(kib)], { standsStill: true })).toBeUndefined();
});

test('thousands of parts of old are merged in runs that are bounded', () => {
  expect(planMerge(parts(4500, kib))).toEqual({ from: 0, to: 500 });
  expect(planMerge(parts(40, 20 * mib))).toEqual({ from: 0, to: 6 });
});

test('parts that compress well count by what they hold', () => {
  const all = Array.from({ length: 100 }, () => ({ size: mib, uncompressedBytes: 160 * mib, isMergeable: true }));
  expect(planMerge(all)).toEqual({ from: 0, to: 6 });
});

test('too many small parts are merged whatever their sizes are', () => {
  const uneven = Array.from({ length: 300 }, (_, n) => part(n % 2 === 0 ? kib : 100 * (n + 1) * kib));
  const run = planMerge([...uneven].reverse());
  expect(run).toBeDefined();
});
