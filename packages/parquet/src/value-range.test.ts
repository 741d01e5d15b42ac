import { expect, test } from 'vitest';
import { type NumberKind, rangeOf } from './value-range.ts';

type Numbers = Int32Array | Uint32Array | Float32Array | Float64Array | BigInt64Array | BigUint64Array;

const bytesOf = ({ buffer, byteOffset, byteLength }: Numbers): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

test.each<[NumberKind, Numbers, Numbers]>([
  ['int32', Int32Array.of(3, -(2 ** 31), 2 ** 31 - 1, 0), Int32Array.of(-(2 ** 31), 2 ** 31 - 1)],
  ['uint32', Uint32Array.of(3, 2 ** 32 - 1, 1), Uint32Array.of(1, 2 ** 32 - 1)],
  ['int64', BigInt64Array.of(5n, -1n, 2n ** 40n, -(2n ** 63n)), BigInt64Array.of(-(2n ** 63n), 2n ** 40n)],
  ['int64', BigInt64Array.of(2n ** 32n, 2n ** 32n - 1n, 2n ** 31n), BigInt64Array.of(2n ** 31n, 2n ** 32n)],
  ['int64', BigInt64Array.of(5n, 2n ** 53n, 2n ** 53n + 1n), BigInt64Array.of(5n, 2n ** 53n + 1n)],
  ['int64', BigInt64Array.of(5n, -(2n ** 53n), -(2n ** 53n) - 1n), BigInt64Array.of(-(2n ** 53n) - 1n, 5n)],
  ['int64', BigInt64Array.of(2n ** 62n + 1n, 2n ** 62n, 7n), BigInt64Array.of(7n, 2n ** 62n + 1n)],
  ['uint64', BigUint64Array.of(5n, 2n ** 64n - 1n, 2n ** 63n), BigUint64Array.of(5n, 2n ** 64n - 1n)],
  ['float', Float32Array.of(1.5, -2.5, Number.POSITIVE_INFINITY), Float32Array.of(-2.5, Number.POSITIVE_INFINITY)],
  ['double', Float64Array.of(0.1), Float64Array.of(0.1, 0.1)],
])('of %s it holds the least and the greatest, as their bytes', (kind, values, expected) => {
  const range = rangeOf(kind, bytesOf(values));
  expect(Buffer.concat([range?.least ?? [], range?.greatest ?? []] as Uint8Array[])).toEqual(
    Buffer.from(bytesOf(expected)),
  );
});

test.each<[string, readonly number[], readonly number[]]>([
  ['least', [0, 1], [-0, 1]],
  ['greatest', [-1, -0], [-1, 0]],
])('a zero that is the %s stands for both zeros', (_, values, expected) => {
  const range = rangeOf('double', bytesOf(Float64Array.from(values)));
  const ends = [range?.least, range?.greatest].map((bytes) => Buffer.from(bytes ?? []).readDoubleLE());
  expect(ends.map((end) => Object.is(end, -0))).toEqual(expected.map((end) => Object.is(end, -0)));
});

test('there is none of no values, nor beside what is no number', () => {
  expect(rangeOf('int64', new Uint8Array(0))).toBeUndefined();
  expect(rangeOf('double', bytesOf(Float64Array.of(1, Number.NaN)))).toBeUndefined();
});
