import koffi from 'koffi';
import { expect, test } from 'vitest';
import { NativeSlab } from './native-slab.ts';

test('what was copied is counted also where the memory had to be replaced for it', () => {
  const source = new Uint8Array(1_000_000).fill(7);
  const address = Number(koffi.address(source.buffer));
  const slab = NativeSlab.take();
  slab.reset();
  const first = slab.bytes(address, 900_000);
  const second = slab.bytes(address, 300_000);
  expect(slab.copied).toBe(1_200_000);
  expect([first.at(-1), second.at(-1)]).toEqual([7, 7]);
  slab.reset();
  expect(slab.copied).toBe(0);
});
