import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeCalendarDate } from './calendar-text.ts';

function written(days: number): string {
  const out = new DataView(new ArrayBuffer(48));
  return Buffer.from(out.buffer, 0, writeCalendarDate(out, 0, days)).toString('latin1');
}

/** Date writes expanded years with six digits. */
function byDate(days: number): string {
  const date = new Date(days * 86_400_000);
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, '0');
  return `${year < 0 ? '-' : year > 9999 ? '+' : ''}${digits}${date.toISOString().slice(-20, -14)}`;
}

test('a date is the one that Date knows', () => {
  const days = fc.oneof(fc.integer({ min: -1e8, max: 1e8 }), fc.integer({ min: -800_000, max: 3_000_000 }));
  fc.assert(
    fc.property(days, (day) => {
      expect(written(day)).toBe(byDate(day));
    }),
    { numRuns: 3000 },
  );
});

test.each([
  [0, '1970-01-01'],
  [-1, '1969-12-31'],
  [11016, '2000-02-29'],
  [20484, '2026-01-31'],
  [-719528, '0000-01-01'],
  [-719529, '-0001-12-31'],
  [-735525, '-0044-03-15'],
  [2932896, '9999-12-31'],
  [2932897, '+10000-01-01'],
  [2147483646, '+5881580-07-10'],
  [-2147483646, '-5877641-06-25'],
])('day %d is %s', (days, text) => {
  expect(written(days)).toBe(text);
});
