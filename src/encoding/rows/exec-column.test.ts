import type { DataType } from '@framehold/columns';
import { expect, test } from 'vitest';
import { execColumn } from './exec-column.ts';

const typeOf = (type: DataType) => execColumn({ name: 'c', type }).type;
const int = (bits: 8 | 16 | 32 | 64 | 128, signed: boolean): DataType => ({ kind: 'int', bits, signed });

test.each<[string, DataType]>([
  ['VARCHAR', { kind: 'null' }],
  ['BOOLEAN', { kind: 'boolean' }],
  ['BYTE', int(8, true)],
  ['SHORT', int(16, true)],
  ['INT', int(32, true)],
  ['LONG', int(64, true)],
  ['DECIMAL(39,0)', int(128, true)],
  ['SHORT', int(8, false)],
  ['INT', int(16, false)],
  ['LONG', int(32, false)],
  ['DECIMAL(20,0)', int(64, false)],
  ['DECIMAL(39,0)', int(128, false)],
  ['FLOAT', { kind: 'float', bits: 32 }],
  ['DOUBLE', { kind: 'float', bits: 64 }],
  ['DECIMAL(18,3)', { kind: 'decimal', precision: 18, scale: 3 }],
  ['VARCHAR', { kind: 'utf8' }],
  ['JSON', { kind: 'json' }],
  ['UUID', { kind: 'uuid' }],
  ['BINARY', { kind: 'binary' }],
  ['DATE', { kind: 'date' }],
  ['TIME', { kind: 'time', unit: 'ns' }],
  ['TIMESTAMP', { kind: 'timestamp', unit: 's', zoned: false }],
  ['TIMESTAMP', { kind: 'timestamp', unit: 'us', zoned: true }],
  ['TIMESTAMP_NS', { kind: 'timestamp', unit: 'ns', zoned: false }],
  ['INTERVAL', { kind: 'interval' }],
  ['JSON', { kind: 'struct', fields: [] }],
  ['JSON', { kind: 'map', key: { kind: 'utf8' }, value: { kind: 'utf8' } }],
  ['JSON', { kind: 'union', members: [] }],
])('the type is %s for %j', (name, type) => {
  expect(typeOf(type)).toBe(name);
});

test('a scalar column has a name and a type, and nothing else', () => {
  expect(execColumn({ name: 'Price "€"', type: { kind: 'utf8' } })).toStrictEqual({
    name: 'Price "€"',
    type: 'VARCHAR',
  });
});

test('an array column tells its depth and the type of its innermost elements', () => {
  const element: DataType = { kind: 'array', size: 2, element: { kind: 'float', bits: 64 } };
  expect(execColumn({ name: 'a', type: { kind: 'list', element } })).toStrictEqual({
    name: 'a',
    type: 'ARRAY',
    dim: 2,
    elemType: 'DOUBLE',
  });
});
