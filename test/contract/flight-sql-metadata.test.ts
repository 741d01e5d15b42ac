import { tableFromIPC } from 'apache-arrow';
import { beforeAll, expect, test } from 'vitest';
import { useFlightServer } from '../support/flight-server.ts';
import { type FieldValue, FlightSqlClient, rowsOf, shownSchema } from '../support/flight-sql-client.ts';

const { client } = await useFlightServer(FlightSqlClient);
beforeAll(async () => {
  await client.query(`create table trades as select 1 as id, 1.5::decimal(10, 2) as price`);
  await client.query(`create table quotes_1 as select 1 as id`);
});

test.each<[string, readonly FieldValue[]]>([
  ['CommandGetCatalogs', []],
  ['CommandGetDbSchemas', []],
  ['CommandGetTables', []],
  ['CommandGetTables', [[5, true]]],
  ['CommandGetTableTypes', []],
  ['CommandGetSqlInfo', []],
  ['CommandGetXdbcTypeInfo', []],
  ['CommandGetPrimaryKeys', [[3, 'trades']]],
  ['CommandGetExportedKeys', [[3, 'trades']]],
  ['CommandGetImportedKeys', [[3, 'trades']]],
  [
    'CommandGetCrossReference',
    [
      [3, 'trades'],
      [6, 'quotes_1'],
    ],
  ],
])('%s %j has one schema in GetSchema, GetFlightInfo and DoGet', async (name, fields) => {
  const info = await client.info(name, ...fields);
  expect(await client.schema(name, ...fields)).toEqual(info.schema);
  const table = await client.fetch(info);
  expect(table.schema.fields.map(({ name, type, nullable }) => `${name} ${type}${nullable ? '' : '!'}`)).toEqual(
    shownSchema(info.schema),
  );
  if (name.includes('Key') || name.includes('Reference')) expect(table.numRows).toBe(0);
  else expect(table.numRows).toBeGreaterThan(0);
});

test('frames are tables of framehold.frames, and a database of the operator without tables is not shown', async () => {
  expect(await client.ask('CommandGetCatalogs')).toEqual([{ catalog_name: 'framehold' }]);
  expect(await client.ask('CommandGetDbSchemas')).toEqual([{ catalog_name: 'framehold', db_schema_name: 'frames' }]);
  expect(await client.ask('CommandGetTables')).toEqual([
    { catalog_name: 'framehold', db_schema_name: 'frames', table_name: 'quotes_1', table_type: 'TABLE' },
    { catalog_name: 'framehold', db_schema_name: 'frames', table_name: 'trades', table_type: 'TABLE' },
  ]);
  expect(await client.ask('CommandGetTableTypes')).toEqual([{ table_type: 'TABLE' }, { table_type: 'VIEW' }]);
});

test.each<[readonly FieldValue[], readonly string[]]>([
  [[[3, 'tr%']], ['trades']],
  [[[3, 'quotes\\_1']], ['quotes_1']],
  [
    [
      [2, 'fr%'],
      [4, 'BASE TABLE'],
      [4, 'table'],
    ],
    ['quotes_1', 'trades'],
  ],
  [[[4, 'VIEW']], []],
  [[[1, 'analytics']], []],
  [[[1, '']], []],
])('GetTables %j gives %j', async (fields, names) => {
  expect((await client.ask('CommandGetTables', ...fields)).map(({ table_name }) => table_name)).toEqual(names);
});

test('the schema of a table is what a query of it gives', async () => {
  const [row] = await client.ask('CommandGetTables', [3, 'trades'], [5, true]);
  const schema = row?.table_schema as Uint8Array;
  const info = await client.info('CommandStatementQuery', [1, 'select * from framehold.frames.trades']);
  expect(shownSchema(schema)).toEqual(shownSchema(info.schema));
  const price = tableFromIPC(schema).schema.fields[1]?.metadata;
  expect(price?.get('ARROW:FLIGHT:SQL:TYPE_NAME')).toBe('DECIMAL');
  expect(price?.get('ARROW:FLIGHT:SQL:TABLE_NAME')).toBe('trades');
});

test('SqlInfo gives what is asked for, leaves out what nobody knows, and all when nothing is asked for', async () => {
  const table = await client.fetch(await client.info('CommandGetSqlInfo', [1, 8], [1, 0], [1, 4242]));
  expect(rowsOf(table)).toEqual([
    { info_name: 0, value: 'Framehold' },
    { info_name: 8, value: 1 },
  ]);
  expect(await client.ask('CommandGetSqlInfo')).toHaveLength(91);
});

test('GetXdbcTypeInfo gives the types of a number', async () => {
  const types = await client.ask('CommandGetXdbcTypeInfo', [1, 8]);
  expect(types).toMatchObject([{ type_name: 'DOUBLE', data_type: 8, num_prec_radix: 2 }]);
});
