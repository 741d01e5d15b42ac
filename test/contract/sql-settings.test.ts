import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statementSettings } from '../../src/core/sql/statement-settings.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { childrenOf, commandOf } from '../support/process-facts.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'sql.timeout': '20s', 'sql.workers': '1' } });
  await putSql(server.frames, 'numbers', 'SELECT * FROM (VALUES (2), (NULL), (1)) AS t(n)');
  await putSql(server.frames, 'moments', "SELECT TIMESTAMPTZ '2026-01-31 23:30:00Z' AS t");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

type Settings = Readonly<Record<string, unknown>>;

const post = (command: object, signal?: AbortSignal): Promise<Answer> =>
  ask(`${server.url}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(command),
    ...(signal && { signal }),
  });

/** The first column, or the error. */
async function values(sql: string, settings?: Settings, more: object = {}): Promise<unknown> {
  const answer = (await post({ sql, settings, ...more })).json();
  return answer.dataset === undefined ? answer : (answer.dataset as unknown[][]).map(([value]) => value);
}

const berlin = { TimeZone: 'Europe/Berlin' };
const clock = "SELECT strftime(t, '%d %H:%M') FROM moments";

describe('settings of POST /sql', () => {
  test.each<[string, Settings, unknown, unknown]>([
    [clock, berlin, ['31 23:30'], ['01 00:30']],
    ['SELECT t::VARCHAR FROM moments', berlin, ['2026-01-31 23:30:00+00'], ['2026-02-01 00:30:00+01']],
    [
      "SELECT TIMESTAMPTZ '2026-01-31 23:30:00'",
      berlin,
      ['2026-01-31T23:30:00.000000Z'],
      ['2026-01-31T22:30:00.000000Z'],
    ],
    ['SELECT year(t) FROM moments', { Calendar: 'buddhist' }, [2026], [2569]],
    ['SELECT n FROM numbers ORDER BY n', { default_null_order: 'nulls first' }, [1, 2, null], [null, 1, 2]],
    [
      'SELECT n FROM numbers ORDER BY n',
      { default_null_order: 'sqlite', default_order: 'desc' },
      [1, 2, null],
      [2, 1, null],
    ],
    ["SELECT 'a' = 'A'", { default_collation: 'NOCASE' }, [false], [true]],
    ['SELECT 7 / 2', { integer_division: true }, [3.5], [3]],
    ['SELECT 1 / 0 IS NULL', { ieee_floating_point_ops: 'off' }, [false], [true]],
    [
      'SELECT (SELECT n FROM numbers) IS NULL',
      { scalar_subquery_error_on_multiple_rows: false },
      expect.objectContaining({ code: 'sql_error' }),
      [false],
    ],
    [
      'SELECT substring(42, 1, 1)',
      { old_implicit_casting: true },
      expect.objectContaining({ code: 'sql_error' }),
      ['4'],
    ],
    [
      "SELECT n FROM numbers ORDER BY 'x'",
      { order_by_non_integer_literal: true },
      expect.objectContaining({ code: 'sql_error' }),
      [2, null, 1],
    ],
  ])('%s is another answer with %o, and the next statement is as ever', async (sql, settings, standard, changed) => {
    for (let round = 0; round < 3; round++) {
      expect(await values(sql)).toEqual(standard);
      expect(await values(sql, settings)).toEqual(changed);
    }
  });

  test('a point in time is written in UTC, whatever the zone', async () => {
    expect(await values('SELECT t FROM moments', berlin)).toEqual(['2026-01-31T23:30:00.000000Z']);
  });

  test('they hold for rows that are kept, for CREATE TABLE and for INSERT', async () => {
    await post({ sql: `${clock}`, settings: berlin, keep: { handle: 'kept' } });
    await post({ sql: `CREATE TABLE made AS ${clock}`, settings: berlin });
    await post({ sql: `INSERT INTO made ${clock}`, settings: { TimeZone: 'Asia/Tokyo' } });
    await post({ sql: `INSERT INTO made ${clock}` });
    expect(await values('FROM kept')).toEqual(['01 00:30']);
    expect(await values('FROM made')).toEqual(['01 00:30', '01 08:30', '31 23:30']);
  });

  test('rows of parameters keep their order where the order of all is turned', async () => {
    await post({ sql: 'CREATE TABLE pairs (a INT)' });
    for (const a of [1, 2])
      await post({ sql: 'INSERT INTO pairs VALUES ($1)', params: [a], settings: { default_order: 'DESC' } });
    expect(await values('FROM pairs')).toEqual([1, 2]);
  });

  test('they hold with parameters, in every format', async () => {
    const sql = "SELECT strftime($1::TIMESTAMPTZ, '%d %H:%M') AS t";
    const params = ['2026-01-31 23:30:00Z'];
    expect(await values(sql, berlin, { params })).toEqual(['01 00:30']);
    expect((await post({ sql, params, settings: berlin, format: 'csv' })).text).toContain('01 00:30');
  });

  test('the reference has a row for each', async () => {
    const page = await readFile('docs/reference/sql.md', 'utf8');
    for (const [name, { standard }] of Object.entries(statementSettings)) {
      expect(page).toContain(`| \`${name}\` | ${standard === '' ? 'none' : `\`${standard}\``} |`);
    }
  });

  test('null is the standard, and names are the same in any case', async () => {
    expect(await values('SHOW timezone', { TIMEZONE: 'Asia/Tokyo' })).toEqual(['Asia/Tokyo']);
    expect(await values('SHOW TIME ZONE', { TimeZone: null })).toEqual(['UTC']);
    expect(await values("SELECT current_setting('timezone')", berlin)).toEqual(['Europe/Berlin']);
  });

  test.each<[Settings, string, string]>([
    [
      { TimeZon: 'UTC' },
      'a statement has no setting "TimeZon"; did you mean TimeZone?',
      'its settings are TimeZone, Calendar',
    ],
    [{ lock_configuration: false }, 'a statement has no setting "lock_configuration"', 'its settings are'],
    [{ memory_limit: '1TB' }, 'a statement has no setting "memory_limit"', 'its settings are'],
    [{ allowed_directories: "['/']" }, 'a statement has no setting "allowed_directories"', 'its settings are'],
    [{ allowed_configs: "['threads']" }, 'a statement has no setting "allowed_configs"', 'its settings are'],
    [{ 'TimeZone\0': 'UTC' }, 'a statement has no setting "TimeZone\\u0000"', 'its settings are'],
    [{ ['x'.repeat(5000)]: 'UTC' }, `a statement has no setting "${'x'.repeat(100)}…"`, 'its settings are'],
    [
      { TimeZone: 'Europe/Berln' },
      'the setting TimeZone cannot be "Europe/Berln"; did you mean Europe/Berlin?',
      'Europe/Berlin',
    ],
    [{ TimeZone: "UTC'; SET threads = 1; --" }, 'the setting TimeZone cannot be "UTC\'; SET threads', 'a time zone'],
    [{ TimeZone: 'UTC\0' }, 'the setting TimeZone cannot be "UTC\\u0000"', 'a time zone'],
    [{ TimeZone: 'x'.repeat(1e6) }, `the setting TimeZone cannot be "${'x'.repeat(100)}…"`, 'a time zone'],
    [{ TimeZone: '' }, 'the setting TimeZone cannot be ""', 'a time zone'],
    [{ Calendar: 'gregorain' }, 'the setting Calendar cannot be "gregorain"', 'a calendar'],
    [
      { default_collation: 'nocas' },
      'the setting default_collation cannot be "nocas"; did you mean nocase?',
      'a collation',
    ],
    [{ default_order: 'up' }, 'the setting default_order cannot be "up"', 'ASC, DESC'],
    [{ integer_division: 'maybe' }, 'the setting integer_division cannot be "maybe"', 'true or false'],
    [{ integer_division: 'constructor' }, 'the setting integer_division cannot be "constructor"', 'true or false'],
    [{ TimeZone: ['UTC'] }, 'settings.TimeZone is an array', ''],
    [{ TimeZone: 'UTC', timezone: 'UTC' }, 'the setting "timezone" is given twice', ''],
  ])('settings that are not accepted are refused: %#', async (settings, error, hint) => {
    const answer = (await post({ sql: 'SELECT 1', settings })).json();
    expect(answer).toMatchObject({ code: 'invalid_parameter', error: expect.stringContaining(error) });
    if (hint !== '') expect(answer.hint).toContain(hint);
    expect(await values('SELECT 1')).toEqual([1]);
  });

  test.each([
    "SET TimeZone = 'Europe/Berlin'",
    'RESET timezone',
    "SET SESSION timezone TO 'UTC'",
    "SET TIME ZONE 'UTC'",
  ])('%s as a statement is refused with the way to say it', async (sql) => {
    const answer = (await post({ sql })).json();
    expect(answer).toMatchObject({ code: 'sql_forbidden', hint: expect.stringContaining('"settings": {"TimeZone"') });
    expect(await values('SHOW TimeZone')).toEqual(['UTC']);
  });

  test.each(['CREATE TEMP TABLE t AS SELECT 1', 'CREATE OR REPLACE TEMPORARY TABLE t (n INT)'])(
    '%s is refused: a request has no session',
    async (sql) => {
      expect((await post({ sql })).json()).toMatchObject({
        code: 'sql_forbidden',
        error: 'CREATE TEMP TABLE needs a session, and there is none',
        hint: expect.stringContaining('"ttl"'),
      });
    },
  );

  test.each(['threads', 'memory_limit', 'allowed_directories', 'temp_directory', 'allowed_configs'])(
    'no statement tells the setting %s',
    async (name) => {
      expect(await values(`SELECT current_setting('${name}')`)).toMatchObject({ code: 'sql_forbidden' });
      expect(await values(`SELECT current_setting('${name.slice(0, 3)}' || '${name.slice(3)}')`)).toMatchObject({
        code: 'sql_forbidden',
      });
      expect(await values(`SHOW ${name}`)).toMatchObject({ code: 'sql_error' });
    },
  );

  test('nothing is left behind by a statement that failed, was cancelled, ran out of time or lost its process', async () => {
    const tokyo = { TimeZone: 'Asia/Tokyo', default_null_order: 'NULLS_FIRST', integer_division: true };
    const slow = 'SELECT count(*) FROM range(100000000) AS a, range(100000) AS b WHERE (a.range + b.range) % 7 = 3';
    const standard = async (): Promise<void> => {
      expect(
        await values("SELECT current_setting('TimeZone') || current_setting('default_null_order') || (7 / 2)"),
      ).toEqual(['UTCNULLS_LAST3.5']);
      expect(await values(clock)).toEqual(['31 23:30']);
    };
    expect(await values("SELECT error('wrong')", tokyo)).toMatchObject({ code: 'sql_error' });
    await standard();
    expect(await values('SELECT nothing', { ...tokyo, Calendar: 'nonsense' })).toMatchObject({
      code: 'invalid_parameter',
    });
    await standard();
    expect(await values(slow, tokyo, { timeout_ms: 300 })).toMatchObject({ code: expect.any(String) });
    await standard();
    const abort = new AbortController();
    const left = post({ sql: slow, settings: tokyo }, abort.signal).catch(() => 'left');
    await expect.poll(async () => (await ask(`${server.url}/queries`)).text).toContain('range(100000000)');
    abort.abort();
    await left;
    await standard();
    const crashed = values(slow, tokyo);
    await expect.poll(async () => (await ask(`${server.url}/queries`)).text).toContain('range(100000000)');
    const workers = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('"sql":{'));
    for (const pid of workers) process.kill(pid, 'SIGKILL');
    expect(await crashed).toMatchObject({ code: 'engine_crashed' });
    await standard();
  });

  test('two callers who alternate each have their own', async () => {
    const zones = ['Europe/Berlin', undefined, 'Asia/Tokyo', 'America/New_York'];
    const asked = Array.from({ length: 40 }, (_, n) => zones[n % zones.length]);
    const told = await Promise.all(
      asked.map((zone) =>
        values("SELECT current_setting('TimeZone')", zone === undefined ? undefined : { TimeZone: zone }),
      ),
    );
    expect(told).toEqual(asked.map((zone) => [zone ?? 'UTC']));
  });
});
