import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INT128_TEXT_BYTES, insertPoint, writeInt128 } from './int128-text.ts';

function written(value: bigint, scale: number, signed = true): string {
  const out = new DataView(new ArrayBuffer(INT128_TEXT_BYTES));
  const words = new Int32Array(BigInt64Array.of(value, value >> 64n).buffer);
  const end = insertPoint(out, 0, writeInt128(out, 0, words, 0, signed), scale);
  return Buffer.from(out.buffer, 0, end).toString('latin1');
}

function expected(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const point = scale === 0 ? '' : `.${digits.slice(-scale)}`;
  return `${value < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${point}`;
}

const int128 = fc
  .tuple(fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }), fc.integer({ min: 0, max: 127 }))
  .map(([value, shift]) => value >> BigInt(shift));

test('every signed 128-bit integer is exact at every scale', () => {
  fc.assert(
    fc.property(int128, fc.integer({ min: 0, max: 38 }), (value, scale) => {
      expect(written(value, scale)).toBe(expected(value, scale));
    }),
    { numRuns: 2000 },
  );
});

test('every unsigned 128-bit integer is exact', () => {
  fc.assert(
    fc.property(int128, (value) => {
      const unsigned = BigInt.asUintN(128, value);
      expect(written(unsigned, 0, false)).toBe(String(unsigned));
    }),
  );
});

test('a fraction with fewer digits than its scale is filled with zeros', () => {
  expect(written(5n, 3)).toBe('0.005');
  expect(written(-5n, 3)).toBe('-0.005');
  expect(written(0n, 2)).toBe('0.00');
  expect(written(12345n, 2)).toBe('123.45');
});
