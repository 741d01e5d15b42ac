import { powerOfTen } from '../../../../../../encoding/text/decimal-quotient.ts';
import { writeInt64 } from '../../../../../../encoding/text/number-text.ts';
import { type FastColumn, unsure } from './fast-column.ts';

/** Below this number of seconds, the microseconds are exact in a double. */
const exactSeconds = Math.floor(Number.MAX_SAFE_INTEGER / 1e6) - 1;

/** `yyyy-MM-dd`. */
export function readDate({ time, ints }: FastColumn, bytes: Buffer, at: number, row: number): number {
  if (!time.readDate(bytes, at)) return unsure;
  ints[row] = time.day;
  return time.end;
}

/** `yyyy-MM-dd HH:mm`, with seconds and down to microseconds. */
export function readLocalTimestamp(column: FastColumn, bytes: Buffer, at: number, row: number): number {
  return readTimestamp(column, bytes, at, row, false);
}

/** `yyyy-MM-dd HH:mm:ss`, down to microseconds, and `Z` or an offset. Where the type was named, there may be neither. */
export function readZonedTimestamp(column: FastColumn, bytes: Buffer, at: number, row: number): number {
  return readTimestamp(column, bytes, at, row, true);
}

function readTimestamp(
  { time, ints, isNamed }: FastColumn,
  bytes: Buffer,
  start: number,
  row: number,
  mayHaveZone: boolean,
): number {
  if (!time.readTimestamp(bytes, start) || !time.hasClock || time.digits > 6) return unsure;
  if (time.hasZone ? !mayHaveZone || !time.hasSeconds : mayHaveZone && !isNamed) return unsure;
  const { seconds } = time;
  const micros = time.fraction * powerOfTen(6 - time.digits);
  if (Math.abs(seconds) < exactSeconds) writeInt64(ints, 2 * row, seconds * 1e6 + micros);
  else {
    const value = BigInt(seconds) * 1_000_000n + BigInt(micros);
    ints[2 * row] = Number(BigInt.asIntN(32, value));
    ints[2 * row + 1] = Number(value >> 32n);
  }
  return time.end;
}
