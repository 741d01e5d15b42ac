import type { DataType } from '@framehold/columns';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileImports, type Imported } from '../../../test/support/file-imports.ts';
import type { CsvOptions, TextOptions, TextType } from '../../core/rows/frame-engine.ts';

let files: FileImports;
beforeAll(async () => {
  files = await FileImports.open();
});
afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

function csv(content: string | Uint8Array, options: Partial<CsvOptions & TextOptions> = {}): Promise<Imported> {
  return files.import(content, { kind: 'csv', skipsBadRows: false, ...options });
}

const int32: DataType = { kind: 'int', bits: 32, signed: true };
const int64: DataType = { kind: 'int', bits: 64, signed: true };
const timestamp: DataType = { kind: 'timestamp', unit: 'us', zoned: false };

function types(given: Readonly<Record<string, DataType | TextType>>): ReadonlyMap<string, TextType> {
  return new Map(Object.entries(given).map(([name, type]) => [name, 'kind' in type ? { type } : type]));
}

describe('how a file is written is found out', () => {
  test.each([
    [',', 'a,b\n1,2\n'],
    [';', 'a;b\n1,5;2\n2,5;3\n'],
    ['\t', 'a\tb\n1\t2\n'],
    ['|', 'a|b\n1|2\n'],
    [';', '"a,x";b\n"1,2";2\n'],
  ])('the delimiter %j', async (delimiter, content) => {
    const { part, names } = await csv(content);
    expect(part.report).toMatchObject({ delimiter, hasHeader: true, rejectedRows: 0, rejections: [] });
    expect(names).toHaveLength(2);
  });

  test.each([
    ['LF', 'a,b\n1,2\n3,4\n'],
    ['LF, not at the end', 'a,b\n1,2\n3,4'],
    ['CRLF', 'a,b\r\n1,2\r\n3,4\r\n'],
    ['CR', 'a,b\r1,2\r3,4\r'],
    ['all kinds of them', 'a,b\r\n1,2\n3,4\r\n'],
    ['LF, behind a byte order mark', '\ufeffa,b\n1,2\n3,4\n'],
    ['LF, with lines of nothing', '\n\na,b\n\n1,2\n\n\n3,4\n\n'],
    ['LF, with a delimiter too many', 'a,b\n1,2,\n3,4,\n'],
  ])('lines that end with %s', async (_, content) => {
    const { names, rows } = await csv(content);
    expect(names).toEqual(['a', 'b']);
    expect(rows).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test.each([
    ['text above text', 'name,city\nAnn,Paris\n', true],
    ['names above numbers', 'id,price\n1,2.5\n', true],
    ['years above numbers', 'country,2019,2020\nFR,1,2\n', true],
    ['numbers above numbers', '1,2\n3,4\n', false],
    ['nothing but years above numbers', '1990,1991\n5,6\n', false],
    ['rows of years', 'FR,2019\nDE,2020\n', false],
    ['a missing value above numbers', 'n/a,5\n1,6\n', false],
    ['nothing but names', 'a,b\n', true],
    ['a name missing', ',a\n0,1\n', true],
  ])('whether there is a header: %s', async (_, content, hasHeader) => {
    expect((await csv(content)).part.report).toMatchObject({ hasHeader });
  });

  test.each([
    ['a name', '"two\nlines",a\r\n1,2\r\n3,4\r\n', { hasHeader: true }, 2],
    ['a name, otherwise', '"two\r\nlines",a\n1,2\n3,4\n', { hasHeader: true }, 2],
    ['the first value, otherwise', '"two\r\nlines",a\nx,2\ny,4\n', { hasHeader: false }, 3],
    ['the first value', '"two\nlines",a\r\nx,2\r\ny,4\r\n', { hasHeader: false }, 3],
  ])('a line end inside %s is not that of the file', async (_, content, options, rows) => {
    expect((await csv(content, options)).part.rows).toBe(rows);
  });

  test('what the sender says goes before it', async () => {
    expect((await csv('a,b\n1,2\n', { hasHeader: false })).rows).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
    const named = await csv('1#2\n3#4\n', { hasHeader: true, delimiter: '#' });
    expect(named).toMatchObject({ names: ['1', '2'], rows: [[3, 4]] });
  });

  test('names are kept as they are, repeated ones too, and made where there are none', async () => {
    const { names, rows } = await csv('a,A,a,"x\ny", b,,column6\n1,2,3,4,5,6,7\n');
    expect(names).toEqual(['a', 'A', 'a', 'x\ny', ' b', 'column6_', 'column6']);
    expect(rows).toEqual([[1, 2, 3, 4, 5, 6, 7]]);
    expect((await csv('1,2\n')).names).toEqual(['column1', 'column2']);
  });

  test('a quoted field may hold anything, and empty quotes are an empty text', async () => {
    const { rows } = await csv('a,b\n"x,""y""\nz",""\n, "q" \n');
    expect(rows).toEqual([
      ['x,"y"\nz', ''],
      [null, 'q'],
    ]);
  });

  test('a header alone makes a frame without rows', async () => {
    expect(await csv('a,b')).toMatchObject({ names: ['a', 'b'], types: ['VARCHAR', 'VARCHAR'], rows: [] });
  });

  test('a line of nothing is a NULL where there is one column', async () => {
    expect((await csv('a\n1\n\n3\n')).rows).toEqual([[1], [null], [3]]);
  });
});

describe('types are found out so that nothing is lost', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['true', 'BOOLEAN'],
    ['FALSE', 'BOOLEAN'],
    ['0', 'BIGINT'],
    ['-7', 'BIGINT'],
    ['9223372036854775807', 'BIGINT'],
    ['-9223372036854775808', 'BIGINT'],
    ['9223372036854775808', 'VARCHAR'],
    ['12345678901234567890', 'VARCHAR'],
    ['007', 'VARCHAR'],
    ['-07', 'VARCHAR'],
    ['+5', 'VARCHAR'],
    [' 5', 'VARCHAR'],
    ['1_000', 'VARCHAR'],
    ['0x1f', 'VARCHAR'],
    ['-0', 'DOUBLE'],
    ['1.50', 'DOUBLE'],
    ['.5', 'DOUBLE'],
    ['1e3', 'DOUBLE'],
    ['1E-7', 'DOUBLE'],
    ['0.30000000000000004', 'DOUBLE'],
    ['1.7976931348623157e+308', 'DOUBLE'],
    ['0.10000000000000000000', 'DOUBLE'],
    ['0.12345678901234567', 'VARCHAR'],
    ['0.1234567890123456789', 'VARCHAR'],
    ['9007199254740993.5', 'VARCHAR'],
    ['1e400', 'VARCHAR'],
    ['1e-400', 'VARCHAR'],
    ['0e-400', 'DOUBLE'],
    ['00.5', 'VARCHAR'],
    ['1.', 'VARCHAR'],
    ['1.2.3', 'VARCHAR'],
    ['NaN', 'VARCHAR'],
    ['2024-02-29', 'DATE'],
    ['2023-02-29', 'VARCHAR'],
    ['2024-1-1', 'VARCHAR'],
    ['0000-01-01', 'VARCHAR'],
    ['31/01/2024', 'VARCHAR'],
    ['23:59:59', 'TIME'],
    ['23:59:59.123456', 'TIME'],
    ['23:59:59.1234567', 'VARCHAR'],
    ['25:00:00', 'VARCHAR'],
    ['2024-01-31T10:00:00', 'TIMESTAMP'],
    ['2024-01-31 10:00', 'TIMESTAMP'],
    ['2024-01-31 10:00:00.123456', 'TIMESTAMP'],
    ['2024-01-31 10:00:0Z', 'VARCHAR'],
    ['100000000000000000000.0', 'DOUBLE'],
    ['12345678901234568.0', 'DOUBLE'],
    ['123456789012345678.0', 'VARCHAR'],
    ['2024-02-30 10:00:00', 'VARCHAR'],
    ['2024-01-31 10:00:00.123456789', 'TIMESTAMP_NS'],
    ['1500-01-31 10:00:00.123456789', 'VARCHAR'],
    ['2024-01-31 10:00:00.1234567890', 'VARCHAR'],
    ['2024-01-31T10:00:00Z', 'TIMESTAMP WITH TIME ZONE'],
    ['2024-01-31 10:00:00.5+02:00', 'TIMESTAMP WITH TIME ZONE'],
    ['2024-01-31T10:00:00.123456789Z', 'TIMESTAMP_NS'],
    ['2024-01-31T10:00:00.123456789+02:00', 'VARCHAR'],
    ['123e4567-e89b-12d3-a456-426614174000', 'UUID'],
    ['f23e4567-e89b-12d3-a456-426614174000', 'UUID'],
    ['123E4567-E89B-12D3-A456-426614174000', 'VARCHAR'],
    ['hello', 'VARCHAR'],
  ];
  const header = cases.map((_, index) => `c${index}`).join(',');
  const row = cases.map(([text]) => text).join(',');
  const found = (imported: Imported): unknown[] => cases.map(([text], index) => [text, imported.types[index]]);

  test('from the beginning of a file', async () => {
    expect(found(await csv(`${header}\n${row}\n`))).toEqual(cases);
  });

  test('and, where the beginning is empty, from all of it', async () => {
    const empty = `${','.repeat(cases.length - 1)}\n`.repeat(3000);
    expect(found(await csv(`${header}\n${empty}${row}\n`))).toEqual(cases);
  });

  test('a text stays as it was written', async () => {
    const { rows, types: seen } = await csv(`${header}\n${row}\n`);
    const texts = cases.filter((_, index) => seen[index] === 'VARCHAR').map(([text]) => text);
    expect(rows[0]?.filter((_, index) => seen[index] === 'VARCHAR')).toEqual(texts);
  });

  const mixtures = [
    ['whole numbers and decimals', '1', '2.5', 'DOUBLE'],
    ['numbers and NaN', '1', 'NaN', 'DOUBLE'],
    ['long whole numbers and decimals', '9007199254740993', '2.5', 'VARCHAR'],
    ['numbers and leading zeros', '1', '007', 'VARCHAR'],
    ['numbers and text', '1', 'x', 'VARCHAR'],
    ['dates and times', '2024-01-01', '2024-01-01 10:00:00', 'VARCHAR'],
    ['finer and finer times', '2024-01-01 10:00:00', '2024-01-01 10:00:00.123456789', 'TIMESTAMP_NS'],
    ['times with and without a zone', '2024-01-01 10:00:00', '2024-01-01 10:00:00Z', 'VARCHAR'],
    ['finer and finer times in UTC', '2024-01-01T10:00:00Z', '2024-01-01T10:00:00.123456789Z', 'TIMESTAMP_NS'],
    ['booleans and numbers', 'true', '1', 'VARCHAR'],
    ['values and empty texts', '1', '""', 'VARCHAR'],
  ] as const;

  test.each(mixtures)('a column of %s', async (_, first, second, type) => {
    expect((await csv(`a\n${first}\n${second}\n`)).types).toEqual([type]);
  });

  test('columns of which only the last value says what they are', async () => {
    const names = mixtures.map(([name]) => name);
    const [firsts, seconds] = [mixtures.map(([, first]) => first), mixtures.map(([, , second]) => second)];
    const late = await csv(`${names}\n${`${firsts}\n`.repeat(20_000)}${seconds}\n`);
    expect(names.map((name, index) => [name, late.types[index]])).toEqual(
      mixtures.map(([name, , , type]) => [name, type]),
    );
    expect(late.part.rows).toBe(20_001);
  });

  test('rows keep their order, also when they are read a second time', async () => {
    const numbers = Array.from({ length: 100_000 }, (_, n) => `${n},${n % 7}`).join('\n');
    const { rows, types: seen } = await csv(`n,m\n${numbers}\n100000,x\n`);
    expect(seen).toEqual(['BIGINT', 'VARCHAR']);
    expect(rows.map(([n]) => n)).toEqual(Array.from({ length: 100_001 }, (_, n) => n));
  });
});

