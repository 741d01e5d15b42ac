import { describe, expect, test } from 'vitest';
import { DuckDbError } from './duckdb-error.ts';

describe('a file that is not what it should be', () => {
  /** Seen of DuckDB over files with some bytes changed. */
  test.each([
    'Invalid Input Error: Mismatch in parquet read for column 2, expected 1000 rows, got 998',
    'Invalid Input Error: Invalid string encoding found in Parquet file "x.parquet": value "\\xF3ext" is not valid UTF8!',
    'Invalid Input Error: Incorrect stats size for type BIGINT',
    'Invalid Input Error: Failed to read file "x.parquet": ZSTD Decompression failure',
    'IO Error: Could not read enough bytes from file "x.parquet": attempted to read 9 bytes from location 4',
    'IO Error: DATE converted type can only be set for value of Type::INT32',
    'Decode bit width too large',
    'Page size mismatch',
    'Variable-length int over 10 bytes.',
    'Varint-decoding found too large number',
    'Out of buffer',
    'Parquet file is likely corrupted, dictionary offset out of range',
    'Payload value bigger than allowed. Corrupted file?',
    'TProtocolException: Invalid data',
    "don't know what type: \r",
    'invalid TType',
  ])('is meant by %o', (message) => {
    expect(new DuckDbError(message).isUnreadableFile).toBe(true);
  });

  test.each([
    "Conversion Error: Could not convert string 'x' to INT32",
    'Binder Error: Referenced column "x" not found',
    'Out of Range Error: Overflow in multiplication of INT64',
    'Out of Memory Error: failed to allocate data of size 1.0 GiB',
  ])('is not meant by %o', (message) => {
    expect(new DuckDbError(message).isUnreadableFile).toBe(false);
  });
});
