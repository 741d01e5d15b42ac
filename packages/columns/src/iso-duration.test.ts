import { expect, test } from 'vitest';
import { isoDuration } from './iso-duration.ts';

const HOUR = 3_600_000_000_000n;

test.each<[string, number, number, bigint]>([
  ['PT0S', 0, 0, 0n],
  ['P1Y2M3DT4H5M6.789S', 14, 3, 4n * HOUR + 306_789_000_000n],
  ['P-1D', 0, -1, 0n],
  ['P1Y', 12, 0, 0n],
  ['P-1Y-1M', -13, 0, 0n],
  ['P48D', 0, 48, 0n],
  ['PT48H', 0, 0, 48n * HOUR],
  ['PT0.000000001S', 0, 0, 1n],
  ['PT-0.5S', 0, 0, -500_000_000n],
  ['PT-1H-30M', 0, 0, -(HOUR + HOUR / 2n)],
  ['P1M-1DT1S', 1, -1, 1_000_000_000n],
  ['PT-2562047H-47M-16.854775808S', 0, 0, -(2n ** 63n)],
])('%s is %d months, %d days and %d nanoseconds', (text, months, days, nanoseconds) => {
  expect(isoDuration(months, days, nanoseconds)).toBe(text);
});