describe('types that the sender names', () => {
  test('may read more than is found out', async () => {
    const { types: seen, rows } = await csv('a,b,c,d,e\n007,1.10,2024-01-31T10:00:00+02:00,QUI=,P1DT2H\n', {
      types: types({
        a: int32,
        b: { kind: 'decimal', precision: 10, scale: 2 },
        c: timestamp,
        d: { kind: 'binary' },
        e: { kind: 'interval' },
      }),
    });
    expect(seen).toEqual(['INTEGER', 'DECIMAL(10,2)', 'TIMESTAMP', 'BLOB', 'INTERVAL']);
    expect(rows).toEqual([[7, '1.10', '2024-01-31T08:00:00.000000Z', 'QUI=', 'P1DT2H']]);
  });

  test('may come with a form of dates and times', async () => {
    const { rows } = await csv('a,b\n31/01/2024,31/01/2024 10:30 +0200\n', {
      types: types({
        a: { type: { kind: 'date' }, timeFormat: '%d/%m/%Y' },
        b: { type: timestamp, timeFormat: '%d/%m/%Y %H:%M %z' },
      }),
    });
    expect(rows).toEqual([['2024-01-31T00:00:00.000Z', '2024-01-31T08:30:00.000000Z']]);
  });

  test.each([
    [int32, '1.5', 'INTEGER'],
    [int32, '2147483648', 'INTEGER'],
    [{ kind: 'decimal', precision: 10, scale: 2 }, '1.239', 'DECIMAL(10,2)'],
    [timestamp, '2024-01-31 10:00:00.1234567', 'TIMESTAMP'],
    [{ kind: 'boolean' }, 'maybe', 'BOOLEAN'],
    [{ kind: 'list', element: int64 }, '[1', 'BIGINT[]'],
    [{ kind: 'uuid' }, 'x', 'UUID'],
  ] as const)('a value that would be changed is refused: %j %s', async (type, value, name) => {
    await expect(
      csv(`x,a\n"1\n2",\n3,${JSON.stringify(value)}\n`, { types: types({ a: type }) }),
    ).rejects.toMatchObject({
      code: 'invalid_input',
      message: `line 4, column "a": ${JSON.stringify(value)} is not of the type ${name}`,
    });
  });

  test.each([
    [{ types: types({ prise: int32 }) }, 'did you mean "price"?'],
    [{ types: types({ price: { type: { kind: 'date' }, timeFormat: '%Q' } }) }, 'the form "%Q"'],
    [{ delimiter: '""' }, 'the delimiter'],
    [{ delimiter: '€' }, 'the delimiter'],
  ] as const)('a wish that cannot be granted is refused: %j', async (options, words) => {
    await expect(csv('price,b\n1,2\n', options as Partial<CsvOptions & TextOptions>)).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringContaining(words),
    });
  });
});

