import { status } from '@grpc/grpc-js';
import {
  type DataType,
  Dictionary,
  Int32,
  Table,
  tableFromArrays,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { useFlightServer } from '../support/flight-server.ts';
import { any, FlightSqlClient, shownSchema } from '../support/flight-sql-client.ts';

const { server, client } = await useFlightServer(FlightSqlClient);
beforeAll(async () => {
  await client.query(`create table trades as select range::int as id, 'T' || range as name from range(5)`);
});

const ids = (...values: number[]): Table => tableFromArrays({ 1: Int32Array.from(values) });
const nothing = tableToIPC(new Table(), 'stream');

test('a query tells its columns and parameters, and that it is no update', async () => {
  const prepared = await client.prepare('select id, name from trades where id > ? and name like ?');
  expect(prepared.isUpdate).toBe(0n);
  expect(shownSchema(prepared.datasetSchema)).toEqual(['id Int32', 'name Utf8']);
  expect(shownSchema(prepared.parameterSchema)).toEqual(['1 Int32', '2 Utf8']);
});

test('a parameter of no known type is text', async () => {
  const { parameterSchema } = await client.prepare('select ? as x');
  expect(shownSchema(parameterSchema)).toEqual(['1 Utf8']);
});

test('parameters that have names are called by them, and bound by them in any order or by number', async () => {
  const { handle, parameterSchema } = await client.prepare(
    'select name from trades where id >= $least and name like $like and id < $least + 2',
  );
  expect(shownSchema(parameterSchema)).toEqual(['least Int32', 'like Utf8']);
  await client.bind(handle, tableFromArrays({ like: ['T%'], least: Int32Array.of(1) }));
  expect(await client.execute(handle)).toEqual([{ name: 'T1' }, { name: 'T2' }]);
  await client.bind(handle, tableFromArrays({ 1: Int32Array.of(3), 2: ['%3'] }));
  expect(await client.execute(handle)).toEqual([{ name: 'T3' }]);
  const insert = await client.prepare('insert into trades select $id, $name where false');
  expect(shownSchema(insert.parameterSchema).map((field) => field.split(' ')[0])).toEqual(['id', 'name']);
});

test('an update has no columns, says that it is one, and does not run yet', async () => {
  const prepared = await client.prepare('insert into trades values (?, ?)');
  expect(prepared.isUpdate).toBe(1n);
  expect(prepared.datasetSchema).toHaveLength(0);
  expect(shownSchema(prepared.parameterSchema)).toEqual(['1 Int32', '2 Utf8']);
  expect(await client.query('select count(*)::int as n from trades')).toEqual([{ n: 5 }]);
});

test('a statement runs as often as it is asked to, with what was bound last', async () => {
  const { handle } = await client.prepare('select name from trades where id = ?');
  expect(await client.bind(handle, ids(3))).toEqual(handle);
  for (let i = 0; i < 2; i++) expect(await client.execute(handle)).toEqual([{ name: 'T3' }]);
  await client.bind(handle, ids(4));
  expect(await client.execute(handle)).toEqual([{ name: 'T4' }]);
});

test('several rows of parameters give their results one behind the other', async () => {
  const { handle } = await client.prepare('select name from trades where id = ?');
  await client.bind(handle, ids(4, 0, 2));
  expect(await client.execute(handle)).toEqual([{ name: 'T4' }, { name: 'T0' }, { name: 'T2' }]);
});

test('no rows of parameters give no rows, with the columns that were told', async () => {
  const { handle } = await client.prepare('select name, ?::int as v from trades where id > 1');
  await client.bind(handle, ids());
  const info = await client.info('CommandPreparedStatementQuery', [1, handle]);
  const table = await client.fetch(info);
  expect(table.numRows).toBe(0);
  expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(shownSchema(info.schema));
  expect(shownSchema(info.schema)).toEqual(['name Utf8', 'v Int32']);
});

test.each(['values (?)', 'select ? + 1', 'select range + ? from range(3)'])(
  'an update %s without rows of parameters adds nothing',
  async (rows) => {
    await client.query('create or replace table none as select 0 as id');
    const { handle } = await client.prepare(`insert into none ${rows}`);
    expect(await client.update('CommandPreparedStatementUpdate', [[1, handle]], tableToIPC(ids(), 'stream'))).toBe(0);
    expect(await client.query('select count(*)::int as n from none')).toEqual([{ n: 1 }]);
  },
);

test('two statements of one text do not share their parameters', async () => {
  const sql = 'select name from trades where id = ?';
  const [a, b] = [await client.prepare(sql), await client.prepare(sql)];
  await client.bind(a.handle, ids(1));
  await client.bind(b.handle, ids(2));
  expect(await client.execute(a.handle)).toEqual([{ name: 'T1' }]);
  expect(await client.execute(b.handle)).toEqual([{ name: 'T2' }]);
});

test('a result whose type hangs on the value is told with the right schema', async () => {
  const { handle } = await client.prepare('select ? as x');
  await client.bind(handle, tableFromArrays({ 1: Float64Array.of(1.5) }));
  const info = await client.info('CommandPreparedStatementQuery', [1, handle]);
  expect(shownSchema(info.schema)).toEqual(['x Float64']);
  const table = await client.fetch(info);
  expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(['x Float64']);
});

describe('text for a parameter', () => {
  beforeAll(async () => {
    await client.query(`create table typed as select range as id, range / 2.0 as half, range::decimal(9, 2) as price,
      timestamp '2026-01-01' + range * interval 1 day as ts, timestamptz '2026-01-01' as zoned, true as yes,
      '00000000-0000-4000-8000-00000000000' || range as uid, '{"a":1}'::json as doc, 'T' || range as name,
      [range] as list, 'ab'::blob as bytes from range(5)`);
  });

  async function results(sql: string, values: readonly (string | null)[], type: DataType = new Utf8()) {
    const { handle } = await client.prepare(sql);
    await client.bind(handle, new Table({ 0: vectorFromArray(values, type) }));
    return (await client.execute(handle)).map((row) => row.v);
  }

  async function overHttp(sql: string, param: string): Promise<Record<string, unknown>> {
    const body = JSON.stringify({ sql, params: [param] });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/sql`, { method: 'POST', headers, body });
    return (await answer.json()) as Record<string, unknown>;
  }

  const count = (condition: string): string => `select count(*)::int as v from typed where ${condition}`;
  const long = ' '.repeat(2000);

  test.each([
    ['ts >= ?', '2026-01-03', 3],
    ['ts >= ?', `${long}2026-01-03`, 3],
    ['ts between ? and ts', '2026-01-03', 3],
    ['id >= ?', '2', 3],
    ['id >= ?', `${long}2`, 3],
    ['half >= ?', '1.5', 2],
    ['price >= ?', '1.5', 3],
    ['zoned = ?', '2026-01-01T02:00:00+02', 5],
    ['yes = ?', 'true', 5],
    ['uid::uuid = ?', '00000000-0000-4000-8000-000000000003', 1],
    ['doc = ?', '{"a":1}', 5],
    ['list = ?', '[3]', 1],
    ['bytes = ?', '\\x61b', 5],
    ["case when id = 1 then 'b' else 'a' end::enum('a', 'b') = ?", 'b', 1],
    ['name = ?', 'T2', 1],
    ['name = ?', long, 0],
    ['name like ?', 'T%', 5],
    ['coalesce(?, ts) < ts', '2026-01-03', 2],
  ])('where %s is what the statement takes, over HTTP as well', async (condition, text, found) => {
    expect(await results(count(condition), [text])).toEqual([found]);
    expect((await overHttp(count(condition), text)).dataset).toEqual([[found]]);
  });

  test('may be a category', async () => {
    const type = new Dictionary(new Utf8(), new Int32());
    expect(await results(count('ts >= ?'), ['2026-01-03', null, '2026-01-05'], type)).toEqual([3, 0, 1]);
    expect(await results('select ? as v', ['2026-01-03', null], type)).toEqual(['2026-01-03', null]);
  });

  test('is text where the statement takes anything', async () => {
    const texts = ['2026-01-03', null, '7', '', "it's", long, 'a\0b'];
    expect(await results('select ? as v', texts)).toEqual(texts);
    expect(await results('select typeof(?) as v', ['7', null, long])).toEqual(['VARCHAR', 'VARCHAR', 'VARCHAR']);
  });

  test('is null where it is null', async () => {
    expect(await results(count('ts >= ?'), ['2026-01-03', null, '2026-01-05'])).toEqual([3, 0, 1]);
    expect(await results('select ?::int as v', [null, '1'])).toEqual([null, 1]);
  });

  test('goes into rows of other types', async () => {
    await client.query("create table days as select date '2026-01-01' as day");
    for (const rows of ['values (?)', 'select ?', 'select ?::date + 1']) {
      const { handle } = await client.prepare(`insert into days ${rows}`);
      const ipc = tableToIPC(new Table({ 0: vectorFromArray(['2026-01-02', null], new Utf8()) }), 'stream');
      expect(await client.update('CommandPreparedStatementUpdate', [[1, handle]], ipc)).toBe(2);
    }
    const sql = "select day::varchar as v from days where day > date '2026-01-01' order by day";
    expect((await client.query(sql)).map((row) => row.v)).toEqual(['2026-01-02', '2026-01-02', '2026-01-03']);
  });

  test.each([
    ['ts >= ?', 'soon', 'parameter $1 is not of type TIMESTAMP: invalid timestamp field format: "soon"'],
    ['id >= ?', 'x', "parameter $1 is not of type BIGINT: Could not convert string 'x' to INT64"],
    ['id >= ?', 'é'.repeat(100_000), "parameter $1 is not of type BIGINT: Could not convert string 'é"],
    ['doc = ?', '{', 'parameter $1 is not of type JSON: Malformed JSON'],
  ])('where %s that is none of its type is the fault of its sender', async (condition, text, message) => {
    const refused = results(count(condition), [text]);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_parameter', status: status.INVALID_ARGUMENT });
    await expect(refused).rejects.toThrow(message);
    const { code, error } = await overHttp(count(condition), text);
    expect(code).toBe('invalid_parameter');
    expect(error).toContain(message);
    expect(String(error).length).toBeLessThan(400);
  });
});

test('a ticket keeps to the parameters that it was given for', async () => {
  const { handle } = await client.prepare('select name from trades where id = ?');
  await client.bind(handle, ids(1));
  const info = await client.info('CommandPreparedStatementQuery', [1, handle]);
  await client.bind(handle, ids(2));
  await expect(client.fetch(info)).rejects.toThrow('other parameters have been bound');
});

test('a ticket without parameters outlives its statement', async () => {
  const { handle } = await client.prepare('select 1 as n');
  const info = await client.info('CommandPreparedStatementQuery', [1, handle]);
  await client.action('ClosePreparedStatement', [1, handle]);
  expect((await client.fetch(info)).numRows).toBe(1);
});

test('a handle may be the ticket', async () => {
  const { handle } = await client.prepare('select name from trades where id = ?');
  await client.bind(handle, ids(3));
  expect((await client.flight.getTable(any('CommandPreparedStatementQuery', [1, handle]))).numRows).toBe(1);
});

test('an update runs once for each row of its parameters', async () => {
  await client.query('create table many as select 0 as id');
  const { handle } = await client.prepare('insert into many values (?)');
  const update = (ipc?: Uint8Array) => client.update('CommandPreparedStatementUpdate', [[1, handle]], ipc);
  expect(await update(tableToIPC(ids(1, 2, 3), 'stream'))).toBe(3);
  expect(await update(tableToIPC(ids(4), 'stream'))).toBe(1);
  expect(await client.query('select sum(id)::int as n from many')).toEqual([{ n: 10 }]);
});

test('an update uses what was bound before when its upload has no columns', async () => {
  await client.query('create table before as select 0 as id');
  const { handle } = await client.prepare('insert into before values (?)');
  await expect(client.update('CommandPreparedStatementUpdate', [[1, handle]], nothing)).rejects.toThrow(
    'none are bound',
  );
  await client.bind(handle, ids(7));
  expect(await client.update('CommandPreparedStatementUpdate', [[1, handle]], nothing)).toBe(1);
  expect(await client.query('select max(id)::int as n from before')).toEqual([{ n: 7 }]);
});

test.each([
  ['a schema without fields', nothing],
  ['a descriptor alone', undefined],
])('an update without parameters takes %s', async (_, ipc) => {
  const { handle } = await client.prepare('create or replace table plain as select 1 as id');
  expect(await client.update('CommandPreparedStatementUpdate', [[1, handle]], ipc)).toBe(1);
});

test('an update that is executed as a query runs at its FlightInfo, each time that one is asked for', async () => {
  await client.query('create table asked as select 0 as id');
  const { handle } = await client.prepare('insert into asked values (?)');
  await client.bind(handle, ids(1, 2));
  const info = await client.info('CommandPreparedStatementQuery', [1, handle]);
  expect(info.totalRecords).toBe(2);
  expect((await client.fetch(info)).numRows).toBe(0);
  await client.info('CommandPreparedStatementQuery', [1, handle]);
  expect(await client.query('select count(*)::int as n from asked')).toEqual([{ n: 5 }]);
});

test('a statement goes on after its transaction has ended', async () => {
  const transaction = await client.begin();
  const { handle } = await client.prepare('create or replace table later as select 1 as id', [2, transaction]);
  await client.update('CommandPreparedStatementUpdate', [[1, handle]]);
  await expect(client.end(transaction, 'rollback')).rejects.toMatchObject({ code: 'sql_forbidden' });
  await client.end(transaction, 'commit');
  expect(await client.update('CommandPreparedStatementUpdate', [[1, handle]])).toBe(1);
});

test('what is closed, or never was, is not known', async () => {
  const { handle } = await client.prepare('select 1');
  await client.action('ClosePreparedStatement', [1, handle]);
  await client.action('ClosePreparedStatement', [1, handle]);
  for (const unknown of [handle, Buffer.from('made up')]) {
    const error = { code: 'not_found', status: status.NOT_FOUND };
    await expect(client.execute(unknown)).rejects.toMatchObject(error);
    await expect(client.bind(unknown, ids(1))).rejects.toMatchObject(error);
    await expect(client.update('CommandPreparedStatementUpdate', [[1, unknown]])).rejects.toMatchObject(error);
  }
});

test('a query whose parameters are not bound is refused before it runs', async () => {
  const { handle } = await client.prepare('select ?::int + ?::int');
  await expect(client.execute(handle)).rejects.toThrow('takes 2 parameters, but none are bound');
});

test('too many parameters are refused', async () => {
  const { handle } = await client.prepare('select ?::bigint');
  const huge = tableFromArrays({ 1: new Float64Array(2_200_000) });
  await expect(client.bind(handle, huge)).rejects.toMatchObject({
    code: 'too_large',
    status: status.RESOURCE_EXHAUSTED,
  });
});

test('wrong SQL, and an unknown transaction, are told when the statement is prepared', async () => {
  await expect(client.prepare('selec 1')).rejects.toMatchObject({ code: 'sql_error' });
  await expect(client.prepare('select 1', [2, Buffer.from('no transaction')])).rejects.toMatchObject({
    code: 'not_found',
  });
});
