import { joinBytes } from '@framehold/columns';
import { RecordBatchReader, type Table, tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { type ArrowField, arrowField } from '../types/arrow-field.ts';
import { binaryType, listType, utf8Type } from '../types/arrow-type.ts';
import { splitMessage } from './ipc-message.ts';
import { schemaMessage } from './schema-message.ts';
import { arrowTable } from './small-table.ts';

const text = (name: string, nullable = true): ArrowField => arrowField(name, utf8Type, { nullable });
const int32 = (name: string): ArrowField => arrowField(name, { kind: 'int', bits: 32, signed: true });

function tableOf(fields: readonly ArrowField[], rows: readonly (readonly unknown[])[]): Table {
  return tableFromIPC(joinBytes([schemaMessage(fields), arrowTable(fields, rows)]));
}

/** The only column as JSON. */
function column(field: ArrowField, values: readonly unknown[]): unknown {
  const table = tableOf(
    [field],
    values.map((value) => [value]),
  );
  const json = JSON.stringify(table.toArray(), (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
  return (JSON.parse(json) as Record<string, unknown>[]).map((row) => row[field.name]);
}

test('flat values come back', () => {
  expect(column(text('t'), ['a', null, 'ä'])).toEqual(['a', null, 'ä']);
  expect(column(arrowField('b', { kind: 'bool' }), [true, null, false])).toEqual([true, null, false]);
  expect(column(int32('i'), [-1, null, 2 ** 31 - 1])).toEqual([-1, null, 2 ** 31 - 1]);
  expect(column(arrowField('u', { kind: 'int', bits: 8, signed: false }), [255, 0n])).toEqual([255, 0]);
  expect(column(arrowField('l', { kind: 'int', bits: 64, signed: true }), [-5, 2n ** 62n])).toEqual([
    '-5n',
    `${2n ** 62n}n`,
  ]);
  expect(column(arrowField('f', { kind: 'float', bits: 64 }), [0.1, null])).toEqual([0.1, null]);
  const bytes = tableOf([arrowField('x', binaryType)], [[Uint8Array.of(1, 2)], [null]]).getChild('x');
  expect(bytes?.get(0)).toEqual(Uint8Array.of(1, 2));
  expect(bytes?.get(1)).toBeNull();
});

test('nested values come back', () => {
  const list = arrowField('l', listType, { children: [text('item')] });
  expect(column(list, [['a', null], null, []])).toEqual([['a', null], null, []]);
  const struct = arrowField('s', { kind: 'struct' }, { children: [text('a'), int32('b')] });
  expect(column(struct, [{ a: 'x', b: 1 }, null, { b: 2 }])).toEqual([{ a: 'x', b: 1 }, null, { a: null, b: 2 }]);
  const entries = arrowField('entries', { kind: 'struct' }, { nullable: false, children: [text('key', false), list] });
  const named = { ...entries, children: [text('key', false), { ...list, name: 'value' }] };
  const map = arrowField('m', { kind: 'map' }, { children: [named] });
  expect(column(map, [new Map([['k', ['v']]]), null, [['a', null]]])).toEqual([{ k: ['v'] }, null, { a: null }]);
});

test.each(['dense', 'sparse'] as const)('a %s union holds each value in its member', (mode) => {
  const children = [text('string_value'), arrowField('bool_value', { kind: 'bool' }), int32('int_value')];
  const union = arrowField('value', { kind: 'union', dense: mode === 'dense', typeIds: [0, 1, 5] }, { children });
  const values = [
    { member: 2, value: 7 },
    { member: 0, value: 'x' },
    { member: 1, value: true },
    { member: 2, value: 8 },
  ];
  expect(column(union, values)).toEqual([7, 'x', true, 8]);
});

test('no rows are an empty batch', () => {
  expect(tableOf([text('a'), int32('b')], []).numRows).toBe(0);
});

test('a null is refused where none is allowed', () => {
  expect(() => arrowTable([text('a', false)], [[null]])).toThrow('null in the column "a"');
});

test('a message falls into header and body', () => {
  const fields = [text('a')];
  const message = arrowTable(fields, [['x']]);
  const { header, body } = splitMessage(message);
  expect(header.length + body.length + 8).toBe(message.length);
  expect(body[64]).toBe('x'.charCodeAt(0));
  expect([...RecordBatchReader.from(joinBytes([schemaMessage(fields), message]))]).toHaveLength(1);
  expect(splitMessage(schemaMessage(fields)).body.length).toBe(0);
});
