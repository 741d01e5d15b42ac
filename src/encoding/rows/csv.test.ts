import type { Batch, DataType } from '@framehold/columns';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { typeCases } from '../../../test/support/type-cases.ts';
import { vectorOf } from '../../../test/support/vector-of.ts';
import { createCsvEncoder, csvHeader } from './csv.ts';
import type { CsvWriteOptions } from './csv-options.ts';

const plain: CsvWriteOptions = { delimiter: ',', escapesFormulas: false };
const utf8: DataType = { kind: 'utf8' };
const long: DataType = { kind: 'int', bits: 64, signed: true };

function batchOf(...columns: [DataType, readonly unknown[]][]): Batch {
  return {
    columns: columns.map(([type], i) => ({ name: `c${i}`, type })),
    rows: columns[0]?.[1].length ?? 0,
    vectors: columns.map(([type, values]) => vectorOf(type, values)),
  };
}

function csv(batch: Batch, options = plain): string {
  const encoder = createCsvEncoder(batch.columns, options);
  encoder.encode(batch);
  return Buffer.from(encoder.take().bytes).toString();
}

/** The fields of one column, as cut by `take`. */
function fields(type: DataType, values: readonly unknown[], options = plain): string[] {
  const batch = batchOf([type, values]);
  const encoder = createCsvEncoder(batch.columns, options);
  encoder.encode(batch);
  const { bytes, rowEnds } = encoder.take();
  return Array.from(rowEnds, (end, i) => {
    const line = Buffer.from(bytes.subarray(rowEnds[i - 1] ?? 0, end)).toString();
    expect(line.endsWith('\r\n')).toBe(true);
    return line.slice(0, -2);
  });
}

describe('the lines', () => {
  test('have their fields between delimiters and end with CR LF', () => {
    expect(csv(batchOf([long, [1n, null]], [utf8, ['a', 'b']], [long, [null, -2n]]))).toBe('1,a,\r\n,b,-2\r\n');
  });

  test('can be taken in pieces of a size', () => {
    const batch = batchOf([long, [10n, 11n, 12n, 13n]]);
    const encoder = createCsvEncoder(batch.columns, plain);
    expect(encoder.encodeRows(batch, 1, 4, 8)).toBe(3);
    expect([encoder.pendingBytes, encoder.pendingRows]).toEqual([8, 2]);
    const first = encoder.take();
    expect([Buffer.from(first.bytes).toString(), ...first.rowEnds]).toEqual(['11\r\n12\r\n', 4, 8]);
    expect(encoder.encodeRows(batch, 3, 4)).toBe(4);
    expect(Buffer.from(encoder.take().bytes).toString()).toBe('13\r\n');
    expect(encoder.take()).toMatchObject({ rows: 0, bytes: new Uint8Array(0) });
  });

  test('are there without columns too', () => {
    expect(csv({ columns: [], rows: 2, vectors: [] })).toBe('\r\n\r\n');
  });

  test('grow beyond the first buffer', () => {
    const values = Array.from({ length: 50_000 }, (_, i) => BigInt(i) * 10n ** 13n);
    const expected = values.map((value) => `${value},x\r\n`).join('');
    expect(csv(batchOf([{ kind: 'decimal', precision: 38, scale: 0 }, values], [utf8, values.map(() => 'x')]))).toBe(
      expected,
    );
  });
});

