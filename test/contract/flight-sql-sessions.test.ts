import {
  GetSessionOptionsResult,
  SessionOptionValue,
  SetSessionOptionsRequest,
  SetSessionOptionsResult,
} from '@framehold/grpc/flight';
import { Int32, Table, tableFromIPC, vectorFromArray } from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseHandle } from '../../src/core/names/handle.ts';
import { byCommand, ipcOf } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { any, bufferAt, FlightSqlClient, fieldsOf, proto } from '../support/flight-sql-client.ts';
import { putSql } from '../support/frames.ts';
import { principalOf } from '../support/principals.ts';

const { server, client } = await useFlightServer(FlightSqlClient, { settings: { 'sql.workers': '1' } });
beforeAll(async () => {
  await putSql(server.frames, 'moments', "SELECT TIMESTAMPTZ '2026-01-31 23:30:00Z' AS t");
});

type Headers = Readonly<Record<string, string>>;
type Value = { readonly string?: string; readonly bool?: boolean; readonly int64?: bigint };

async function setOptions(options: Readonly<Record<string, Value>>, headers: Headers = {}) {
  const none = SessionOptionValue.decode(new Uint8Array(0));
  const values = Object.entries(options).map(([name, value]) => [name, { ...none, ...value }] as const);
  const body = SetSessionOptionsRequest.encode({ sessionOptions: new Map(values) });
  const answer = await client.flight.action('SetSessionOptions', body, headers);
  if (answer.code !== undefined) throw Object.assign(new Error(answer.status.details), { code: answer.code });
  const cookie = answer.headers.get('set-cookie')[0]?.toString().split(';')[0] ?? '';
  const { errors } = SetSessionOptionsResult.decode(answer.messages[0]?.body ?? new Uint8Array(0));
  return { headers: { cookie }, errors: Object.fromEntries(errors) };
}

async function getOptions(headers: Headers): Promise<Record<string, unknown>> {
  const answer = await client.flight.action('GetSessionOptions', new Uint8Array(0), headers);
  const { sessionOptions } = GetSessionOptionsResult.decode(answer.messages[0]?.body ?? new Uint8Array(0));
  return Object.fromEntries([...sessionOptions].map(([name, { string }]) => [name, string]));
}

const session = async (): Promise<Headers> => (await setOptions({})).headers;

async function ticket(sql: string, headers: Headers): Promise<Buffer> {
  const answer = await client.flight.info(byCommand(any('CommandStatementQuery', [1, sql])), headers);
  const [info] = answer.messages;
  if (info === undefined) throw Object.assign(new Error(answer.status.details), { code: answer.code });
  return info.endpoint[0]?.ticket.ticket ?? Buffer.alloc(0);
}

/** The first column. */
async function run(sql: string, headers: Headers): Promise<unknown[]> {
  return await read(await ticket(sql, headers), headers);
}

async function read(ofTicket: Buffer, headers: Headers): Promise<unknown[]> {
  const got = await client.flight.get(ofTicket, headers);
  if (got.messages.length === 0) throw Object.assign(new Error(got.status.details), { code: got.code });
  return got.messages.length < 2
    ? []
    : tableFromIPC(ipcOf(got.messages))
        .toArray()
        .map((row) => Object.values(row)[0]);
}

const clock = "SELECT strftime(t, '%d %H:%M') FROM moments";

