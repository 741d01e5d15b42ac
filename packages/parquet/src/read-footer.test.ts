import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileFooter, type RowGroup, rowGroup } from './file-footer.ts';
import { parquetType } from './parquet-type.ts';
import { parquetFacts } from './read-footer.ts';

const type = parquetType({ kind: 'int', bits: 64, signed: true });
if (type === undefined) throw new Error('there is no such type');
const columns = ['a', 'b'].map((name) => ({ name, type }));
const dataEnd = 1_000_000;

/** A row group whose chunks lie in these places. */
function group(rows: number, ...places: readonly (readonly [offset: number, bytes: number])[]): RowGroup {
  const chunks = places.map(([offset, bytes]) => ({ offset, bytes, dictionaryBytes: 0, nulls: 0, range: undefined }));
  return rowGroup(rows, chunks, columns);
}

const footerOf = (...groups: readonly RowGroup[]): Uint8Array => fileFooter({ columns, groups, metadata: new Map() });
const facts = (...groups: readonly RowGroup[]) => parquetFacts(footerOf(...groups), dataEnd);

test('column chunks may lie in any order and with room between them', () => {
  const { rows } = facts(group(10, [500, 100], [4, 96]), group(5, [100, 400], [999_990, 10]));
  expect(rows).toBe(15);
});

describe('a footer is refused that says of column chunks', () => {
  test.each([
    ['that two row groups have the same one', [group(10, [4, 96]), group(10, [4, 96])], 'overlap at byte 4'],
    ['that one begins in another', [group(10, [4, 96], [99, 10])], 'overlap at byte 99'],
    ['that one lies in another', [group(10, [4, 900], [100, 10]), group(10, [904, 10])], 'overlap at byte 100'],
    ['that empty ones lie in one place', [group(10, [4, 0], [4, 0])], 'overlap at byte 4'],
    ['that one begins before the data', [group(10, [0, 96])], 'overlap at byte 0'],
    ['that one reaches into the footer', [group(10, [4, dataEnd])], 'outside of the file'],
    ['that one begins behind the file', [group(10, [dataEnd + 100, 10])], 'outside of the file'],
  ])('%s', (_, groups, words) => {
    expect(() => facts(...groups)).toThrow(RangeError);
    expect(() => facts(...groups)).toThrow(words);
  });
});

test('a million bytes may hold four billion values, as runs of one value do, and not more', () => {
  const values = 2 ** 32;
  expect(facts(group(values, [4, 96])).rows).toBe(values);
  expect(() => facts(group(values, [4, 96]), group(1, [100, 96]))).toThrow('4294967297 values are too many');
  expect(() => facts(group(values / 2 + 1, [4, 96], [100, 96]))).toThrow('too many');
  const groups = Array.from({ length: 100 }, (_, n) => group(values, [4 + 100 * n, 100]));
  expect(() => facts(...groups)).toThrow('too many');
  const large = parquetFacts(footerOf(...groups), 100 * values);
  expect(large.rows).toBe(100 * values);
});

test('rows that no row group has are refused, and those of which a column chunk has no value', () => {
  const { facts: empty, bytes } = group(0, [4, 96]);
  expect(facts({ rows: 0, bytes, facts: empty }).rows).toBe(0);
  expect(() => facts({ rows: 10, bytes, facts: empty })).toThrow('have 0 rows, and the footer says 10');
  const claimed = empty.slice();
  // The rows, as Thrift writes them, are the last value.
  claimed[claimed.length - 2] = 2 * 10;
  expect(() => facts({ rows: 10, bytes, facts: claimed })).toThrow('has no values');
});

test('10,000 column chunks are checked in less than a second, in whatever order they lie', () => {
  const places = Array.from({ length: 5000 }, (_, n) => [4 + ((n * 7919) % 5000) * 20, 10] as const);
  const groups = places.map(([start, bytes]) => group(1, [start, bytes], [start + 10, bytes]));
  const footer = footerOf(...groups);
  const begunAt = performance.now();
  expect(parquetFacts(footer, 4 + 5000 * 20).rows).toBe(5000);
  expect(performance.now() - begunAt).toBeLessThan(1000);
});

describe('whatever the bytes are, they are read or refused with a RangeError, at once', () => {
  const sound = Buffer.from(footerOf(group(10, [4, 96], [100, 50]), group(20, [200, 96], [300, 50])));
  const readMs = (bytes: Uint8Array): number => {
    const begunAt = process.cpuUsage();
    try {
      parquetFacts(bytes, dataEnd);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
    const { user, system } = process.cpuUsage(begunAt);
    return (user + system) / 1000;
  };
  // Garbage of others may have been collected the first time.
  const read = (bytes: Uint8Array): void => {
    expect(readMs(bytes) < 50 || readMs(bytes) < 50).toBe(true);
  };

  test('noise', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 4000 }), read), { numRuns: 300 });
  });

  test('a footer with other bytes in some places, and without its end', () => {
    const changes = fc.array(fc.tuple(fc.nat(sound.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 8 });
    fc.assert(
      fc.property(changes, fc.nat(sound.length), (changed, cut) => {
        const bytes = Buffer.from(sound.subarray(0, sound.length - (cut % 3 === 0 ? cut : 0)));
        for (const [at, byte] of changed) if (at < bytes.length) bytes[at] = byte;
        read(bytes);
      }),
      { numRuns: 2000 },
    );
  });
});
