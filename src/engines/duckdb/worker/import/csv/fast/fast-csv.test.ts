import type { DataType } from '@framehold/columns';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CsvBothWays, type CsvWishes } from '../../../../../../../test/support/csv-both-ways.ts';

let ways: CsvBothWays;
beforeAll(async () => {
  ways = await CsvBothWays.open();
});
afterAll(async () => {
  await ways[Symbol.asyncDispose]();
});

const int32: DataType = { kind: 'int', bits: 32, signed: true };
const int64: DataType = { kind: 'int', bits: 64, signed: true };
const double: DataType = { kind: 'float', bits: 64 };
const timestamp: DataType = { kind: 'timestamp', unit: 'us', zoned: false };
const text: DataType = { kind: 'utf8' };

function named(types: Readonly<Record<string, DataType>>): CsvWishes {
  return { types: new Map(Object.entries(types).map(([name, type]) => [name, { type }])) };
}

async function rowsOf(content: string | Uint8Array, wishes?: CsvWishes): Promise<readonly unknown[][] | undefined> {
  return (await ways.withoutDuckDb(content, wishes))?.rows;
}

describe('read without DuckDB are', () => {
  test('trades, as they are sent to be measured', async () => {
    const content =
      'timestamp,symbol,side,price,amount,id\n2024-01-01T00:00:00.123456Z,BTC-USD,buy,43123.45,0.0123,17\n';
    const wishes = named({ timestamp, symbol: text, side: text, price: double, amount: double, id: int64 });
    expect(await rowsOf(content, wishes)).toEqual([[1704067200123456n, 'BTC-USD', 'buy', 43123.45, 0.0123, 17n]]);
    expect(await ways.withoutDuckDb(content)).toMatchObject({
      types: [{ ...timestamp, zoned: true }, text, text, double, double, int64],
      report: { delimiter: ',', hasHeader: true, rejectedRows: 0, rejections: [] },
    });
  });

  test('missing values, in every kind of column', async () => {
    const header = 'text,nothing,whole,number,day,time,instant,truth';
    const row = 'x,,1,1.5,2024-01-01,2024-01-01 10:00,2024-01-01T10:00:00Z,true';
    const rows = await rowsOf(`${header}\n${row}\n,,,,,,,\n${row}\n`);
    const values = ['x', null, 1n, 1.5, 19723, 1704103200000000n, 1704103200000000n, true];
    expect(rows).toEqual([values, values.map(() => null), values]);
  });

  test.each([
    ['quotes around all fields', '"a","b"\n"1","x"\n'],
    ['other delimiters', 'a;b\n1;x\n'],
    ['carriage returns', 'a,b\r\n1,x\r\n'],
    ['carriage returns, but for the last line', 'a,b\r\n1,x'],
    ['a last line without an end', 'a,b\n1,x'],
    ['a byte order mark', '\ufeffa,b\n1,x\n'],
  ])('files with %s', async (_, content) => {
    expect(await rowsOf(content)).toEqual([[1n, 'x']]);
  });

  test('quoted texts that hold anything', async () => {
    expect(await rowsOf('a,b\n"x,""y""\r\nz",""\n"ä""",\n')).toEqual([
      ['x,"y"\r\nz', ''],
      ['ä"', null],
    ]);
  });

  test('rows to be appended, in the order of the frame', async () => {
    const like = [
      { name: 'a', type: int32 },
      { name: 'b', type: text },
    ];
    expect(await ways.withoutDuckDb('b,a\n007,007\n', { like })).toMatchObject({
      names: ['a', 'b'],
      rows: [[7, '007']],
    });
  });

  test('files with nothing but names', async () => {
    expect(await ways.withoutDuckDb('a,b\n')).toMatchObject({ names: ['a', 'b'], types: [text, text], rows: [] });
  });

  test('files of many blocks and batches, as DuckDB reads them', async () => {
    const lines = Array.from({ length: 150_000 }, (_, row) => {
      const note = row % 7 === 0 ? '' : `"${'line\n'.repeat(row % 11)}""${row}"""`;
      return `${row},${row / 8},${note},${'x'.repeat(row % 40)}`;
    });
    const content = `id,number,note,text\n${lines.join('\n')}\n`;
    const own = await ways.withoutDuckDb(content);
    expect(own?.rows).toHaveLength(lines.length);
    expect(own).toEqual(await ways.byDuckDb(content));
  });

  test('rows nearly as long as a block, in batches that fit into memory', async () => {
    const content = `a,b\n${`${'x'.repeat(900_000)},"${'y\n'.repeat(60_000)}"\n`.repeat(60)}`;
    expect(await rowsOf(content, named({ a: text, b: text }))).toHaveLength(60);
  });
});

