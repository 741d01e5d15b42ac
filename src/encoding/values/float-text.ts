import { POINT, ZERO } from '@framehold/columns';
import { write3Digits, writeTrimmed3Digits, writeUint31, writeUint53 } from './digits.ts';

/** The longest text: `-123456789012345680000.0` and the like. */
export const FLOAT_TEXT_BYTES = 40;

/** As String(x), with `.0` behind a whole number. `x` is finite. */
export function writeFloat64(out: DataView, at: number, x: number): number {
  if (x < 0 || (x === 0 && 1 / x < 0)) {
    out.setUint8(at++, 45);
    x = -x;
  }
  // A decimal of up to 15 digits that rounds to x is the shortest that does, because no two of them share a double.
  // From 1e-6 up, String(x) writes it without an exponent.
  if (x < 1e6) {
    const billionths = Math.round(x * 1e9);
    if (billionths / 1e9 === x && (billionths >= 1000 || billionths === 0)) {
      const whole = x | 0;
      return writeFraction9(out, writeUint31(out, at, whole), (billionths - whole * 1e9) | 0);
    }
  } else if (x < 1e9) {
    const millionths = Math.round(x * 1e6);
    if (millionths / 1e6 === x) {
      const whole = x | 0;
      return writeFraction9(out, writeUint31(out, at, whole), ((millionths - whole * 1e6) | 0) * 1000);
    }
  } else if (x <= Number.MAX_SAFE_INTEGER && Math.floor(x) === x) {
    return writeFraction9(out, writeUint53(out, at, x), 0);
  }
  return writeShortest(out, at, x);
}

/** The shortest decimal that rounds to the same float32. `x` is finite and a float32. */
export function writeFloat32(out: DataView, at: number, x: number): number {
  return writeFloat64(out, at, shortestFloat32(x));
}

/** The double with the shortest decimal text that rounds to the float32 `x`. */
function shortestFloat32(x: number): number {
  if (x === 0) return x;
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e6) {
    for (let scale = size < 1 ? 1e6 : size < 1e3 ? 1e3 : 1; scale <= 1e9; scale *= 10) {
      const candidate = Math.round(x * scale) / scale;
      if (Math.fround(candidate) === x) return candidate;
    }
  }
  for (let digits = 1; digits < 9; digits++) {
    const nearest = Number(x.toPrecision(digits));
    if (Math.fround(nearest) === x) return nearest;
    // Above a power of two floats are farther apart than below: a decimal above may fit where the nearest does not.
    const exponent = Number(x.toExponential(digits - 1).split('e')[1]);
    const above = Number((nearest + Math.sign(x) * 10 ** (exponent - digits + 1)).toPrecision(digits));
    if (Math.fround(above) === x) return above;
  }
  return Number(x.toPrecision(9));
}

/** A point and the billionths `n` without the zeros at their end, but at least one digit. */
function writeFraction9(out: DataView, at: number, n: number): number {
  out.setUint8(at++, POINT);
  if (n === 0) {
    out.setUint8(at, ZERO);
    return at + 1;
  }
  const thousandths = (n / 1_000_000) | 0;
  let rest = n - thousandths * 1_000_000;
  if (rest === 0) return writeTrimmed3Digits(out, at, thousandths);
  at = write3Digits(out, at, thousandths);
  const millionths = (rest / 1000) | 0;
  rest -= millionths * 1000;
  if (rest === 0) return writeTrimmed3Digits(out, at, millionths);
  return writeTrimmed3Digits(out, write3Digits(out, at, millionths), rest);
}

function writeShortest(out: DataView, at: number, x: number): number {
  const text = String(x);
  let isWhole = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === POINT || code === 101) isWhole = false;
    out.setUint8(at++, code);
  }
  if (!isWhole) return at;
  out.setUint8(at, POINT);
  out.setUint8(at + 1, ZERO);
  return at + 2;
}