describe('SET in a session', () => {
  test('holds for the statements of the session, until RESET', async () => {
    const headers = await session();
    await run("SET TimeZone = 'Europe/Berlin'", headers);
    await run('SET default_null_order TO nulls_first', headers);
    expect(await run(clock, headers)).toEqual(['01 00:30']);
    expect(await run('SHOW TimeZone', headers)).toEqual(['Europe/Berlin']);
    expect(await run('FROM (VALUES (1), (NULL)) AS t(n) ORDER BY n', headers)).toEqual([null, 1]);
    await run("SET TIME ZONE 'Asia/Tokyo'", headers);
    expect(await run(clock, headers)).toEqual(['01 08:30']);
    await run('RESET timezone', headers);
    expect(await run(clock, headers)).toEqual(['31 23:30']);
    expect(await run('FROM (VALUES (1), (NULL)) AS t(n) ORDER BY n', headers)).toEqual([null, 1]);
  });

  test('is of that session alone', async () => {
    const [first, second] = await Promise.all([session(), session()]);
    await run("SET TimeZone = 'Europe/Berlin'", first);
    for (let round = 0; round < 3; round++) {
      expect(await run(clock, first)).toEqual(['01 00:30']);
      expect(await run(clock, second)).toEqual(['31 23:30']);
      expect(await run(clock, {})).toEqual(['31 23:30']);
    }
    await client.flight.action('CloseSession', new Uint8Array(0), first);
    expect(await run(clock, first)).toEqual(['31 23:30']);
  });

  test('holds for a ticket that was given before the next SET, and for a statement in a ticket', async () => {
    const headers = await session();
    await run("SET TimeZone = 'Europe/Berlin'", headers);
    const before = await ticket(clock, headers);
    await run('RESET TimeZone', headers);
    expect(await read(before, {})).toEqual(['01 00:30']);
    await run("SET TimeZone = 'Asia/Tokyo'", headers);
    expect(await read(Buffer.from(clock), headers)).toEqual(['01 08:30']);
  });

  test('holds for tables that the session makes', async () => {
    const headers = await session();
    await run("SET TimeZone = 'Europe/Berlin'", headers);
    await run(`CREATE TABLE berlin AS ${clock}`, headers);
    expect(await run('FROM berlin', {})).toEqual(['01 00:30']);
  });

  test('may be prepared, and a prepared query keeps the settings that it was prepared with', async () => {
    const headers = await session();
    const set = await prepare("SET TimeZone = 'Europe/Berlin'", headers);
    await client.flight.info(byCommand(any('CommandPreparedStatementQuery', [1, set])), headers);
    expect(await run('SHOW TimeZone', headers)).toEqual(['Europe/Berlin']);
    const query = await prepare(clock, headers);
    await run("SET TimeZone = 'Asia/Tokyo'", headers);
    const answer = await client.flight.info(byCommand(any('CommandPreparedStatementQuery', [1, query])), headers);
    expect(await read(answer.messages[0]?.endpoint[0]?.ticket.ticket ?? Buffer.alloc(0), headers)).toEqual([
      '01 00:30',
    ]);
  });

  test.each([
    ["SET TimeZone = 'Europe/Berln'", 'invalid_parameter', 'did you mean Europe/Berlin?'],
    ["SET TimeZone = 'UTC''; SET threads = 1'", 'invalid_parameter', 'cannot be'],
    ["SET default_order = 'up'", 'invalid_parameter', 'ASC, DESC'],
    ["SET memory_limit = '1TB'", 'sql_forbidden', 'but for TimeZone'],
    ['SET lock_configuration = false', 'sql_forbidden', 'but for TimeZone'],
    ["SET allowed_configs = ['threads']", 'sql_forbidden', 'but for TimeZone'],
    ['RESET ALL', 'sql_forbidden', 'but for TimeZone'],
    ["SET GLOBAL TimeZone = 'Europe/Berlin'", 'sql_forbidden', 'session'],
    ["PREPARE x AS SET TimeZone = 'Europe/Berlin'", 'sql_forbidden', 'PREPARE'],
  ])('%s is refused, and changes nothing', async (sql, code, message) => {
    const headers = await session();
    await expect(run(sql, headers)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(await run('SHOW TimeZone', headers)).toEqual(['UTC']);
  });

  test.each([
    ['without a session', {}],
    ['with a cookie of nobody', { cookie: 'arrow_flight_session_id=abc' }],
  ])('%s is an error that says how', async (_, headers) => {
    await expect(run("SET TimeZone = 'Europe/Berlin'", headers)).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(/SET TimeZone needs a session.*SetSessionOptions/),
    });
    await expect(run('BEGIN', headers)).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(/BEGIN needs a session.*BeginTransaction/),
    });
  });

  test('a ticket with settings that nobody may set is refused', async () => {
    const given = await ticket(clock, {});
    const forged = (json: string): Buffer => {
      const content = fieldsOf(bufferAt(fieldsOf(bufferAt(fieldsOf(given), 2)), 1));
      const inner = any('TicketStatementQuery', [1, proto([2, bufferAt(content, 2)], [7, json])]);
      return inner;
    };
    expect(await read(forged('{"TimeZone":"Europe/Berlin"}'), {})).toEqual(['01 00:30']);
    for (const json of [
      '{"threads":"1"}',
      '{"TimeZone":"x\'; SET threads = 1"}',
      '[',
      '"x"',
      'null',
      '{"__proto__":"x"}',
    ]) {
      await expect(read(forged(json), {})).rejects.toMatchObject({
        code: expect.stringMatching(/^invalid_(parameter|input)$/),
      });
    }
  });
});

