import { expect, it } from 'vitest';
import { parseGrpcTimeoutMs } from './grpc-timeout.ts';

it.each([
  ['1H', 3_600_000],
  ['2M', 120_000],
  ['3S', 3000],
  ['99999999m', 99_999_999],
  ['1500u', 1.5],
  ['0n', 0],
])('reads %s as %d ms', (text, ms) => {
  expect(parseGrpcTimeoutMs(text)).toBeCloseTo(ms);
});

it.each(['', '5', 'm', '-1m', '1.5S', '123456789m', '1s', '1 m'])('refuses %j', (text) => {
  expect(() => parseGrpcTimeoutMs(text)).toThrow(expect.objectContaining({ status: 'INVALID_ARGUMENT' }));
});
