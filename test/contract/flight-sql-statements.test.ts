import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { beforeAll, expect, test } from 'vitest';
import { byCommand, gather } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import {
  any,
  bufferAt,
  FlightSqlClient,
  fieldsOf,
  proto,
  shownSchema,
  ticketOf,
} from '../support/flight-sql-client.ts';
import { ask } from '../support/http-client.ts';

const { server, client } = await useFlightServer(FlightSqlClient);
beforeAll(async () => {
  await client.query(`create table trades as select range::int as id, 'T' || range as name from range(5)`);
});

const endless = 'select count(*) n from range(100000000) a, range(1000) b where (a.range * b.range) % 7 = 3';

test('a query has one endpoint on this server, an unknown length, and rows of the schema that was told', async () => {
  const info = await client.info('CommandStatementQuery', [1, 'select id, name from trades where id > 2']);
  expect(info).toMatchObject({ totalRecords: -1, totalBytes: -1, endpoint: [{ location: [], expirationTime: null }] });
  expect(info.endpoint).toHaveLength(1);
  expect(info.flightDescriptor.cmd.toString()).toContain('CommandStatementQuery');
  const table = await client.fetch(info);
  expect(shownSchema(info.schema)).toEqual(['id Int32', 'name Utf8']);
  expect(table.schema.fields.map(({ name, type, nullable }) => `${name} ${type}${nullable ? '' : '!'}`)).toEqual(
    shownSchema(info.schema),
  );
  expect(table.toArray().map((row) => row.toJSON())).toEqual([
    { id: 3, name: 'T3' },
    { id: 4, name: 'T4' },
  ]);
});

test('a result without rows is its schema alone', async () => {
  const info = await client.info('CommandStatementQuery', [1, 'select id from trades where id < 0']);
  const { messages } = await client.flight.get(ticketOf(info));
  expect(messages).toHaveLength(1);
});

test('GetSchema tells what GetFlightInfo tells', async () => {
  const sql = 'select id, name from trades';
  const info = await client.info('CommandStatementQuery', [1, sql]);
  expect(await client.schema('CommandStatementQuery', [1, sql])).toEqual(info.schema);
});

test('a command may be the ticket, and a ticket may be read twice', async () => {
  const command = any('CommandStatementQuery', [1, 'select 7 as n']);
  expect((await client.flight.getTable(command)).toArray().map((row) => row.toJSON())).toEqual([{ n: 7 }]);
  const info = await client.info('CommandStatementQuery', [1, 'select 7 as n']);
  for (let i = 0; i < 2; i++) expect((await client.fetch(info)).numRows).toBe(1);
});

test('what changes data runs when its FlightInfo is asked for, and not again when it is fetched', async () => {
  await client.query('create table log as select 1 as n');
  const info = await client.info('CommandStatementQuery', [1, 'insert into log values (2), (3)']);
  expect(info.totalRecords).toBe(2);
  expect(shownSchema(info.schema)).toEqual([]);
  expect(await client.query('select count(*)::int as n from log')).toEqual([{ n: 3 }]);
  for (let i = 0; i < 2; i++) expect((await client.flight.get(ticketOf(info))).messages).toHaveLength(1);
  expect(await client.query('select count(*)::int as n from log')).toEqual([{ n: 3 }]);
});

test('GetSchema of a statement that changes data does not run it', async () => {
  expect(shownSchema(await client.schema('CommandStatementQuery', [1, 'drop table trades']))).toEqual([]);
  expect(await client.query('select count(*)::int as n from trades')).toEqual([{ n: 5 }]);
});

test('a statement that changes data is no ticket', async () => {
  const { code } = await client.flight.get(any('CommandStatementQuery', [1, 'drop table trades']));
  expect(code).toBe('sql_forbidden');
});

test('CommandStatementUpdate answers once, with the number of rows', async () => {
  const update = (sql: string) => client.update('CommandStatementUpdate', [[1, sql]]);
  expect(await update('create table u as select range as n from range(4)')).toBe(4);
  expect(await update('insert into u values (9)')).toBe(1);
  expect(await update('drop table u')).toBe(0);
  await expect(client.query('select * from u')).rejects.toMatchObject({ code: expect.any(String) });
});

test('wrong SQL is told with its place', async () => {
  await expect(client.query('select nme from trades')).rejects.toMatchObject({
    code: 'sql_error',
    status: status.INVALID_ARGUMENT,
    message: expect.stringContaining('nme'),
  });
});

test('a statement with parameters needs to be prepared', async () => {
  await expect(client.query('select ?::int')).rejects.toThrow('takes 1 parameter, but none are bound');
});

test('what Flight SQL has and we have not is UNIMPLEMENTED', async () => {
  await expect(client.info('CommandStatementSubstraitPlan')).rejects.toMatchObject({ status: status.UNIMPLEMENTED });
  await expect(client.info('CommandStatementUpdate', [1, 'select 1'])).rejects.toMatchObject({
    status: status.UNIMPLEMENTED,
  });
  expect((await client.flight.action('BeginSavepoint')).status.code).toBe(status.UNIMPLEMENTED);
});

test('the actions of Flight SQL are listed', async () => {
  const { messages } = await client.flight.actions();
  expect(messages.map(({ type }) => type)).toEqual(
    expect.arrayContaining([
      'CreatePreparedStatement',
      'ClosePreparedStatement',
      'BeginTransaction',
      'EndTransaction',
      'CancelQuery',
    ]),
  );
});

test('an action whose body is not packed is told so', async () => {
  expect((await client.flight.action('CreatePreparedStatement', 'select 1')).code).toBe('invalid_input');
});

/** A FlightInfo with nothing but the endpoint. */
const infoBytes = (ticket: Uint8Array): Buffer => proto([3, proto([1, proto([1, ticket])])]);