describe('session options', () => {
  test('are the same settings', async () => {
    const { headers, errors } = await setOptions({
      timezone: { string: 'Europe/Berlin' },
      integer_division: { bool: true },
      Calendar: { string: 'nonsense' },
      default_order: { int64: 1n },
      memory_limit: { string: '1TB' },
    });
    expect(errors).toEqual({ Calendar: { value: 2 }, default_order: { value: 2 }, memory_limit: { value: 1 } });
    expect(await getOptions(headers)).toMatchObject({
      TimeZone: 'Europe/Berlin',
      integer_division: 'true',
      Calendar: 'gregorian',
    });
    expect(await run(clock, headers)).toEqual(['01 00:30']);
    expect(await run('SELECT 7 / 2', headers)).toEqual([3]);
    await setOptions({ TimeZone: {} }, headers);
    expect(await run(clock, headers)).toEqual(['31 23:30']);
    expect(await getOptions(headers)).not.toHaveProperty('memory_limit');
  });
});

describe('BEGIN, COMMIT and ROLLBACK as statements', () => {
  test('a transaction that only reads is rolled back', async () => {
    const headers = await session();
    await run('BEGIN TRANSACTION', headers);
    expect(await run('SELECT 1', headers)).toEqual([1]);
    await run('ROLLBACK;', headers);
    await expect(run('ROLLBACK', headers)).rejects.toMatchObject({
      code: 'sql_error',
      message: expect.stringContaining('no transaction is open in this session that ROLLBACK could end'),
    });
  });

  test('a rollback names what is durable already, as EndTransaction does; COMMIT ends it', async () => {
    const headers = await session();
    await run('/* by dbt */ BEGIN', headers);
    await expect(run('BEGIN', headers)).rejects.toMatchObject({ code: 'sql_error' });
    await run('CREATE TABLE intx AS SELECT 1 AS n', headers);
    const insert = await prepare('INSERT INTO intx VALUES (2)', headers);
    await client.flight.info(byCommand(any('CommandPreparedStatementQuery', [1, insert])), headers);
    await expect(run('ROLLBACK', headers)).rejects.toMatchObject({
      code: 'sql_forbidden',
      message: expect.stringMatching(
        /durable already: CREATE TABLE intx AS SELECT 1 AS n; INSERT INTO intx VALUES \(2\)/,
      ),
    });
    await run('COMMIT', headers);
    expect(await run('SELECT count(*)::INT FROM intx', {})).toEqual([2]);
    await run('BEGIN', headers);
    await run('ROLLBACK', headers);
  });

  test('is of one session: others have none', async () => {
    const [first, second] = await Promise.all([session(), session()]);
    await run('BEGIN', first);
    await run('CREATE TABLE ofsecond AS SELECT 1 AS n', second);
    await expect(run('COMMIT', second)).rejects.toMatchObject({ code: 'sql_error' });
    await run('ROLLBACK', first);
  });

  test('a prepared statement that outlives its transaction counts in the next one', async () => {
    const headers = await session();
    await run('CREATE TABLE outlived (n INT)', headers);
    await run('BEGIN', headers);
    const insert = await prepare('INSERT INTO outlived VALUES (1)', headers);
    await run('COMMIT', headers);
    await run('BEGIN', headers);
    await client.flight.info(byCommand(any('CommandPreparedStatementQuery', [1, insert])), headers);
    await expect(run('ROLLBACK', headers)).rejects.toMatchObject({
      message: expect.stringContaining('INSERT INTO outlived'),
    });
    await run('END TRANSACTION', headers);
  });
});

