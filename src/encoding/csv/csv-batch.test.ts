import { atOnce } from '@framehold/async';
import type { Column } from '@framehold/columns';
import { expect, test } from 'vitest';
import { rowsOf } from '../../../test/support/text-imports.ts';
import { csvBatch } from './csv-batch.ts';

const columns: readonly Column[] = [
  { name: 'id', type: { kind: 'int', bits: 64, signed: true } },
  { name: 'name', type: { kind: 'utf8' } },
];

function read(text: string, options: { delimiter?: string; hasHeader?: boolean; columns?: readonly Column[] } = {}) {
  const { delimiter, hasHeader, columns: like = columns } = options;
  const csv = atOnce(csvBatch(Buffer.from(text), { columns: like, delimiter, hasHeader }));
  return csv && { rows: rowsOf(csv.batch), delimiter: csv.delimiter, hasHeader: csv.hasHeader };
}

const rows = [
  [1n, 'a'],
  [2n, null],
];

test.each([
  ['id,name\n1,a\n2,\n', ','],
  ['id,name\r\n1,a\r\n2,\r\n', ','],
  ['id,name\n1,a\n2,', ','],
  ['"id","name"\n"1","a"\n2,\n', ','],
  ['id;name\n1;a\n2;\n', ';'],
  ['id\tname\n1\ta\n2\t\n', '\t'],
  ['id|name\n1|a\n2|\n', '|'],
])('%j is read', (text, delimiter) => {
  expect(read(text)).toEqual({ rows, delimiter, hasHeader: true });
});

test('rows without a header are read where that is said', () => {
  expect(read('1,a\n2,\n', { hasHeader: false })).toMatchObject({ rows, hasHeader: false });
  expect(read('1,a\n2,\n')).toBeUndefined();
});

test('quotes are taken off, doubled ones are one, and what stands between them is text', () => {
  expect(read('id,name\n1,"a ""b"", c"\n2,""\n3,"""x"\n')?.rows).toEqual([
    [1n, 'a "b", c'],
    [2n, ''],
    [3n, '"x'],
  ]);
});

test('more rows than a column has room for at first are all there', () => {
  const many = Array.from({ length: 1000 }, (_, id) => [BigInt(id), id % 7 === 0 ? null : `text ${id}`]);
  const text = many.map(([id, name]) => `${id},${name ?? ''}\n`).join('');
  expect(read(`id,name\n${text}`)?.rows).toEqual(many);
});

test.each([
  ['', 'nothing'],
  ['id,name\n', 'no rows'],
  ['name,id\na,1\n', 'another order'],
  ['id,Name\n1,a\n', 'another name'],
  ['id,name,more\n1,a,b\n', 'another column'],
  ['id,name\n1\n', 'a short row'],
  ['id,name\n1,a,\n', 'a long row'],
  ['id,name\n\n1,a\n', 'an empty line'],
  ['id,name\n1,a\r\n', 'two kinds of line ends'],
  ['id,name\r1,a\r', 'line ends of old'],
  ['id,name\n1,a"b\n', 'a quote inside a text'],
  ['id,name\n1, "a"\n', 'a space before a quote'],
  ['id,name\n1,"a" \n', 'a space behind a quote'],
  ['id,name\n1,"a\n', 'a quote that is not closed'],
  ['id,name\n1,"a\nb"\n', 'a line end inside of quotes'],
  ['id,name\n"",a\n', 'an empty text for a number'],
  ['id,name\nx,a\n', 'a text for a number'],
  ['\ufeffid,name\n1,a\n', 'a byte order mark'],
  ['id,name\n1,a\0\n', 'a NUL'],
])('%j is left to the import: %s', (text) => {
  expect(read(text)).toBeUndefined();
});

test('names that hold another delimiter leave the delimiter in doubt, unless it is given', () => {
  const odd = [{ name: 'a;b', type: columns[0]?.type as Column['type'] }, columns[1] as Column];
  expect(read('a;b,name\n1,x\n', { columns: odd })).toBeUndefined();
  expect(read('a;b,name\n1,x\n', { columns: odd, delimiter: ',' })?.rows).toEqual([[1n, 'x']]);
});

test('bytes that are not UTF-8, and types that are nested or rare, are left to the import', () => {
  expect(
    atOnce(csvBatch(Buffer.from('id,name\n1,\xff\n', 'latin1'), { columns, delimiter: ',', hasHeader: true })),
  ).toBeUndefined();
  const list: Column = { name: 'name', type: { kind: 'list', element: { kind: 'utf8' } } };
  expect(read('id,name\n1,[]\n', { columns: [columns[0] as Column, list] })).toBeUndefined();
});
