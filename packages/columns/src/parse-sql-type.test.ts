import { expect, test } from 'vitest';
import { parseSqlType, sqlTypeNames } from './parse-sql-type.ts';
import { sqlTypeName } from './sql-type-name.ts';

test.each(sqlTypeNames)('%s is read, and read again as it is written', (name) => {
  const type = parseSqlType(name);
  if (type === undefined) throw new Error(`${name} is not known`);
  expect(parseSqlType(sqlTypeName(type))).toEqual(type);
});

test.each([
  ['decimal(10, 2)', { kind: 'decimal', precision: 10, scale: 2 }],
  ['NUMERIC(5)', { kind: 'decimal', precision: 5, scale: 0 }],
  [' timestamp  with time zone ', { kind: 'timestamp', unit: 'us', zoned: true }],
  ['DATE[]', { kind: 'list', element: { kind: 'date' } }],
  ['INTEGER[ ][]', { kind: 'list', element: { kind: 'list', element: { kind: 'int', bits: 32, signed: true } } }],
])('%s is %o', (text, type) => {
  expect(parseSqlType(text)).toEqual(type);
});

test.each([
  '',
  '[]',
  'DECIMAL(39,0)',
  'DECIMAL(5,6)',
  'DATE)',
  'DATE; DROP',
  'STRUCT(a INT)',
  `DATE${'[]'.repeat(500)}`,
])('%s is not known', (text) => {
  expect(parseSqlType(text)).toBeUndefined();
});

test.each(['DATE', 'DATE[', 'DECIMAL(1'])(
  '%s with a million blanks behind it is no type, and this is told at once',
  (name) => {
    expect(parseSqlType(`${name}${' '.repeat(1_000_000)}`)).toBeUndefined();
  },
);