describe('left to DuckDB are', () => {
  test.each([
    ['a row that is too short', 'a,b\n1,2\n3\n'],
    ['a row that is too long', 'a,b\n1,2\n3,4,5\n'],
    ['a delimiter too many', 'a,b\n1,2,\n'],
    ['a line of nothing', 'a,b\n1,2\n\n3,4\n'],
    ['a line of nothing in one column', 'a\n1\n\n3\n'],
    ['lines of nothing before the first', '\na,b\n1,2\n'],
    ['line ends of two kinds', 'a,b\r\n1,2\n'],
    ['line ends of two kinds, otherwise', 'a,b\n1,2\r\n'],
    ['line ends of old', 'a,b\r1,2\r'],
    ['a line end in a name', '"a\nb",c\n1,2\n'],
    ['a quote inside a text', 'a,b\nx"y,2\n'],
    ['text behind a quote', 'a,b\n"x"y,2\n'],
    ['spaces around quotes', 'a,b\n "x" ,2\n'],
    ['a quote that is not closed', 'a,b\n1,x\n2,"y\n'],
    ['what is not UTF-8', Buffer.from('a,b\n1,\xe4\n', 'latin1')],
    ['a NUL', 'a,b\n1,two\n3,four\0\n'],
    ['a row of more than a block', `a,b\n1,${'x\n'.repeat(10)}`.replace('x', 'x'.repeat(2_500_000))],
    ['types that only it knows', 'a,b\n10:00:00,2\n'],
  ])('%s', async (_, content) => {
    expect(await ways.withoutDuckDb(content, { hasHeader: true, delimiter: ',', skipsBadRows: true })).toBeUndefined();
  });

  test.each<[string, string, CsvWishes]>([
    ['an unusual delimiter', 'a#b\n1#2\n', { delimiter: '#' }],
    [
      'a form of times',
      'a\n01.02.2024\n',
      { types: new Map([['a', { type: { kind: 'date' }, timeFormat: '%d.%m.%Y' }]]) },
    ],
    ['an empty text for a number', 'a,b\n"",2\n', named({ a: int64 })],
    ['a number too large', 'a\n2147483648\n', named({ a: int32 })],
    ['a number too large by one', 'a\n9223372036854775808\n', named({ a: int64 })],
    ['a number with a sign too many', 'a\n+5\n', named({ a: int64 })],
    ['a number with spaces', 'a\n 5\n', named({ a: double })],
    ['a number with underscores', 'a\n1_000\n', named({ a: double })],
    ['no number', 'a\nNaN\n', named({ a: double })],
    ['a day that never was', 'a\n2023-02-29\n', named({ a: { kind: 'date' } })],
    ['an hour too many', 'a\n2023-02-28 24:00\n', named({ a: timestamp })],
    ['nanoseconds', 'a\n2023-02-28 10:00:00.1234567\n', named({ a: timestamp })],
  ])('%s', async (_, content, wishes) => {
    expect(await ways.withoutDuckDb(content, wishes)).toBeUndefined();
  });

  test.each([
    ['leading zeros among numbers', '1', '007'],
    ['decimals among whole numbers', '1', '1.5'],
    ['whole numbers that a double would round', '1.5', '9007199254740993'],
    ['digits that a double would drop', '1.5', '0.1234567890123456789'],
    ['empty texts among numbers', '1', '""'],
    ['times without a zone among those with one', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00'],
    ['times with a zone among those without', '2024-01-01T00:00:00', '2024-01-01T00:00:00Z'],
    ['numbers among truths', 'true', '1'],
    ['values where there were none', '', '1'],
  ])('%s, far down in a file', async (_, first, late) => {
    const content = `a,b\n${`${first},\n`.repeat(70_000)}${late},\n`;
    expect(await ways.withoutDuckDb(content)).toBeUndefined();
  });

  test('more columns than fit into memory', async () => {
    const row = Array.from({ length: 101 }, (_, index) => `c${index}`).join(',');
    expect(await ways.withoutDuckDb(`${row}\n${row}\n`)).toBeUndefined();
  });
});
