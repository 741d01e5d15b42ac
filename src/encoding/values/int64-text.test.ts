import fc from 'fast-check';
import { expect, test } from 'vitest';
import { floorQuotient, writeInt64, writeUint64 } from './int64-text.ts';

const words = (value: bigint) => ({
  high: Number(BigInt.asIntN(32, value >> 32n)),
  low: Number(BigInt.asIntN(32, value)),
});

function written(write: typeof writeInt64, value: bigint): string {
  const out = new DataView(new ArrayBuffer(32));
  const { high, low } = words(value);
  return Buffer.from(out.buffer, 0, write(out, 0, high, low)).toString('latin1');
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
/** Few digits as often as many. */
const anySize = fc.tuple(int64, fc.integer({ min: 0, max: 63 })).map(([value, shift]) => value >> BigInt(shift));

test('every signed 64-bit integer is written exactly', () => {
  fc.assert(
    fc.property(anySize, (value) => {
      expect(written(writeInt64, value)).toBe(String(value));
    }),
    { numRuns: 2000 },
  );
});

test('every unsigned 64-bit integer is written exactly', () => {
  fc.assert(
    fc.property(anySize, (value) => {
      const unsigned = BigInt.asUintN(64, value);
      expect(written(writeUint64, unsigned)).toBe(String(unsigned));
    }),
    { numRuns: 2000 },
  );
});

test.each([0n, -1n, 999n, 1000n, 2n ** 31n, -(2n ** 31n), 2n ** 53n, -(2n ** 53n) - 1n, -(2n ** 32n), -(2n ** 63n)])(
  '%d is written exactly',
  (value) => {
    expect(written(writeInt64, value)).toBe(String(value));
  },
);

test.each([86_400, 1_000_000, 86_400_000, 1_000_000_000])('division by %d floors and is exact', (divisor) => {
  const d = BigInt(divisor);
  const nearMultiple = fc
    .tuple(int64, fc.integer({ min: -2, max: 2 }))
    .map(([value, off]) => BigInt.asIntN(64, (value / d) * d + BigInt(off)));
  fc.assert(
    fc.property(fc.oneof(int64, nearMultiple), (value) => {
      const { high, low } = words(value);
      const remainder = ((value % d) + d) % d;
      const quotient = floorQuotient(high, low, divisor);
      expect(BigInt(quotient)).toBe((value - remainder) / d);
      expect((low - Math.imul(quotient, divisor)) | 0).toBe(Number(remainder));
    }),
    { numRuns: 2000 },
  );
});
