import { SessionOptionValue, SetSessionOptionsRequest, SetSessionOptionsResult } from '@framehold/grpc/flight';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { Int32, Table, tableFromIPC, vectorFromArray } from 'apache-arrow';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand, gather, ipcOf } from '../support/flight-client.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { any, bufferAt, FlightSqlClient, fieldsOf } from '../support/flight-sql-client.ts';
import { putSql } from '../support/frames.ts';
import { type AskedOf, secondEngine } from '../support/second-engine.ts';

const toml = `
[sql]
auto_engine = "second"
auto_threshold = "1B"
[engines.second]
kind = "spark-connect"
url = "sc://second.example.com"
`;

const asked: AskedOf = [];
const { server, client } = await useFlightServer(FlightSqlClient, {
  toml,
  createClusterEngine: (options) => secondEngine(options, { asked }),
});
beforeAll(async () => {
  await putSql(server.frames, 'small', 'SELECT range::INT AS n FROM range(3)');
});
beforeEach(() => {
  asked.length = 0;
});

type Headers = Readonly<Record<string, string>>;
const sql = 'SELECT max(n) AS m FROM small';
const ran = (): string[] => asked.filter(([method]) => method === 'run').map(([, text]) => text);

/** The rows of a statement, by FlightInfo and DoGet, each with its own headers. */
async function query(text: string, headers: Headers, ofGet: Headers = headers) {
  const answer = await client.flight.info(byCommand(any('CommandStatementQuery', [1, text])), headers);
  const [info] = answer.messages;
  if (info === undefined) throw Object.assign(new Error(answer.status.details), { code: answer.code });
  const got = await client.flight.get(info.endpoint[0]?.ticket.ticket ?? Buffer.alloc(0), ofGet);
  const rows =
    got.messages.length < 2
      ? []
      : tableFromIPC(ipcOf(got.messages))
          .toArray()
          .map((row) => ({ ...row }));
  return {
    rows,
    engine: answer.headers.get('x-framehold-engine')[0],
    reason: answer.headers.get('x-framehold-engine-reason')[0],
  };
}

async function session(engine: string): Promise<{ headers: Headers; errors: Record<string, unknown> }> {
  const value = { ...SessionOptionValue.decode(new Uint8Array(0)), string: engine };
  const body = SetSessionOptionsRequest.encode({ sessionOptions: new Map([['engine', value]]) });
  const answer = await client.flight.action('SetSessionOptions', body);
  const cookie = answer.headers.get('set-cookie')[0]?.toString().split(';')[0] ?? '';
  const { errors } = SetSessionOptionsResult.decode(answer.messages[0]?.body ?? new Uint8Array(0));
  return { headers: { cookie }, errors: Object.fromEntries(errors) };
}

describe('the header x-framehold-engine', () => {
  test('names the engine, and the answer tells it', async () => {
    expect(await query(sql, { 'x-framehold-engine': 'second' })).toEqual({
      rows: [{ m: 2 }],
      engine: 'second',
      reason: 'named by the caller',
    });
    expect(ran()).toEqual([sql]);
  });

  test('holds for the ticket, whatever the headers of DoGet', async () => {
    await query(sql, { 'x-framehold-engine': 'second' }, {});
    expect(ran()).toEqual([sql]);
  });

  test('may be auto', async () => {
    expect(await query(sql, { 'x-framehold-engine': 'auto' })).toMatchObject({
      engine: 'second',
      reason: expect.stringMatching(/^auto: it reads frames of/),
    });
  });

  test('with a name that is not known is refused with those that are', async () => {
    await expect(query(sql, { 'x-framehold-engine': 'secnod' })).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(/did you mean second\?.*local, second, auto/),
    });
  });

  test('works for a statement that stands in the ticket itself', async () => {
    const answer = await client.flight.get(Buffer.from(sql), { 'x-framehold-engine': 'second' });
    expect(tableFromIPC(ipcOf(answer.messages)).get(0)?.toJSON()).toEqual({ m: 2 });
    expect(answer.headers.get('x-framehold-engine')).toEqual(['second']);
    expect(ran()).toEqual([sql]);
  });

  test('left out, the statement is local and the answer says nothing', async () => {
    expect(await query(sql, {})).toEqual({ rows: [{ m: 2 }], engine: undefined, reason: undefined });
    expect(asked).toEqual([]);
  });
});

describe('the session option engine', () => {
  test('holds for the statements of the session, and the header goes before it', async () => {
    const { headers, errors } = await session('second');
    expect(errors).toEqual({});
    expect(await query(sql, headers)).toMatchObject({ engine: 'second' });
    expect(await query(sql, { ...headers, 'x-framehold-engine': 'local' })).toMatchObject({ engine: 'local' });
    expect(ran()).toEqual([sql]);
  });

  test('takes only engines that there are', async () => {
    expect((await session('nowhere')).errors).toEqual({ engine: { value: 2 } });
  });
});

