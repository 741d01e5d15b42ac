import { type ByteSink, type TimeUnit, typedView } from '@framehold/columns';
import { writeInfinity } from './calendar-values.ts';
import type { ValueWriter } from './cell.ts';
import { floorQuotient } from './int64-text.ts';
import { TimestampText } from './timestamp-text.ts';

const DAY_SECONDS = 86400;

export function timestampValues(
  sink: ByteSink,
  unit: TimeUnit,
  { hasZone, namesInfinity }: { readonly hasZone: boolean; readonly namesInfinity: boolean },
): ValueWriter {
  const text = new TimestampText(sink, { nanoseconds: unit === 'ns', hasZone });
  const writeText = unit === 'us' || unit === 'ns' ? bySecond(text, unit) : byDay(text, unit);
  let words = new Int32Array(0);
  return {
    bind(vector) {
      words = typedView(Int32Array, vector.data);
    },
    write(row, at) {
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      return isInfinite(high, low) ? writeInfinity(sink, at, high, namesInfinity) : writeText(at, high, low);
    },
  };
}

type WriteText = (at: number, high: number, low: number) => number;

/** Fine units divide by the second and coarse ones by the day, so that no quotient is near 2^53. */
function bySecond(text: TimestampText, unit: 'us' | 'ns'): WriteText {
  const perSecond = unit === 'us' ? 1_000_000 : 1_000_000_000;
  return (at, high, low) => {
    const seconds = floorQuotient(high, low, perSecond);
    const fraction = (low - Math.imul(seconds, perSecond)) | 0;
    const second = seconds - text.minuteStart;
    if (second >= 0 && second < 60) return text.writeInMinute(at, second | 0, fraction);
    const day = Math.floor(seconds / DAY_SECONDS);
    return text.write(at, day, (seconds - day * DAY_SECONDS) | 0, fraction);
  };
}

function byDay(text: TimestampText, unit: 's' | 'ms'): WriteText {
  const perSecond = unit === 's' ? 1 : 1000;
  const perDay = DAY_SECONDS * perSecond;
  return (at, high, low) => {
    const day = floorQuotient(high, low, perDay);
    const rest = (low - Math.imul(day, perDay)) | 0;
    const secondOfDay = (rest / perSecond) | 0;
    const thousandths = perSecond === 1 ? 0 : rest - secondOfDay * 1000;
    return text.write(at, day, secondOfDay, thousandths * 1000);
  };
}

/** DuckDB keeps infinity as 2^63 - 1 and -infinity as its negative. */
function isInfinite(high: number, low: number): boolean {
  return (high === 0x7fffffff && low === -1) || (high === -0x80000000 && low === 1);
}
