import { expect, test } from 'vitest';
import { sliceBits } from './bits.ts';

test.each([0, 8, 3])('bits cut from %i on are a copy, also of a Buffer', (start) => {
  const bits = Buffer.from([0xff, 0xff, 0xff]);
  sliceBits(bits, start, 8).fill(0);
  expect([...bits]).toEqual([0xff, 0xff, 0xff]);
});
