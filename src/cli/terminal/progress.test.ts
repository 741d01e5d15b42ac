import { expect, it } from 'vitest';
import { progressLine } from './progress.ts';

it.each([
  ['put a', 0, undefined, 3.4, 'put a  3 s'],
  ['put a', 5e6, undefined, 2, 'put a  5.0 MB  2.5 MB/s'],
  ['put a', 5e6, 2e7, 2, `put a  [${'#'.repeat(6)}${'.'.repeat(18)}] 25%  5.0 MB of 20.0 MB  2.5 MB/s  6 s left`],
  ['put a', 2e7, 2e7, 2, `put a  [${'#'.repeat(24)}] 100%  20.0 MB of 20.0 MB  10.0 MB/s  0 s left`],
])('%s after %i bytes of %s', (label, bytes, total, seconds, line) => {
  expect(progressLine(label, bytes, total, seconds)).toBe(line);
});
