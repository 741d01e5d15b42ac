import { expect, test } from 'vitest';
import { importParameters, schemaOf } from './import-options.ts';

const options = { format: undefined, delimiter: undefined, header: undefined, skipsBadRows: false };

test('only types that were chosen stand in the schema, with a pattern where they can have one', () => {
  expect(schemaOf(new Map())).toBeUndefined();
  const types = new Map([
    ['a "quoted" name', { type: 'DATE', pattern: 'dd/MM/yyyy' }],
    ['id', { type: 'VARCHAR', pattern: 'left over' }],
  ]);
  expect(JSON.parse(schemaOf(types) ?? '')).toEqual([
    { name: 'a "quoted" name', type: 'DATE', pattern: 'dd/MM/yyyy' },
    { name: 'id', type: 'VARCHAR' },
  ]);
});

test('what is to be found out is not sent', () => {
  expect(JSON.stringify(importParameters('x', 'create', options))).toBe('{"name":"x","fmt":"json"}');
});

test('options of CSV are not sent with other formats, which would refuse them', () => {
  const given = { ...options, delimiter: ';', header: false, skipsBadRows: true };
  expect(importParameters('x', 'append', { ...given, format: 'json' })).toEqual({
    name: 'x',
    overwrite: undefined,
    append: true,
    format: 'json',
    delimiter: undefined,
    header: undefined,
    atomicity: 'skipRow',
    fmt: 'json',
  });
  expect(importParameters('x', 'overwrite', { ...given, format: 'csv' })).toMatchObject({
    overwrite: true,
    delimiter: ';',
    header: false,
  });
});
