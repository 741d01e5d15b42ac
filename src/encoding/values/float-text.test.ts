import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FLOAT_TEXT_BYTES, writeFloat32, writeFloat64 } from './float-text.ts';

function written(write: typeof writeFloat64, x: number): string {
  const out = new DataView(new ArrayBuffer(FLOAT_TEXT_BYTES));
  return Buffer.from(out.buffer, 0, write(out, 0, x)).toString('latin1');
}

function withPoint(text: string): string {
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const decimals = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }),
    fc.integer({ min: 0, max: 17 }),
    fc.integer({ min: 0, max: 24 }),
  )
  .map(([digits, cut, scale]) => Number(`${digits / 10n ** BigInt(cut)}e-${scale}`));
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const neighbour = fc.tuple(decimals, fc.integer({ min: -2, max: 2 })).map(([x, steps]) => {
  const bits = new BigInt64Array(new Float64Array([x]).buffer);
  bits[0] = (bits[0] as bigint) + BigInt(steps);
  const moved = new Float64Array(bits.buffer)[0] as number;
  return Number.isFinite(moved) ? moved : x;
});

test('a double is written as String writes it, with a point in whole numbers', () => {
  fc.assert(
    fc.property(fc.oneof(finite, decimals, neighbour), (x) => {
      expect(written(writeFloat64, x)).toBe(Object.is(x, -0) ? '-0.0' : withPoint(String(x)));
    }),
    { numRuns: 8000 },
  );
});

test.each([
  [1, '1.0'],
  [0, '0.0'],
  [-0, '-0.0'],
  [0.1, '0.1'],
  [-12.5, '-12.5'],
  [0.000001, '0.000001'],
  [0.0000015, '0.0000015'],
  [1e-7, '1e-7'],
  [1e300, '1e+300'],
  [1e21, '1e+21'],
  [123456789012345680000, '123456789012345680000.0'],
  [2 ** 53, '9007199254740992.0'],
  [999999.9999999999, '999999.9999999999'],
  [0.30000000000000004, '0.30000000000000004'],
  [5e-324, '5e-324'],
  [-1.7976931348623157e308, '-1.7976931348623157e+308'],
])('the double %d is written %s', (x, text) => {
  expect(written(writeFloat64, x)).toBe(text);
});

/** Digits of the shortest decimal, by trying every number of them and both ways to round. */
function fewestDigits(x: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const [mantissa, exponent] = Math.abs(x)
      .toExponential(digits - 1)
      .split('e') as [string, string];
    const step = 10 ** -(digits - 1);
    for (const move of [-step, 0, step]) {
      if (Math.fround(Number(`${(Number(mantissa) + move).toFixed(digits - 1)}e${exponent}`)) === Math.abs(x))
        return digits;
    }
  }
  return 9;
}

function digitsOf(text: string): number {
  return text.replace(/e.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '').length;
}

const bitPatterns = fc
  .integer({ min: -0x80000000, max: 0x7fffffff })
  .map((bits) => new Float32Array(Int32Array.of(bits).buffer)[0] as number)
  .filter((x) => Number.isFinite(x) && x !== 0);
const ordinary = fc.double({ min: -2e7, max: 2e7, noNaN: true }).map(Math.fround);
const shortDecimals = fc
  .tuple(fc.integer({ min: -9_999_999, max: 9_999_999 }), fc.integer({ min: 0, max: 12 }))
  .map(([digits, scale]) => Math.fround(digits / 10 ** scale));

test('a float32 is written as the shortest decimal that rounds to it', () => {
  fc.assert(
    fc.property(fc.oneof(bitPatterns, ordinary, shortDecimals), (x) => {
      const text = written(writeFloat32, x);
      expect(Math.fround(Number(text))).toBe(x);
      if (x !== 0) expect(digitsOf(text)).toBeLessThanOrEqual(fewestDigits(x));
    }),
    { numRuns: 3000 },
  );
});

test('every power of two is written as its shortest float32 decimal', () => {
  for (let exponent = -149; exponent < 128; exponent++) {
    const text = written(writeFloat32, 2 ** exponent);
    expect(Math.fround(Number(text))).toBe(2 ** exponent);
    expect.soft(digitsOf(text), text).toBeLessThanOrEqual(fewestDigits(2 ** exponent));
  }
});

test.each([
  [0.1, '0.1'],
  [16777216, '16777216.0'],
  [3.4028234663852886e38, '3.4028235e+38'],
  [1.401298464324817e-45, '1e-45'],
  [-1.5, '-1.5'],
  [123456.78, '123456.78'],
])('the float32 of %d is written %s', (x, text) => {
  expect(written(writeFloat32, Math.fround(x))).toBe(text);
});