describe('text', () => {
  test.each([
    ['plain', 'plain'],
    ['', '""'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['"', '""""'],
    ['one\ntwo', '"one\ntwo"'],
    ['one\rtwo', '"one\rtwo"'],
    [' before', '" before"'],
    ['after ', '"after "'],
    ['in side', 'in side'],
    ['a\tb', 'a\tb'],
    ['nul\0', 'nul\0'],
    ['a;b|c', 'a;b|c'],
    ['Ä €😀', 'Ä €😀'],
    ['null', 'null'],
    ['=1+1', '=1+1'],
  ])('%j is the field %j', (text, field) => {
    expect(fields(utf8, [text])).toEqual([field]);
    // Where another value lies behind it in memory.
    expect(fields(utf8, [text, ',",\n,'])[0]).toBe(field);
  });

  test('is quoted where it has the delimiter, whichever that is', () => {
    expect(fields(utf8, ['a;b', 'a,b'], { ...plain, delimiter: ';' })).toEqual(['"a;b"', 'a,b']);
    expect(fields(utf8, ['a\tb', 'a,b'], { ...plain, delimiter: '\t' })).toEqual(['"a\tb"', 'a,b']);
  });

  test('of no valid UTF-8 has the replacement character', () => {
    expect(fields(utf8, [Uint8Array.of(97, 255, 98)])).toEqual(['a\ufffdb']);
  });

  test('comes back from any reader that knows RFC 4180', () => {
    const cell = fc.option(fc.string({ unit: 'binary', maxLength: 20 }));
    const table = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(table, fc.constantFrom(',', ';', '\t', '|'), (rows, delimiter) => {
        const text = csv(batchOf([utf8, rows.map(([first]) => first)], [utf8, rows.map(([, second]) => second)]), {
          ...plain,
          delimiter,
        });
        expect(parseCsv(text, delimiter)).toEqual(rows);
      }),
      { numRuns: 500 },
    );
  });
});

/** As in RFC 4180; an empty field is NULL. */
function parseCsv(text: string, delimiter: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (let at = 0; at < text.length; ) {
    let field: string | null = null;
    if (text[at] === '"') {
      field = '';
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (text[at] === '"') at++;
        field += text[at];
      }
      at++;
    } else {
      const start = at;
      while (text[at] !== delimiter && text[at] !== '\r') at++;
      if (at > start) field = text.slice(start, at);
    }
    row.push(field);
    if (text[at] === delimiter) at++;
    else {
      expect(text.slice(at, at + 2)).toBe('\r\n');
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

describe('where formulas are escaped', () => {
  const safe = { ...plain, escapesFormulas: true };
  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['\tx', '"\'\tx"'],
    ['\rx', '"\'\rx"'],
    ['=a,"b"', '"\'=a,""b"""'],
    ['a=1', 'a=1'],
    ['', '""'],
    ['a;=1', '"a;=1"'],
  ])('%j is the field %j', (text, field) => {
    expect(fields(utf8, [text], safe)).toEqual([field]);
  });

  test('numbers stay numbers', () => {
    expect(fields(long, [-1n], safe)).toEqual(['-1']);
    expect(fields({ kind: 'float', bits: 64 }, [-1.5], safe)).toEqual(['-1.5']);
  });

  test('names are escaped too', () => {
    expect(Buffer.from(csvHeader([{ name: '=a', type: long }], 'csv-safe:,')).toString()).toBe("'=a\r\n");
  });
});

