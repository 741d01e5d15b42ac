import { describe, expect, test } from 'vitest';
import { type FormatClues, formatOf, namedFormat, packingOf } from './upload-format.ts';

const named = (clues: Partial<FormatClues>) =>
  namedFormat({ asked: undefined, contentType: undefined, names: [], ...clues });
const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('the format', () => {
  test('is what format says, then Content-Type, then the first name with a known ending', () => {
    expect(named({ asked: 'csv', contentType: 'application/json', names: ['x.parquet'] })).toBe('csv');
    expect(named({ contentType: 'Application/JSON; charset=utf-8', names: ['x.parquet'] })).toBe('json');
    expect(named({ contentType: 'application/octet-stream', names: [undefined, 'x.y', 'a.b.TSV', 'x.csv'] })).toBe(
      'tsv',
    );
    expect(named({ contentType: 'application/gzip', names: ['x.jsonl.gz'] })).toBe('ndjson');
  });

  test('is open where nothing is said', () => {
    for (const contentType of [
      undefined,
      'application/x-www-form-urlencoded',
      'application/octet-stream',
      'text/plain',
    ]) {
      expect(named({ contentType, names: ['trades', 'a.constructor', undefined] })).toBeUndefined();
    }
  });

  test('of another type is refused', () => {
    for (const contentType of ['image/png', 'constructor']) {
      expect(() => named({ contentType })).toThrow(`a body of the type ${contentType} cannot be read`);
    }
  });

  test.each([
    ['PAR1\x15\x04', 'parquet'],
    ['ARROW1\0\0', 'arrow'],
    ['\xff\xff\xff\xff\x10', 'arrow'],
    ['{"a":1}', 'json'],
    ['\xef\xbb\xbf\n [1]', 'json'],
    ['PAR1,PAR2\n1,2\n', 'csv'],
    ['a,b\n', 'csv'],
    ['\0\0', 'csv'],
  ])('is told by the first bytes: %j is %s', (head, format) => {
    expect(formatOf(undefined, bytes(head))).toBe(format);
  });

  test.each([
    ['csv', 'PAR1\x15', 'the body is a Parquet file, not csv'],
    ['json', '\xff\xff\xff\xff', 'the body is an Arrow stream, not json'],
    ['parquet', 'a,b\n', 'the body is not a Parquet file'],
    ['parquet', 'ARROW1\0', 'the body is an Arrow file, not parquet'],
    ['csv', 'PK\x03\x04', 'the body is a ZIP archive'],
    [undefined, '%PDF-1.7', 'the body is a PDF document'],
  ] as const)('%s is refused where the bytes are %j', (format, head, message) => {
    expect(() => formatOf(format, bytes(head))).toThrow(message);
  });
});

test('a packed file is known by its first bytes', () => {
  expect(packingOf(bytes('\x1f\x8b\x08\0'))).toBe('gzip');
  expect(packingOf(bytes('\x28\xb5\x2f\xfd'))).toBe('zstd');
  expect(packingOf(bytes('a,b\n'))).toBeUndefined();
  expect(packingOf(bytes('a'))).toBeUndefined();
});