describe('SET engine', () => {
  const set = (text: string, headers: Headers) => query(text, headers);

  test('chooses the engine of the session, until RESET engine', async () => {
    const { headers } = await session('local');
    await set("SET engine = 'second'", headers);
    expect(await query(sql, headers)).toMatchObject({ rows: [{ m: 2 }], engine: 'second' });
    await set('reset engine;', headers);
    expect(await query(sql, headers)).toMatchObject({ engine: undefined });
    await set('SET engine TO second', headers);
    expect(await query(sql, headers)).toMatchObject({ engine: 'second' });
    expect(ran()).toEqual([sql, sql]);
  });

  test('works under the token of a handshake, each for itself', async () => {
    const tokens = await Promise.all([handshake(), handshake()]);
    const [first = {}, second = {}] = tokens.map((authorization) => ({ authorization }));
    await set("SET engine = 'second'", first);
    expect(await query(sql, first)).toMatchObject({ engine: 'second' });
    expect(await query(sql, second)).toMatchObject({ engine: undefined });
  });

  test('works under a token that the client had before its handshake, as after a restart', async () => {
    const own = { authorization: 'Bearer of.another-server' };
    await expect(set("SET engine = 'second'", own)).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await handshake(own)).toBe(own.authorization);
    await set("SET engine = 'second'", own);
    expect(await handshake(own)).toBe(own.authorization);
    expect(await query(sql, own)).toMatchObject({ engine: 'second' });
  });

  test.each([
    ['without a session', {}],
    ['with a token of nobody', { authorization: 'Bearer abc' }],
    ['with a cookie of nobody', { cookie: 'arrow_flight_session_id=abc' }],
  ])('%s is an error that says how', async (_, headers) => {
    await expect(set("SET engine = 'second'", headers)).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(/needs a session.*x-framehold-engine/),
    });
  });

  test('of an engine that is not known is refused', async () => {
    const { headers } = await session('local');
    await expect(set("SET engine = 'secnod'", headers)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('does not open SET for anything else', async () => {
    const { headers } = await session('local');
    await expect(set("SET memory_limit = '1GB'", headers)).rejects.toMatchObject({ code: 'sql_forbidden' });
  });
});

describe('a prepared statement', () => {
  const prepare = async (text: string, headers: Headers): Promise<Buffer> => {
    const body = any('ActionCreatePreparedStatementRequest', [1, text]);
    const answer = await client.flight.action('CreatePreparedStatement', body, headers);
    const [result] = answer.messages;
    if (result === undefined) throw Object.assign(new Error(answer.status.details), { code: answer.code });
    return bufferAt(fieldsOf(bufferAt(fieldsOf(result.body), 2)), 1);
  };

  test('remembers the engine that it was prepared on', async () => {
    const handle = await prepare(sql, { 'x-framehold-engine': 'second' });
    await client.ask('CommandPreparedStatementQuery', [1, handle]);
    expect(ran()).toEqual([sql]);
  });

  test('with parameters too', async () => {
    const text = 'SELECT count(*) AS c FROM small WHERE n < ?';
    const handle = await prepare(text, { 'x-framehold-engine': 'second' });
    await client.bind(handle, new Table({ '1': vectorFromArray([2], new Int32()) }));
    expect(await client.ask('CommandPreparedStatementQuery', [1, handle])).toEqual([{ c: 2n }]);
    expect(ran()).toEqual([text]);
  });

  test('is analysed when it is prepared, and then no more, also where its frame is replaced', async () => {
    await putSql(server.frames, 'changing', 'SELECT 1 AS n');
    const handle = await prepare('SELECT *, ?::INT AS p FROM changing', { 'x-framehold-engine': 'second' });
    const bound = new Table({ '1': vectorFromArray([7], new Int32()) });
    const ask = async () => {
      await client.bind(handle, bound);
      return await client.ask('CommandPreparedStatementQuery', [1, handle]);
    };
    expect(await ask()).toEqual([{ n: 1, p: 7 }]);
    await putSql(server.frames, 'changing', "SELECT 'two' AS t, 2 AS n", { mode: 'overwrite' });
    expect(await ask()).toEqual([{ t: 'two', n: 2, p: 7 }]);
    expect(asked.map(([method]) => method)).toEqual(['analyze', 'describe', 'describe', 'run', 'describe', 'run']);
  });

  test('may be SET engine, as JDBC has it, and needs a session when it runs', async () => {
    const handle = await prepare("SET engine = 'second'", {});
    await expect(client.update('CommandPreparedStatementUpdate', [[1, handle]])).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
  });
});

test('an update goes to the engine that its header names', async () => {
  const text = 'CREATE OR REPLACE TABLE copied AS SELECT n FROM small';
  await query(text, { 'x-framehold-engine': 'second' });
  expect(asked.map(([method]) => method)).toContain('run');
  expect(await client.query('SELECT count(*) AS c FROM copied')).toEqual([{ c: 3n }]);
});

/** The header `authorization` that a handshake gives. */
async function handshake(headers: { readonly authorization?: string } = {}): Promise<string> {
  const call = client.flight.handshake(headers);
  const answer = gather(call as ClientDuplexStream<never, unknown>);
  call.end();
  return (await answer).headers.get('authorization')[0]?.toString() ?? '';
}
