import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArrow } from './flatbuffer-reader.ts';
import { unpackLz4Frame } from './lz4-frame.ts';

const text = (value: string): number[] => [...Buffer.from(value)];
const uint32 = (value: number): number[] => [...new Uint8Array(Uint32Array.of(value).buffer)];

/** A frame of blocks that are packed, with the optional parts that its flags name. */
function frame(
  blocks: readonly number[][],
  { flags = 0x40, optional = [] as number[], isStored = false } = {},
): Uint8Array {
  const checksum = (flags & 0x10) === 0 ? [] : uint32(0);
  const body = blocks.flatMap((block) => [
    ...uint32(isStored ? block.length + 2 ** 31 : block.length),
    ...block,
    ...checksum,
  ]);
  return Uint8Array.from([...uint32(0x184d2204), flags, 0x40, ...optional, 0, ...body, ...uint32(0)]);
}

function unpack(packed: Uint8Array, bytes: number): string {
  const target = new Uint8Array(bytes);
  unpackLz4Frame(packed, target);
  return Buffer.from(target).toString();
}

describe('a frame of LZ4', () => {
  test('holds literals', () => {
    expect(unpack(frame([[0x50, ...text('hello')]]), 5)).toBe('hello');
  });

  test('holds blocks that are not packed', () => {
    expect(unpack(frame([text('plain'), text(' text')], { isStored: true }), 10)).toBe('plain text');
  });

  test('repeats what came before, also over itself', () => {
    expect(unpack(frame([[0x24, ...text('ab'), 2, 0, 0x10, ...text('!')]]), 11)).toBe('ababababab!');
  });

  test('repeats from a block before', () => {
    expect(
      unpack(
        frame([
          [0x50, ...text('hello')],
          [0x01, 5, 0, 0x10, ...text('!')],
        ]),
        11,
      ),
    ).toBe('hellohello!');
  });

  test('has lengths beyond 15, and beyond 15 and 255', () => {
    const literals = 'x'.repeat(300);
    const block = [0xff, 255, 30, ...text(literals), 44, 1, 255, 26, 0x10, ...text('!')];
    expect(unpack(frame([block]), 601)).toBe(`${literals}${literals}!`);
  });

  test('may tell its size and carry checksums', () => {
    const optional = [5, 0, 0, 0, 0, 0, 0, 0];
    expect(unpack(frame([[0x50, ...text('hello')]], { flags: 0x58, optional }), 5)).toBe('hello');
  });

  test.each([
    ['is empty', new Uint8Array(0), 5],
    ['holds less than it claims', frame([[0x50, ...text('hello')]]), 6],
    ['holds more than it claims', frame([[0x50, ...text('hello')]]), 4],
    ['repeats from before its beginning', frame([[0x10, ...text('a'), 9, 0, 0x10, ...text('!')]]), 6],
    ['repeats at no distance', frame([[0x10, ...text('a'), 0, 0, 0x10, ...text('!')]]), 6],
    ['breaks off', frame([[0x50, ...text('hello')]]).subarray(0, 12), 5],
  ])('that %s is refused', (_, packed, bytes) => {
    expect(() => unpack(packed, bytes)).toThrow(InvalidArrow);
  });

  test('of any bytes either fills its target or is refused', () => {
    const blocks = fc.array(fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 }), { maxLength: 3 });
    fc.assert(
      fc.property(blocks, fc.integer({ min: 0, max: 200 }), (given, bytes) => {
        try {
          unpack(frame(given), bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidArrow);
        }
      }),
      { numRuns: 3000, seed: 20261115 },
    );
  });
});