describe('rows to be appended', () => {
  const like = [
    { name: 'a', type: int64 },
    { name: 'b', type: { kind: 'utf8' } },
  ] as const;

  test('get the columns of the frame, by name', async () => {
    expect(await csv('b,a\n007,5\n', { like })).toMatchObject({
      names: ['a', 'b'],
      types: ['BIGINT', 'VARCHAR'],
      rows: [[5, '007']],
    });
  });

  test('or by their place, where the file has no names', async () => {
    expect((await csv('5,6\n', { like })).rows).toEqual([[5, '6']]);
  });

  test.each([
    ['b,c\n1,2\n', 'schema_mismatch', 'column "a" is missing'],
    ['a,b,c\n1,2,3\n', 'schema_mismatch', 'column "c" is not in the frame'],
    ['1,2,3\n', 'schema_mismatch', '3 columns without names'],
    ['a,b\nx,2\n', 'invalid_input', 'line 2, column "a": "x" is not of the type BIGINT'],
  ])('%j is refused', async (content, code, words) => {
    await expect(csv(content, { like })).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
  });
});

describe('a file that is written simply', () => {
  const lines = (count: number, line: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('');

  test('is read without DuckDB', async () => {
    const text = `at,symbol,price,id\n${lines(70_000, (n) => `2024-05-0${(n % 9) + 1}T01:02:03.${n}Z,S${n % 7},${n / 8},${n}`)}`;
    const { part, types, rows } = await csv(text);
    expect(part.isCompressed).toBe(false);
    expect(types).toEqual(['TIMESTAMP WITH TIME ZONE', 'VARCHAR', 'DOUBLE', 'BIGINT']);
    expect(rows.length).toBe(70_000);
    expect(rows[69_999]).toEqual(['2024-05-07T01:02:03.699990Z', 'S6', 8749.875, 69_999]);
  });

  test('is read by DuckDB from the beginning where its last line is not simple', async () => {
    const text = `n\n${lines(70_000, String)}1e400\n`;
    const { part, types, rows } = await csv(text);
    expect(part.isCompressed).toBe(true);
    expect(types).toEqual(['VARCHAR']);
    expect(rows.at(-1)).toEqual(['1e400']);
    expect(rows.length).toBe(70_001);
  });
});