test.each([
  ['CancelFlightInfo', async (info: Buffer) => fieldsOf((await cancelFlightInfo(info)) ?? Buffer.alloc(0)).get(1)],
  ['CancelQuery', async (info: Buffer) => (await client.action('CancelQuery', [1, info])).get(1)],
])('%s stops the query of that ticket and no other', async (_, cancel) => {
  const info = await client.info('CommandStatementQuery', [1, endless]);
  const other = await client.info('CommandStatementQuery', [1, endless]);
  const running = gather(client.flight.openGet(ticketOf(info)));
  const otherCall = client.flight.openGet(ticketOf(other));
  const otherEnd = gather(otherCall);
  await sleep(300);
  expect(await cancel(infoBytes(ticketOf(info)))).toBe(1n);
  expect((await running).status.code).toBe(status.CANCELLED);
  expect(await Promise.race([otherEnd, sleep(200, 'still running')])).toBe('still running');
  otherCall.cancel();
  await otherEnd;
  expect((await client.flight.get(ticketOf(info))).status.code).toBe(status.CANCELLED);
});

async function cancelFlightInfo(info: Buffer): Promise<Buffer | undefined> {
  const { messages } = await client.flight.action('CancelFlightInfo', proto([1, info]));
  return messages[0]?.body;
}

test('a ticket does not expire: renewing it gives it back', async () => {
  const info = await client.info('CommandStatementQuery', [1, 'select 1']);
  const endpoint = proto([1, proto([1, ticketOf(info)])]);
  const { messages } = await client.flight.action('RenewFlightEndpoint', proto([1, endpoint]));
  const renewed = fieldsOf(messages[0]?.body ?? Buffer.alloc(0));
  expect(bufferAt(fieldsOf(bufferAt(renewed, 1)), 1)).toEqual(ticketOf(info));
});

test('a client that leaves stops its query', async () => {
  const info = await client.info('CommandStatementQuery', [1, endless]);
  for (let i = 0; i < 4; i++) {
    const call = client.flight.openGet(ticketOf(info));
    const end = gather(call);
    await sleep(100);
    call.cancel();
    await end;
  }
  // All workers would be taken by now.
  expect(await client.query('select 1 as n')).toEqual([{ n: 1 }]);
});

test('every statement is final in its transaction: commit does nothing, and a rollback says what it cannot undo', async () => {
  const transaction = await client.begin();
  expect(await client.query('select 1 as n', [2, transaction])).toEqual([{ n: 1 }]);
  await client.update('CommandStatementUpdate', [
    [1, 'create table written as select 1 as n'],
    [2, transaction],
  ]);
  await expect(client.end(transaction, 'rollback')).rejects.toMatchObject({
    code: 'sql_forbidden',
    message: expect.stringContaining('create table written as select 1 as n'),
  });
  await client.end(transaction, 'commit');
  expect(await client.query('select n from written')).toEqual([{ n: 1 }]);

  const another = await client.begin();
  await client.end(another, 'rollback');
  await expect(client.end(another, 'commit')).rejects.toMatchObject({ code: 'not_found', status: status.NOT_FOUND });
  await expect(client.query('select 1', [2, another])).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.action('EndTransaction', [1, transaction], [2, 0])).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
});

test('a write that is made by asking for its FlightInfo counts in its transaction, too', async () => {
  const transaction = await client.begin();
  await client.info('CommandStatementQuery', [1, 'create table w2 as select 1 as n'], [2, transaction]);
  await expect(client.end(transaction, 'rollback')).rejects.toThrow('create table w2');
});

test('statements that replace what they read lose nothing to each other', async () => {
  await client.query('create or replace table counter as select 0 as n');
  const increment = () => client.query('create or replace table counter as select n + 1 as n from counter');
  const all = await Promise.allSettled(Array.from({ length: 4 }, increment));
  const done = all.filter((one) => one.status === 'fulfilled');
  expect(done.length).toBeGreaterThan(0);
  expect(await client.query('from counter')).toEqual([{ n: done.length }]);
  for (const one of all) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'frame_changed' });
});

test('rows that are inserted while a frame is written anew are still there afterwards', async () => {
  await client.query('create or replace table anew as select range as n from range(10)');
  const slow = '(select count(*) from range(20000000) t(x) where x % 7 = 3) > 0';
  const rewriting = client.query(`create or replace table anew as select n from anew where n <> 5 and ${slow}`);
  const listed = async (): Promise<string> => JSON.stringify((await ask(`${server.url}/queries`)).json());
  await expect.poll(listed).toContain('table anew');
  await client.query('insert into anew values (-1)');
  await rewriting;
  expect(await client.query('select count(*)::int as all, count_if(n = -1)::int as mine from anew')).toEqual([
    { all: 10, mine: 1 },
  ]);
});

test('a rollback succeeds where statements changed nothing', async () => {
  await client.query('create or replace table kept as select 1 as id');
  const transaction = await client.begin();
  const update = (sql: string) =>
    client.update('CommandStatementUpdate', [
      [1, sql],
      [2, transaction],
    ]);
  await update('drop table if exists never_was');
  await update('insert into kept select id from kept where false');
  await update('create table if not exists kept as select 2 as id');
  await client.end(transaction, 'rollback');
});

test.each(['drop table kept_by_text', '{"sql":"insert into kept_by_text values (2)"}'])(
  'to ask what the text %s gives changes nothing',
  async (text) => {
    await client.query('create or replace table kept_by_text as select 1 as id');
    const { status: refused } = await client.flight.info(byCommand(Buffer.from(text)));
    expect(refused.details).toContain('a command of plain text only reads');
    expect(await client.query('from kept_by_text')).toEqual([{ id: 1 }]);
  },
);