describe('temporary tables', () => {
  const frames = async (): Promise<string[]> => {
    const handles: string[] = [];
    for await (const { handle, state } of server.frames.list(principalOf())) if (state === 'held') handles.push(handle);
    return handles.filter((handle) => handle.startsWith('f_'));
  };

  test('are made, filled, read and dropped by their session', async () => {
    const headers = await session();
    await run('CREATE TEMP TABLE Scratch AS SELECT range::INT AS n FROM range(3)', headers);
    await run('INSERT INTO scratch VALUES (10)', headers);
    expect(await run('SELECT sum(n)::INT FROM SCRATCH', headers)).toEqual([13]);
    expect(await run('SHOW TABLES', headers)).toContain('scratch');
    const query = await prepare('SELECT count(*)::INT FROM scratch', headers);
    const info = await client.flight.info(byCommand(any('CommandPreparedStatementQuery', [1, query])), headers);
    expect(await read(info.messages[0]?.endpoint[0]?.ticket.ticket ?? Buffer.alloc(0), headers)).toEqual([4]);
    await run('CREATE OR REPLACE TEMPORARY TABLE scratch AS SELECT n + 1 AS n FROM scratch', headers);
    await run('CREATE TEMP TABLE IF NOT EXISTS scratch (other TEXT)', headers);
    expect(await run('SELECT sum(n)::INT FROM scratch', headers)).toEqual([17]);
    await expect(run('CREATE TEMP TABLE scratch (n INT)', headers)).rejects.toMatchObject({ code: 'handle_exists' });
    await expect(run('INSERT INTO scratch (m) VALUES (1)', headers)).rejects.toMatchObject({
      message: expect.stringContaining('column "m" not found in scratch'),
    });
    expect(await frames()).toHaveLength(1);
    await run('DROP TABLE scratch', headers);
    await expect(run('FROM scratch', headers)).rejects.toMatchObject({ code: 'sql_error' });
    await run('DROP TABLE IF EXISTS scratch', headers);
    expect(await frames()).toEqual([]);
  });

  test('are not read by views', async () => {
    const headers = await session();
    await run('CREATE TABLE seen AS SELECT 1 AS n', {});
    await run('CREATE VIEW seeing AS SELECT n FROM seen', {});
    await run('CREATE TEMP TABLE seen AS SELECT 2 AS n', headers);
    expect(await run('SELECT seeing.n FROM seeing, seen', headers)).toEqual([1]);
    await expect(run('CREATE VIEW other AS SELECT n FROM seen', headers)).rejects.toMatchObject({
      code: 'sql_forbidden',
      message: expect.stringContaining('a view cannot read the temporary table "seen"'),
    });
    await run('DROP TABLE seen', headers);
    expect(await run('FROM seen', headers)).toEqual([1]);
  });

  test('are found by no other session, and go before a frame of that name', async () => {
    const [first, second] = await Promise.all([session(), session()]);
    await run("CREATE TABLE shadowed AS SELECT 'frame' AS t", {});
    await run("CREATE TEMP TABLE shadowed AS SELECT 'first' AS t", first);
    await run("CREATE TEMP TABLE shadowed AS SELECT 'second' AS t", second);
    for (let round = 0; round < 3; round++) {
      expect(await run('FROM shadowed', first)).toEqual(['first']);
      expect(await run('FROM shadowed', second)).toEqual(['second']);
      expect(await run('FROM shadowed', {})).toEqual(['frame']);
      expect(await run('FROM frames.shadowed', first)).toEqual(['frame']);
    }
    for (const sql of ['FROM shadowed, frames.shadowed', 'FROM frames.shadowed, shadowed']) {
      await expect(run(sql, first)).rejects.toMatchObject({
        code: 'sql_error',
        message: expect.stringContaining('in one statement'),
      });
    }
    await run("CREATE OR REPLACE TABLE shadowed AS SELECT t || ' kept' AS t FROM shadowed", first);
    expect(await run('FROM shadowed', {})).toEqual(['first kept']);
    await run('DROP TABLE shadowed', first);
    expect(await run('FROM shadowed', first)).toEqual(['first kept']);
    await client.flight.action('CloseSession', new Uint8Array(0), second);
    expect(await frames()).toEqual([]);
  });

  test('may be filled by a query of themselves, with parameters', async () => {
    const headers = await session();
    await run("CREATE TEMP TABLE grown (n INT NOT NULL, s VARCHAR DEFAULT 'x')", headers);
    const insert = await prepare('INSERT INTO grown (n) VALUES (?)', headers);
    await client.bind(insert, new Table({ '1': vectorFromArray([1, 2], new Int32()) }));
    await client.flight.info(byCommand(any('CommandPreparedStatementQuery', [1, insert])), headers);
    await run('INSERT INTO grown SELECT n + 2, s FROM grown', headers);
    expect(await run('SELECT list(n ORDER BY n)::VARCHAR FROM grown', headers)).toEqual(['[1, 2, 3, 4]']);
    await client.flight.action('CloseSession', new Uint8Array(0), headers);
  });

  test('one whose frame another caller dropped says so', async () => {
    const headers = await session();
    await run('CREATE TEMP TABLE taken AS SELECT 1 AS n', headers);
    for (const handle of await frames()) await server.frames.drop(principalOf(), parseHandle(handle));
    for (const sql of ['FROM taken', 'INSERT INTO taken VALUES (1)']) {
      await expect(run(sql, headers)).rejects.toMatchObject({
        code: 'handle_gone',
        message: expect.stringContaining('the temporary table "taken" is gone'),
      });
    }
    await run('DROP TABLE taken', headers);
  });

  test('are in the catalogs of their session, by their names, as in DuckDB', async () => {
    const [headers, other] = await Promise.all([session(), session()]);
    await run('CREATE TABLE twin AS SELECT 1 AS in_frame', {});
    await run('CREATE TEMP TABLE twin (in_session INT PRIMARY KEY)', headers);
    await run('CREATE TEMP VIEW TzView AS SELECT in_session FROM twin', headers);
    const tables =
      "SELECT concat_ws('.', database_name, schema_name, table_name, temporary) FROM duckdb_tables() WHERE table_name = 'twin' ORDER BY 1";
    const ofInformationSchema =
      "SELECT concat_ws('.', table_catalog, table_schema, table_name, table_type) FROM information_schema.tables WHERE table_name IN ('twin', 'tzview') ORDER BY 1";
    for (let round = 0; round < 2; round++) {
      expect(await run(tables, headers)).toEqual(['framehold.frames.twin.false', 'temp.main.twin.true']);
      expect(await run(tables, other)).toEqual(['framehold.frames.twin.false']);
      expect(await run(ofInformationSchema, headers)).toEqual([
        'framehold.frames.twin.BASE TABLE',
        'temp.main.twin.LOCAL TEMPORARY',
        'temp.main.tzview.VIEW',
      ]);
      expect(await run("SELECT name FROM pragma_table_info('twin')", headers)).toEqual(['in_session']);
      expect(await run("SELECT name FROM pragma_table_info('tzview')", headers)).toEqual(['in_session']);
      expect(await run("SELECT name FROM pragma_table_info('twin')", other)).toEqual(['in_frame']);
    }
    expect(await run("SELECT sql FROM duckdb_views() WHERE view_name = 'tzview'", headers)).toEqual([
      'CREATE TEMP VIEW "tzview" AS SELECT in_session FROM twin;',
    ]);
    const handles = "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'f_')";
    expect(await run(handles, headers)).toEqual([]);
    await run('CREATE OR REPLACE TEMP TABLE twin (again INT)', headers);
    expect(await run("SELECT name FROM pragma_table_info('twin')", headers)).toEqual(['again']);
    await run('DROP TABLE twin', headers);
    expect(await run("SELECT name FROM pragma_table_info('twin')", headers)).toEqual(['in_frame']);
    await client.flight.action('CloseSession', new Uint8Array(0), headers);
  });

  test.each([
    ['CREATE TEMP TABLE t AS SELECT 1', {}, 'set an option by SetSessionOptions'],
    ['CREATE TEMP TABLE t AS SELECT 1', {}, 'CREATE TEMP TABLE needs a session'],
    ['CREATE TEMP TABLE t (n INT)', { cookie: 'arrow_flight_session_id=abc' }, 'CREATE TEMP TABLE needs a session'],
  ])('%s without a session is refused', async (sql, headers, message) => {
    await expect(run(sql, headers)).rejects.toMatchObject({
      code: 'sql_forbidden',
      message: expect.stringContaining(message),
    });
    expect(await frames()).toEqual([]);
  });

  test('a schema before the name is refused', async () => {
    const headers = await session();
    await expect(run('CREATE TEMP TABLE frames.t AS SELECT 1 AS n', headers)).rejects.toMatchObject({
      code: 'sql_error',
      message: expect.stringContaining('a temporary table is in no schema'),
    });
  });
});

