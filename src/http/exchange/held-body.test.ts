import { expect, test } from 'vitest';
import { holdBody } from './held-body.ts';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([
  ['empty', 0, 1],
  ['of one piece', 100, 100],
  ['of a million pieces', 100_000, 1],
  ['of pieces that are longer than those before', 5_000_000, 999_983],
  ['of many slabs', 3_500_000, 65_536],
])('a body %s comes as it was sent, and is counted beyond its first 64 KiB', async (_, length, size) => {
  const bytes = Buffer.from(
    new Uint32Array(Math.ceil(length / 4)).map((_, at) => at * 2_654_435_761).buffer,
    0,
    length,
  );
  let held = 0;
  const takeMemory = async (count: number): Promise<void> => {
    held += count;
  };
  const options = { takeMemory, signal: () => new AbortController().signal, lane: () => '' };
  expect((await holdBody(inPieces(bytes, size), options)).equals(bytes)).toBe(true);
  expect(held).toBeGreaterThanOrEqual(length - 65_536);
  expect(held).toBeLessThanOrEqual(length);
});
