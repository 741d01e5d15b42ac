import { RecordBatchReader } from 'apache-arrow';
import { expect, test } from 'vitest';
import { parameterSchema } from './parameter-schema.ts';

test('parameters are numbered, in types that JDBC can set', () => {
  const schema = parameterSchema([
    { kind: 'int', bits: 32, signed: true },
    { kind: 'null' },
    { kind: 'time', unit: 'us' },
    { kind: 'timestamp', unit: 'us', zoned: false },
    { kind: 'timestamp', unit: 'ns', zoned: true },
  ]);
  const { fields } = RecordBatchReader.from(schema).open().schema;
  expect(fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
    '1 Int32',
    '2 Utf8',
    '3 Time32<MILLISECOND>',
    '4 Timestamp<MILLISECOND>',
    '5 Timestamp<MILLISECOND, UTC>',
  ]);
});

test('parameters that have names are called by them', () => {
  const schema = parameterSchema([{ kind: 'utf8' }, { kind: 'boolean' }], ['Symbol', 'buys']);
  const { fields } = RecordBatchReader.from(schema).open().schema;
  expect(fields.map(({ name }) => name)).toEqual(['Symbol', 'buys']);
});

test('a statement without parameters has no schema of them', () => {
  expect(parameterSchema([])).toHaveLength(0);
});
