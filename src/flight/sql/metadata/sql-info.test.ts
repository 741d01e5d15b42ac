import { arrowTable, schemaMessage } from '@framehold/arrow-ipc';
import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { sqlInfoFields } from './metadata-schemas.ts';
import { sqlInfos } from './sql-info.ts';

const infos = sqlInfos({ version: '1.2.3', statementIdleMs: 1000, maxConnections: 7 });
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

test('every value of the protocol is told, once and in order', () => {
  expect(infos.map(({ id }) => id)).toEqual([...range(0, 11), 100, 101, ...range(500, 576)]);
});

/** By the comments of FlightSql.proto, but for 562, which JDBC and ODBC want as an int64. */
const types: Readonly<Record<string, readonly number[]>> = {
  string: [0, 1, 2, 6, 7, 504, 513, 514, 529, 530, 531],
  int32: [8, 100, 101, 503, 505, 507, 522, 525, 526, 528, 533, 534, 535, 538, 540, 564, 567, 568, 569, 570, 571],
  strings: [508, 509, 510, 511, 512],
  conversions: [517],
  int64: [...range(541, 555), ...range(557, 562)],
};

test('each value has the type of the protocol', () => {
  const members = ['string', 'bool', 'int64', 'int32', 'strings', 'conversions'];
  for (const { id, member, value } of infos) {
    const expected = Object.keys(types).find((type) => types[type]?.includes(id)) ?? 'bool';
    expect([id, members[member]]).toEqual([id, expected]);
    const isOf = {
      string: typeof value === 'string',
      bool: typeof value === 'boolean',
      int64: typeof value === 'bigint',
      int32: Number.isInteger(value),
      strings: Array.isArray(value) && value.length > 0,
      conversions: value instanceof Map,
    };
    expect([id, isOf[expected as keyof typeof isOf]]).toEqual([id, true]);
  }
});

test('the values survive their encoding', () => {
  const rows = infos.map(({ id, member, value }) => [id, { member, value }]);
  const table = tableFromIPC([schemaMessage(sqlInfoFields), arrowTable(sqlInfoFields, rows)]);
  const byId = new Map(table.toArray().map((row) => [row.info_name, row.value]));
  expect(byId.get(0)).toBe('Framehold');
  expect(byId.get(1)).toBe('1.2.3');
  expect(byId.get(3)).toBe(false);
  expect(byId.get(8)).toBe(1);
  expect(byId.get(100)).toBe(1000);
  expect(byId.get(549)).toBe(7n);
  expect(byId.get(563)).toBe(false);
  expect([...byId.get(511)]).toContain('COALESCE');
});
