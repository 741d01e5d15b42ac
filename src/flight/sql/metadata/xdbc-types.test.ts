import { type DataType, sqlTypeName } from '@framehold/columns';
import { expect, test } from 'vitest';
import { xdbcTypeFields } from './metadata-schemas.ts';
import { xdbcTypeRows } from './xdbc-types.ts';

test('the types come by number, then by name, each with a value for every column', () => {
  const rows = xdbcTypeRows(0);
  const order = rows.map(([name, number]) => [Number(number), name] as const);
  expect(order).toEqual([...order].sort(([a, x], [b, y]) => a - b || (String(x) < String(y) ? -1 : 1)));
  for (const row of rows) {
    expect(row).toHaveLength(xdbcTypeFields.length);
    for (const [at, field] of xdbcTypeFields.entries()) {
      if (!field.nullable) expect([row[0], field.name, row[at]]).not.toEqual([row[0], field.name, null]);
    }
  }
});

test('a number asks for the types of that number', () => {
  expect(xdbcTypeRows(12).map(([name]) => name)).toEqual(['JSON', 'UUID', 'VARCHAR']);
  expect(xdbcTypeRows(-5).map(([name]) => name)).toEqual(['BIGINT', 'UINTEGER']);
  expect(xdbcTypeRows(77)).toEqual([]);
});

test('dates and times go by DATETIME and a subcode', () => {
  const [row] = xdbcTypeRows(91);
  expect([row?.[15], row?.[16]]).toEqual([9, 1]);
});

test('every plain type of ours is listed under the name that columns carry', () => {
  const listed = new Set(xdbcTypeRows(0).map(([name]) => name));
  const plain: DataType[] = [
    { kind: 'boolean' },
    ...([8, 16, 32, 64] as const).flatMap((bits) =>
      [true, false].map((signed) => ({ kind: 'int', bits, signed }) as const),
    ),
    { kind: 'int', bits: 128, signed: true },
    { kind: 'float', bits: 32 },
    { kind: 'float', bits: 64 },
    { kind: 'utf8' },
    { kind: 'json' },
    { kind: 'uuid' },
    { kind: 'binary' },
    { kind: 'date' },
    { kind: 'time', unit: 'us' },
    { kind: 'time', unit: 'ns' },
    ...(['s', 'ms', 'us', 'ns'] as const).map((unit) => ({ kind: 'timestamp', unit, zoned: false }) as const),
    { kind: 'timestamp', unit: 'us', zoned: true },
    { kind: 'interval' },
  ];
  expect(plain.map(sqlTypeName).filter((name) => !listed.has(name))).toEqual([]);
});
