import { type DataType, sqlTypeName } from '@framehold/columns';
import { RecordBatchReader } from 'apache-arrow';
import { expect, test } from 'vitest';
import { typeCases } from '../../../../test/support/type-cases.ts';
import { schemaMessage } from '../write/schema-message.ts';
import { arrowFields } from './arrow-columns.ts';
import { arrowField } from './arrow-field.ts';
import { utf8Type } from './arrow-type.ts';

const schemaOf = (message: Uint8Array) => RecordBatchReader.from(message).open().schema;

test('a schema names every type as Arrow and as SQL', () => {
  const columns = typeCases.map(({ type }, i) => ({ name: `c${i}`, type }));
  const schema = schemaOf(schemaMessage(arrowFields(columns)));
  expect(schema.fields.map((field) => String(field.type))).toEqual(typeCases.map(({ arrowName }) => arrowName));
  expect(schema.fields.map((field) => field.metadata.get('ARROW:FLIGHT:SQL:TYPE_NAME'))).toEqual(
    typeCases.map(({ sqlName }) => sqlName),
  );
  expect(schema.fields.map((field) => field.name)).toEqual(columns.map((column) => column.name));
  expect(schema.fields.every((field) => field.nullable)).toBe(true);
});

test('a schema tells the digits of decimals and whole numbers, and of nothing else', () => {
  const digits = (type: DataType): (string | undefined)[] => {
    const metadata = schemaOf(schemaMessage(arrowFields([{ name: 'c', type }]))).fields[0]?.metadata;
    return ['PRECISION', 'SCALE'].map((name) => metadata?.get(`ARROW:FLIGHT:SQL:${name}`));
  };
  expect(digits({ kind: 'decimal', precision: 10, scale: 2 })).toEqual(['10', '2']);
  expect(digits({ kind: 'int', bits: 8, signed: true })).toEqual(['3', '0']);
  expect(digits({ kind: 'int', bits: 64, signed: true })).toEqual(['19', '0']);
  expect(digits({ kind: 'int', bits: 64, signed: false })).toEqual(['20', '0']);
  expect(digits({ kind: 'int', bits: 128, signed: true })).toEqual(['38', '0']);
  expect(digits({ kind: 'utf8' })).toEqual([undefined, undefined]);
});

test('JSON is told from text by its extension name, wherever it stands', () => {
  const [field] = schemaOf(
    schemaMessage(arrowFields([{ name: 'l', type: { kind: 'list', element: { kind: 'json' } } }])),
  ).fields;
  expect(field?.type.children[0]?.metadata.get('ARROW:extension:name')).toBe('arrow.json');
  expect(field?.type.children[0]?.metadata.get('ARROW:extension:metadata')).toBe('');
});

test('entries and keys of a map are not nullable', () => {
  const map = { kind: 'map', key: { kind: 'utf8' }, value: { kind: 'utf8' } } as const;
  const entries = arrowFields([{ name: 'm', type: map }])[0]?.children[0];
  expect(entries).toMatchObject({ name: 'entries', nullable: false });
  expect(entries?.children).toMatchObject([
    { name: 'key', nullable: false },
    { name: 'value', nullable: true },
  ]);
});

test('a schema carries metadata and fields that are not nullable', () => {
  const schema = schemaOf(schemaMessage([arrowField('ä', utf8Type, { nullable: false })], { key: 'wert' }));
  expect(schema.metadata.get('key')).toBe('wert');
  expect(schema.fields[0]).toMatchObject({ name: 'ä', nullable: false });
});

test('a schema of no fields is a schema', () => {
  expect(schemaOf(schemaMessage([])).fields).toEqual([]);
});

test.each(typeCases)('$sqlName is the name of its type', ({ type, sqlName }) => {
  expect(sqlTypeName(type)).toBe(sqlName);
});
