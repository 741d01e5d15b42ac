import type { DataType } from '@framehold/columns';
import { describe, expect, test } from 'vitest';
import { parseSchema } from './schema.ts';
import { timeFormatOf } from './time-pattern.ts';
import { parseTypeName } from './type-name.ts';

const us: DataType = { kind: 'timestamp', unit: 'us', zoned: false };

test('the JSON array of QuestDB is read', () => {
  const schema = parseSchema(
    '[{"name":"ts","type":"TIMESTAMP","pattern":"dd/MM/yyyy HH:mm:ss.SSS"},{"name":"a,b","type":"symbol","utf8":true}]',
  );
  expect([...schema]).toEqual([
    ['ts', { type: us, timeFormat: '%d/%m/%Y %H:%M:%S.%g' }],
    ['a,b', { type: { kind: 'utf8' } }],
  ]);
});

test('names with types behind them are read', () => {
  const schema = parseSchema(
    `ts TIMESTAMP 'dd''T''MM', "a ""b"", c" DECIMAL( 10 , 2 ),price double precision , z VARCHAR(20)`,
  );
  expect([...schema]).toEqual([
    ['ts', { type: us, timeFormat: '%dT%m' }],
    ['a "b", c', { type: { kind: 'decimal', precision: 10, scale: 2 } }],
    ['price', { type: { kind: 'float', bits: 64 } }],
    ['z', { type: { kind: 'utf8' } }],
  ]);
});

test('a DATE with a time of day keeps it', () => {
  const ms: DataType = { kind: 'timestamp', unit: 'ms', zoned: false };
  expect(parseSchema('d DATE').get('d')).toEqual({ type: { kind: 'date' } });
  expect(parseSchema("d DATE 'dd.MM.yyyy'").get('d')).toEqual({ type: { kind: 'date' }, timeFormat: '%d.%m.%Y' });
  expect(parseSchema("d DATE 'dd.MM.yyyy HH:mm'").get('d')).toEqual({ type: ms, timeFormat: '%d.%m.%Y %H:%M' });
  expect(parseSchema("d DATE 'yyyy-MM-ddTHH:mm:ss.SSSZ'").get('d')).toEqual({ type: ms });
});

test.each([
  ['', 'a column is empty'],
  ['[]', 'names no column'],
  ['{"name":"a","type":"INT"}', 'not an array'],
  ['[1]', 'item 1 is not an object'],
  ['[{"type":"INT"}]', 'item 1 has no name'],
  ['[{"name":"a"}]', 'item 1 has no type'],
  ['[{"name":"a","type":1}]', 'item 1 has no type'],
  ['[{"name":"a","type":"INT"', 'it is not valid JSON'],
  ['[{"name":"a","typ":"INT"}]', 'did you mean type?'],
  ['[{"name":"a","type":"INT"},{"name":"a","type":"LONG"}]', 'column "a" is given twice'],
  ['[{"name":"a","type":"INT","pattern":"yyyy"}]', 'only dates and times have'],
  ['a', 'column "a" has no type'],
  ['a INT,', 'a column is empty'],
  ["a 'x' INT", 'cannot be read from "x" on'],
  ['a "INT"', 'cannot be read from "INT" on'],
  ['a DECIMAL(1,2', 'cannot be read from "(1,2" on'],
  ['(1) INT', 'cannot be read from "(1)" on'],
  [`a INT${' '.repeat(900_000)}"`, 'cannot be read'],
  [`"${'x'.repeat(900_000)}`, 'cannot be read'],
])('the schema %.40s is refused', (text, words) => {
  const start = performance.now();
  let error: unknown;
  try {
    parseSchema(text);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: 'invalid_parameter' });
  expect((error as Error).message).toContain(words);
  expect(performance.now() - start).toBeLessThan(1000);
});

describe('a type', () => {
  test.each([
    ['LONG', { kind: 'int', bits: 64, signed: true }],
    ['bigint', { kind: 'int', bits: 64, signed: true }],
    ['UInteger', { kind: 'int', bits: 32, signed: false }],
    ['IPv4', { kind: 'utf8' }],
    ['GEOHASH(8c)', { kind: 'utf8' }],
    ['TIMESTAMP_NS', { kind: 'timestamp', unit: 'ns', zoned: false }],
    ['timestamp  with time\tzone', { kind: 'timestamp', unit: 'us', zoned: true }],
    ['DECIMAL', { kind: 'decimal', precision: 18, scale: 3 }],
    ['NUMERIC(38)', { kind: 'decimal', precision: 38, scale: 0 }],
  ] as [string, DataType][])('%s is known', (name, type) => {
    expect(parseTypeName(name)).toEqual(type);
  });

  test.each([
    ['DUOBLE', 'did you mean DOUBLE?'],
    ['VARCHR', 'did you mean VARCHAR?'],
    ['DECIMAL(39,2)', 'it has 1 to 38 digits'],
    ['DECIMAL(5,6)', 'it has 1 to 38 digits'],
    ['DECIMAL(x)', 'it has 1 to 38 digits'],
    ['INT(4)', 'it is one of BYTE'],
    ['BINARY', 'it cannot be read from text'],
    ['constructor', 'it is one of BYTE'],
    ['', 'it is one of BYTE'],
    ['INT; DROP TABLE x', 'it is one of BYTE'],
  ])('%s is refused', (name, hint) => {
    expect(() => parseTypeName(name)).toThrow('is not valid');
    try {
      parseTypeName(name);
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_parameter', hint: expect.stringContaining(hint) });
    }
  });
});

describe('a pattern', () => {
  test.each([
    ['yyyy-MM-ddTHH:mm:ss.SSSUUUZ', undefined],
    ["yyyy-MM-dd'T'HH:mm:ss.U+Z", undefined],
    ['yyyy-MM-dd HH:mm:ss', undefined],
    ['yyyy-MM-dd', undefined],
    ['%Y%m%d', '%Y%m%d'],
    ['yyyyMMdd', '%Y%m%d'],
    ['d/M/yy h:mm a', '%-d/%-m/%y %-I:%M %p'],
    ['EEE, dd MMM yyyy HH:mm:ss z', '%a, %d %b %Y %H:%M:%S %Z'],
    ['MMMM d yyyy', '%B %-d %Y'],
    ['dd.MM.yyyy HH:mm:ss.SSSUUUNNN', '%d.%m.%Y %H:%M:%S.%n'],
    ['yyyy/MM/ddTHH:mm:ss.U+xxx', '%Y/%m/%dT%H:%M:%S.%f%z'],
    ["yyyy'year'", '%Yyear'],
    ["''yy", "'%y"],
  ])('%s means %s', (pattern, format) => {
    expect(timeFormatOf(pattern)).toBe(format);
  });

  test.each(['yyyy-ww', 'yyy', 'dd UUU', "yyyy 'open", 'G yyyy', 'kk:mm'])('%s is refused', (pattern) => {
    expect(() => timeFormatOf(pattern)).toThrow('is not valid');
  });
});
