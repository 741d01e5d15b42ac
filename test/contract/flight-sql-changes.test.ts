import { Int32, Table, tableFromArrays, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { expect, test } from 'vitest';
import { useFlightServer } from '../support/flight-server.ts';
import { FlightSqlClient, shownSchema } from '../support/flight-sql-client.ts';

const { client } = await useFlightServer(FlightSqlClient);

const made = (name: string): Promise<unknown> =>
  client.query(`create table ${name} as select range::int as id, 'T' || range as name from range(5)`);
const pairs = (ids: number[], names: string[]): Uint8Array =>
  tableToIPC(new Table({ 1: vectorFromArray(names, new Utf8()), 2: vectorFromArray(ids, new Int32()) }), 'stream');

test('an update tells how many rows it changed', async () => {
  await made('counted');
  const update = (sql: string): Promise<number> => client.update('CommandStatementUpdate', [[1, sql]]);
  expect(await update("update counted set name = 'x' where id > 2")).toBe(2);
  expect(await update("update counted set name = 'x' where id > 20")).toBe(0);
  expect(await update('delete from counted where id = 1 returning *')).toBe(1);
  expect(await update('truncate counted')).toBe(4);
  expect(await client.query('select * from counted')).toEqual([]);
});

test('RETURNING runs once, at the FlightInfo, and its rows are fetched by the ticket', async () => {
  await made('rt');
  const sql = 'update rt set id = id + 10 where id > 2 returning id, upper(name) as name';
  expect(shownSchema(await client.schema('CommandStatementQuery', [1, sql]))).toEqual(['id Int32', 'name Utf8']);
  const info = await client.info('CommandStatementQuery', [1, sql]);
  expect(info.totalRecords).toBe(2);
  expect(shownSchema(info.schema)).toEqual(['id Int32', 'name Utf8']);
  for (let i = 0; i < 2; i++) {
    expect((await client.fetch(info)).toArray().map((row) => row.toJSON())).toEqual([
      { id: 13, name: 'T3' },
      { id: 14, name: 'T4' },
    ]);
  }
  expect(await client.query('select sum(id)::int as n from rt')).toEqual([{ n: 30 }]);
});

test('a prepared statement with RETURNING gives the schema of its rows', async () => {
  await made('prepared');
  const { handle, datasetSchema, parameterSchema } = await client.prepare(
    'insert into prepared values (?, ?) returning name, id',
  );
  expect(shownSchema(datasetSchema)).toEqual(['name Utf8', 'id Int32']);
  expect(shownSchema(parameterSchema)).toHaveLength(2);
  await client.bind(handle, tableFromArrays({ 1: Int32Array.of(7), 2: ['seven'] }));
  const info = await client.info('CommandPreparedStatementQuery', [1, handle]);
  expect((await client.fetch(info)).toArray().map((row) => row.toJSON())).toEqual([{ name: 'seven', id: 7 }]);
});

test('all rows of parameters are applied in one version', async () => {
  await made('executed');
  const { handle } = await client.prepare('update executed set name = ? where id = ?');
  const update = (ids: number[], names: string[]): Promise<number> =>
    client.update('CommandPreparedStatementUpdate', [[1, handle]], pairs(ids, names));
  expect(await update([0, 4, 9], ['zero', 'four', 'nine'])).toBe(2);
  await expect(update([1, 1], ['a', 'b'])).rejects.toThrow('would be changed more than once');
  expect(await client.query('select name from executed')).toEqual(
    ['zero', 'T1', 'T2', 'T3', 'four'].map((name) => ({ name })),
  );
});
