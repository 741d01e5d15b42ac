import { atOnce } from '@framehold/async';
import type { Column } from '@framehold/columns';
import { expect, test } from 'vitest';
import { rowsOf } from '../../../test/support/text-imports.ts';
import { jsonBatch } from './json-batch.ts';

const columns: readonly Column[] = [
  { name: 'id', type: { kind: 'int', bits: 64, signed: true } },
  { name: 'name', type: { kind: 'utf8' } },
  { name: 'more', type: { kind: 'json' } },
];

function read(text: string) {
  const batch = atOnce(jsonBatch(Buffer.from(text), columns));
  return batch && rowsOf(batch);
}

const rows = [
  [1n, 'a', '{"x": [1]}'],
  [2n, null, '"t"'],
];
const [first, second] = ['{"id":1,"name":"a","more":{"x": [1]}}', '{"more":"t","id":"2","name":null}'];

test.each([
  `[${first},${second}]`,
  ` [ ${first} ,\n${second} ]\n`,
  `${first}\n${second}\n`,
  `${first}${second}`,
  `${first}\r\n{ "more" : "t" , "id" : 2 }`,
])('%j is read', (text) => {
  expect(read(text)).toEqual(rows);
});

test('escapes of one letter are read in texts, and kept in JSON', () => {
  expect(read(String.raw`{"id":1,"name":"a\"\\\/\n\t","more":"a\"b"}`)).toEqual([
    [1n, 'a"\\/\n\t', String.raw`"a\"b"`],
  ]);
});

test.each([
  ['', 'nothing'],
  ['[]', 'no rows'],
  ['{"id":1,"name":"a"}', 'a column that no row has'],
  ['{"id":1,"name":"a","more":1,"other":2}', 'another column'],
  ['{"id":1,"id":2,"name":"a","more":1}', 'a key twice'],
  ['{"id":1,"name":"a","more":1},', 'a comma too many'],
  ['[{"id":1,"name":"a","more":1}', 'an array that is not closed'],
  ['[{"id":1,"name":"a","more":1},]', 'a comma before the end'],
  ['{"id":1,"name":"a","more":1,}', 'a comma before the end of an object'],
  ['{"id":1.5,"name":"a","more":1}', 'a number that is not whole'],
  ['{"id":1,"name":{"a":1},"more":1}', 'an object for a text'],
  ['{"id":1,"name":"\\u0041","more":1}', 'an escape of a code unit'],
  ['{"id":1,"name":"a","more":1e999}', 'a number without end'],
  ['{"id":01,"name":"a","more":1}', 'a number that is none'],
  ['{"id":1,"name":"a","more":[1,\n2]}', 'lines inside a value'],
  ['{"i\\u0064":1,"name":"a","more":1}', 'an escape in a key'],
  ['1', 'a number alone'],
])('%j is left to the import: %s', (text) => {
  expect(read(text)).toBeUndefined();
});

test('rows of a wide frame that leave out most columns are left to the import: each column takes memory for each row', () => {
  const wide: Column[] = Array.from({ length: 100 }, (_, n) => ({ name: `c${n}`, type: { kind: 'utf8' } }));
  const whole = JSON.stringify(Object.fromEntries(wide.map(({ name }) => [name, 'x'])));
  const reversed = JSON.stringify(Object.fromEntries(wide.toReversed().map(({ name }) => [name, 'x'])));
  const sparse = '{"c1":""}\n'.repeat(1000);
  const rows = (text: string): number | undefined => atOnce(jsonBatch(Buffer.from(text), wide))?.rows;
  expect(rows(`${whole}\n${reversed}\n{"c1":""}`)).toBe(3);
  expect(rows(`${whole}\n${sparse}`)).toBeUndefined();
});