describe('values', () => {
  test.each<[DataType, readonly [unknown, string][]]>([
    [
      { kind: 'boolean' },
      [
        [true, 'true'],
        [false, 'false'],
        [null, ''],
      ],
    ],
    [{ kind: 'null' }, [[null, '']]],
    [long, [[-(2n ** 63n), '-9223372036854775808']]],
    [{ kind: 'int', bits: 64, signed: false }, [[2n ** 63n, '9223372036854775808']]],
    [{ kind: 'int', bits: 128, signed: true }, [[-(10n ** 37n), `-1${'0'.repeat(37)}`]]],
    [
      { kind: 'float', bits: 64 },
      [
        [0.1, '0.1'],
        [1e300, '1e+300'],
        [-0, '-0.0'],
        [Number.NaN, 'NaN'],
        [Infinity, 'Infinity'],
        [-Infinity, '-Infinity'],
      ],
    ],
    [
      { kind: 'float', bits: 32 },
      [
        [Math.fround(0.1), '0.1'],
        [-Infinity, '-Infinity'],
      ],
    ],
    [
      { kind: 'decimal', precision: 18, scale: 2 },
      [
        [-1n, '-0.01'],
        [null, ''],
      ],
    ],
    [{ kind: 'uuid' }, [['00112233-4455-6677-8899-aabbccddeeff', '00112233-4455-6677-8899-aabbccddeeff']]],
    [
      { kind: 'binary' },
      [
        [Uint8Array.of(0, 255), 'AP8='],
        [new Uint8Array(0), '""'],
        [null, ''],
      ],
    ],
    [
      { kind: 'date' },
      [
        [0, '1970-01-01'],
        [-719_162, '0001-01-01'],
        [2 ** 31 - 1, ''],
      ],
    ],
    [{ kind: 'time', unit: 'us' }, [[1n, '00:00:00.000001']]],
    [
      { kind: 'timestamp', unit: 'us', zoned: false },
      [
        [0n, '1970-01-01T00:00:00.000000'],
        [2n ** 63n - 1n, ''],
      ],
    ],
    [{ kind: 'timestamp', unit: 'ms', zoned: false }, [[5n, '1970-01-01T00:00:00.005000']]],
    [{ kind: 'timestamp', unit: 'us', zoned: true }, [[0n, '1970-01-01T00:00:00.000000Z']]],
    [
      { kind: 'list', element: { kind: 'timestamp', unit: 'us', zoned: false } },
      [[[0n], '"[""1970-01-01T00:00:00.000000""]"']],
    ],
    [{ kind: 'list', element: { kind: 'date' } }, [[[0], '"[""1970-01-01""]"']]],
    [{ kind: 'timestamp', unit: 'ns', zoned: true }, [[1n, '1970-01-01T00:00:00.000000001Z']]],
    [{ kind: 'interval' }, [[[1, 2, 3_000_000_000n], 'P1M2DT3S']]],
    [
      { kind: 'list', element: long },
      [
        [[1n], '[1]'],
        [[1n, null], '"[1,null]"'],
        [[], '[]'],
        [null, ''],
      ],
    ],
    [{ kind: 'list', element: utf8 }, [[['a"b'], '"[""a\\""b""]"']]],
    [{ kind: 'struct', fields: [{ name: 'a', type: long }] }, [[[1n], '"{""a"":1}"']]],
    [{ kind: 'map', key: utf8, value: long }, [[[['k', 1n]], '"{""k"":1}"']]],
    [
      { kind: 'json' },
      [
        ['{"a": [1, 2]}', '"{""a"": [1, 2]}"'],
        ['7', '7'],
        ['-7', '-7'],
      ],
    ],
  ])('of %j are spelled as JSON has them, without its quotes', (type, cases) => {
    expect(
      fields(
        type,
        cases.map(([value]) => value),
      ),
    ).toEqual(cases.map(([, field]) => field));
  });

  test('are quoted where they hold the delimiter themselves', () => {
    const colons = { ...plain, delimiter: ':' };
    expect(fields({ kind: 'time', unit: 'us' }, [1n, null], colons)).toEqual(['"00:00:00.000001"', '']);
    expect(fields({ kind: 'timestamp', unit: 'us', zoned: false }, [2n ** 63n - 1n], colons)).toEqual(['']);
    expect(fields({ kind: 'binary' }, [Uint8Array.of(0), new Uint8Array(0)], { ...plain, delimiter: '=' })).toEqual([
      '"AA=="',
      '""',
    ]);
  });

  test.each(typeCases)('of every type stand side by side: $sqlName', ({ type, values }) => {
    const alone = fields(type, values);
    const line = csv(batchOf([type, values], [long, values.map(() => 1n)], [type, values]));
    expect(line).toBe(alone.map((field) => `${field},1,${field}\r\n`).join(''));
  });
});

test('the header has the names as fields', () => {
  const columns = ['plain', 'a,b', 'say "hi"', '', 'Ä\n', ' x'].map((name) => ({ name, type: long }));
  expect(Buffer.from(csvHeader(columns, 'csv:,')).toString()).toBe('plain,"a,b","say ""hi""","","Ä\n"," x"\r\n');
  expect(Buffer.from(csvHeader(columns.slice(0, 2), 'csv:;')).toString()).toBe('plain;a,b\r\n');
});