describe('temporary views, macros and types', () => {
  test('are made, used, replaced and dropped by their session, and read its temporary tables', async () => {
    const headers = await session();
    await run('CREATE TEMP TABLE base AS SELECT range::INT AS n FROM range(3)', headers);
    await run('CREATE TEMP VIEW Doubled (d) AS SELECT n * 2 FROM base', headers);
    await run('CREATE TEMP MACRO highest() AS (SELECT max(d) FROM doubled)', headers);
    await run("CREATE TEMPORARY TYPE mood AS ENUM ('sad', 'ok')", headers);
    expect(await run('SELECT sum(d)::INT FROM DOUBLED', headers)).toEqual([6]);
    await run('INSERT INTO base VALUES (10)', headers);
    expect(await run('SELECT sum(d)::INT FROM doubled', headers)).toEqual([26]);
    expect(await run("SELECT highest() WHERE 'ok'::mood > 'sad'::mood", headers)).toEqual([20]);
    expect(await run('SHOW TABLES', headers)).toContain('doubled');
    expect(await run("SELECT function_name FROM duckdb_functions() WHERE schema_name = 'frames'", headers)).toContain(
      'highest',
    );
    await run('CREATE OR REPLACE TEMP VIEW doubled AS SELECT n * 2 + 1 AS d FROM base', headers);
    await expect(run('CREATE OR REPLACE TEMP VIEW doubled AS FROM doubled', headers)).rejects.toMatchObject({
      message: expect.stringContaining('view doubled would read itself'),
    });
    await run('CREATE TEMP VIEW IF NOT EXISTS doubled AS SELECT 1 AS d', headers);
    expect(await run('SELECT min(d) FROM doubled', headers)).toEqual([1]);
    await expect(run('CREATE TEMP VIEW doubled AS SELECT 1', headers)).rejects.toMatchObject({ code: 'handle_exists' });
    await expect(run('CREATE TEMP MACRO highest() AS 1', headers)).rejects.toMatchObject({ code: 'handle_exists' });
    await expect(run('INSERT INTO doubled VALUES (1)', headers)).rejects.toMatchObject({ code: 'handle_exists' });
    await expect(run('CREATE VIEW lasting AS FROM doubled', headers)).rejects.toMatchObject({ code: 'sql_forbidden' });
    await expect(run('CREATE MACRO lasting() AS (SELECT max(n) FROM base)', headers)).rejects.toMatchObject({
      code: 'sql_forbidden',
      message: expect.stringContaining('a macro cannot read the temporary table "base"'),
    });
    await run('DROP VIEW doubled', headers);
    await run('DROP MACRO highest', headers);
    await run('DROP TYPE mood', headers);
    for (const sql of ['FROM doubled', 'SELECT highest()', "SELECT 'ok'::mood"])
      await expect(run(sql, headers)).rejects.toMatchObject({ code: 'sql_error' });
    await client.flight.action('CloseSession', new Uint8Array(0), headers);
  });

  test('are found by no other session, and go before others of their names', async () => {
    const [first, second] = await Promise.all([session(), session()]);
    await run("CREATE VIEW hidden AS SELECT 'kept' AS t", {});
    await run("CREATE MACRO hidden() AS 'kept'", {});
    await run("CREATE TEMP VIEW hidden AS SELECT 'first' AS t", first);
    await run("CREATE TEMP MACRO hidden() AS 'first'", first);
    for (const [headers, value] of [
      [first, 'first'],
      [second, 'kept'],
      [{}, 'kept'],
      [first, 'first'],
    ] as const) {
      expect(await run('FROM hidden', headers)).toEqual([value]);
      expect(await run('SELECT hidden()', headers)).toEqual([value]);
    }
    await run('DROP MACRO hidden', first);
    expect(await run('SELECT hidden()', first)).toEqual(['kept']);
    await client.flight.action('CloseSession', new Uint8Array(0), first);
    expect(await run('FROM hidden', first)).toEqual(['kept']);
    const handles: string[] = [];
    for await (const { handle, state } of server.frames.list(principalOf())) if (state === 'held') handles.push(handle);
    expect(handles.filter((handle) => handle.startsWith('f_'))).toEqual([]);
  });

  test.each([
    ['CREATE TEMP VIEW v AS SELECT 1', 'CREATE TEMP VIEW needs a session'],
    ['CREATE TEMP MACRO m() AS 1', 'CREATE TEMP MACRO needs a session'],
  ])('%s without a session is refused', async (sql, message) => {
    await expect(run(sql, {})).rejects.toMatchObject({
      code: 'sql_forbidden',
      message: expect.stringContaining(message),
    });
  });
});

async function prepare(sql: string, headers: Headers): Promise<Buffer> {
  const answer = await client.flight.action(
    'CreatePreparedStatement',
    any('ActionCreatePreparedStatementRequest', [1, sql]),
    headers,
  );
  const [result] = answer.messages;
  if (result === undefined) throw Object.assign(new Error(answer.status.details), { code: answer.code });
  return bufferAt(fieldsOf(bufferAt(fieldsOf(result.body), 2)), 1);
}
