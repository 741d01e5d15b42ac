import type { TimeUnit } from '@framehold/columns';
import { int64FromHalves, int64Range, isInRange } from './int64.ts';

const maxInt64 = 2n ** 63n - 1n;
/** Ranges that DuckDB converts to microseconds; its largest values stand for infinity. */
const timestampRanges = {
  s: int64Range(-9_223_372_022_400n, 9_223_372_036_854n),
  ms: int64Range(-9_223_372_022_400_000n, 9_223_372_036_854_775n),
  us: int64Range(-9_223_372_022_400_000_000n, maxInt64),
  ns: int64Range(-maxInt64, maxInt64),
} as const satisfies Record<TimeUnit, unknown>;

export const dayUnits = { s: 86_400, ms: 86_400_000, us: 86_400_000_000, ns: 86_400_000_000_000 } as const;

/** Whether values under nulls are in range, too, and none is an infinity. */
export function areAllTimestamps(words: Int32Array, unit: TimeUnit): boolean {
  const { minHigh, maxHigh } = timestampRanges[unit];
  let least = 0;
  let greatest = 0;
  for (let at = 1; at < words.length; at += 2) {
    const high = words[at] as number;
    if (high < least) least = high;
    if (high > greatest) greatest = high;
  }
  return least > minHigh && greatest < maxHigh;
}

export function isTimestamp(high: number, low: number, unit: TimeUnit, zoned: boolean): boolean {
  if (isInRange(high, low, timestampRanges[unit])) return true;
  return !(zoned && unit === 'ns') && isInfinite(high, low);
}

/** DuckDB's infinity or -infinity, which are the same in every unit. */
export function isInfinite(high: number, low: number): boolean {
  const value = int64FromHalves(high, low);
  return value === maxInt64 || value === -maxInt64;
}
