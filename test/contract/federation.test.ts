import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryFault } from '../../src/core/text/tsdb-query.ts';
import { byCommand, FlightClient, ipcOf } from '../support/flight-client.ts';
import { any } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { type LiveQuestDb, postSql, rowsOf, startLiveQuestDb } from '../support/live-questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { runCommand } from '../support/spawned-command.ts';
import { type TenantCaller, tenantCaller } from '../support/tenants.ts';

const login = { user: 'admin', password: 's3cret:w%rd' };

const trades = [
  'create table trades (ts timestamp, symbol symbol, price double, amount long) timestamp(ts) partition by day wal',
  `insert into trades values
   ('2026-01-01T10:00:00.000000Z', 'BTC', 100.5, 1), ('2026-01-01T10:00:01.000000Z', 'ETH', 10.25, 2),
   ('2026-01-01T10:00:02.000000Z', 'BTC', 101.5, 3), ('2026-01-01T10:00:03.000000Z', null, 1.5, 4),
   ('2026-01-02T10:00:00.000000Z', 'BTC', 102.5, 5)`,
];

const asof = `SELECT p.id, t.price FROM frames.positions p ASOF JOIN tsdb.trades t
  ON p.symbol = t.symbol AND p.seen >= t.ts ORDER BY p.id`;
const joined = [
  [1, 100.5],
  [2, 101.5],
  [3, 10.25],
];

describe.skipIf(await questdbUnavailable())('SQL over frames and tables of a real QuestDB', () => {
  let questdb: LiveQuestDb;
  let server: Framehold;

  beforeAll(async () => {
    questdb = await startLiveQuestDb(login);
    await questdb.run(
      ...trades,
      'create table "odd name" ("a b" int, "Key" symbol)',
      'insert into "odd name" values (7, \'k\')',
    );
    server = await startFramehold({ settings: { 'tsdb.http_url': questdb.loginUrl } });
    await putSql(
      server.frames,
      'positions',
      `SELECT * FROM (VALUES (1, 'BTC', TIMESTAMP '2026-01-01 10:00:01'), (2, 'BTC', '2026-01-01 10:00:02'),
       (3, 'ETH', '2026-01-01 10:00:05')) AS p(id, symbol, seen)`,
    );
  }, 120_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await questdb?.[Symbol.asyncDispose]();
  });

  const sql = (text: string, more: object = {}): Promise<Answer> => postSql(server.url, text, more);
  const rows = (text: string, more: object = {}): Promise<readonly (readonly unknown[])[]> =>
    rowsOf(server.url, text, more);

  describe('runs through every interface:', () => {
    test('POST /sql', async () => {
      const answer = await sql(asof);
      expect(answer.json().dataset).toEqual(joined);
      expect(answer.headers).toMatchObject({
        'x-framehold-tsdb-rows': '5',
        'x-framehold-tsdb-bytes': expect.stringMatching(/^\d{3,4}$/),
        'x-framehold-tsdb-pushed': 'tsdb.trades(ts, symbol, price)',
      });
    });

    test('GET /exec and GET /exp', async () => {
      const search = new URLSearchParams({ query: asof, engine: 'local', fmt: 'json' });
      const page = await ask(`${server.url}/exec?${search}`);
      expect(page.json().dataset).toEqual(joined);
      expect(page.headers['x-framehold-tsdb-rows']).toBe('5');
      search.set('fmt', 'csv');
      const file = await ask(`${server.url}/exp?${search}`);
      expect(file.text).toBe('id,price\r\n1,100.5\r\n2,101.5\r\n3,10.25\r\n');
      expect(file.headers['x-framehold-tsdb-rows']).toBe('5');
      search.set('fmt', 'parquet');
      expect((await ask(`${server.url}/exp?${search}`)).body.subarray(0, 4).toString()).toBe('PAR1');
    });

    test('Flight SQL', async () => {
      using flight = new FlightClient(server.grpcAddress.port);
      const info = await flight.info(byCommand(any('CommandStatementQuery', [1, asof])));
      const ticket = info.messages[0]?.endpoint[0]?.ticket.ticket;
      if (ticket === undefined) throw new Error(info.status.details);
      const answer = await flight.get(ticket);
      expect(answer.headers.get('x-framehold-tsdb-rows')).toEqual(['5']);
      const table = tableFromIPC(ipcOf(answer.messages as Parameters<typeof ipcOf>[0]));
      expect(table.toArray().map((row) => Object.values(row.toJSON()))).toEqual(joined);
    });

    test('framehold sql', async () => {
      const options = { env: { FRAMEHOLD_SERVER: server.url }, cwd: server.dataDir };
      const { status, stdout, stderr } = await runCommand(['sql', '--format', 'csv', asof], options);
      expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: expect.stringContaining('2,101.5') });
    });
  });

  test('a query in the dialect of QuestDB is a table', async () => {
    const sampled =
      "tsdb.query('select ts, symbol, sum(amount) amount from trades where symbol = ''BTC'' sample by 1d')";
    expect(await rows(`SELECT amount FROM ${sampled} ORDER BY ts`)).toEqual([[4], [5]]);
    expect(
      await rows(`SELECT query.amount + p.id FROM positions p JOIN ${sampled} USING (symbol) ORDER BY ALL`),
    ).toEqual([[5], [6], [6], [7]]);
    expect(await rows(`SELECT count(*) FROM ${sampled} a, ${sampled} b`)).toEqual([[4]]);
    expect(await rows("FROM tsdb.query($$select 'it''s' x$$)")).toEqual([["it's"]]);
    expect(await rows("FROM tsdb.query('(select 1 a) union all (select 2)') ORDER BY a")).toEqual([[1], [2]]);
    expect(await rows("FROM tsdb.query('with x as (select max(price) p from trades) select p from x')")).toEqual([
      [102.5],
    ]);
    expect(await rows("FROM tsdb.query('declare @n := 3 select @n n')")).toEqual([[3]]);
  });

  test.each([
    ["symbol = 'BTC' AND ts >= '2026-01-02'", `"symbol" = 'BTC' AND "ts" >= '2026-01-02T00:00:00.000000Z'`, 1],
    ["symbol IN ('BTC', 'ETH')", `"symbol" IN ('BTC', 'ETH')`, 4],
    [
      "ts BETWEEN '2026-01-01 10:00:01' AND TIMESTAMP '2026-01-01 10:00:02.5'",
      `"ts" >= '2026-01-01T10:00:01.000000Z' AND "ts" <= '2026-01-01T10:00:02.500000Z'`,
      2,
    ],
    [
      "ts = '2026-01-01T10:00:03Z'",
      `"ts" >= '2026-01-01T10:00:03.000000Z' AND "ts" <= '2026-01-01T10:00:03.000000Z'`,
      1,
    ],
  ])('WHERE %s is asked of QuestDB', async (where, pushed, count) => {
    const answer = await sql(`SELECT amount FROM tsdb.trades WHERE ${where}`);
    const { headers } = answer;
    expect(headers['x-framehold-tsdb-rows']).toBe(String(count));
    expect(headers['x-framehold-tsdb-pushed']).toContain(` WHERE ${pushed}`);
    expect(answer.json().count).toBe(count);
  });

  test.each([
    ['price > 100'],
    ["symbol <> 'BTC'"],
    ["symbol = ''"],
    ["symbol = 'B\tC'"],
    ["ts > '2026-01-01 10:00:00.1234567'"],
    ["ts > '3000-01-01'"],
    ["ts > TIMESTAMPTZ '2026-01-01'"],
    ["ts::DATE = '2026-01-01'"],
    ['amount = 3'],
  ])('WHERE %s is asked of DuckDB alone', async (where) => {
    const { headers } = await sql(`SELECT amount FROM tsdb.trades WHERE ${where}`);
    expect(headers['x-framehold-tsdb-pushed']).toMatch(/^tsdb\.trades\([^)]*\)$/);
    expect(headers['x-framehold-tsdb-rows']).toBe('5');
  });

  test('a symbol is not asked of QuestDB where the statement compares texts in another way', async () => {
    const settings = { default_collation: 'NOCASE' };
    const answer = await sql("SELECT amount FROM tsdb.trades WHERE symbol = 'btc' ORDER BY 1", { settings });
    expect(answer.json().dataset).toEqual([[1], [3], [5]]);
    expect(answer.headers['x-framehold-tsdb-pushed']).toBe('tsdb.trades(symbol, amount)');
  });

  test.each([
    ['SELECT * FROM tsdb.trades LIMIT 2', {}, ' LIMIT 2', [[100.5], [10.25]]],
    ['SELECT price FROM tsdb.trades ORDER BY ts DESC LIMIT 2', {}, ' ORDER BY "ts" DESC LIMIT 2', [[102.5], [1.5]]],
    [
      "SELECT price FROM tsdb.trades WHERE symbol = 'BTC' ORDER BY ts LIMIT 1 OFFSET 1",
      {},
      ` WHERE "symbol" = 'BTC' ORDER BY "ts" LIMIT 2`,
      [[101.5]],
    ],
    ['SELECT price FROM tsdb.trades ORDER BY ts', { limit: 3 }, ' ORDER BY "ts" LIMIT 3', [[100.5], [10.25], [101.5]]],
    [
      'SELECT price FROM tsdb.trades ORDER BY ts',
      { limit: 1, settings: { default_order: 'DESC' } },
      ' ORDER BY "ts" DESC LIMIT 1',
      [[102.5]],
    ],
    ['SELECT price FROM tsdb.trades ORDER BY price DESC', { limit: 1 }, '', [[102.5]]],
    ['SELECT count(*) AS price FROM tsdb.trades', { limit: 1 }, '', [[5]]],
    ['SELECT price FROM tsdb.trades WHERE amount > 2 LIMIT 1', {}, '', [[101.5]]],
  ])('%s %j asks for %s', async (text, more, pushed, prices) => {
    const answer = await sql(text, { cols: ['price'], ...more });
    expect(answer.json().dataset).toEqual(prices);
    expect(answer.headers['x-framehold-tsdb-pushed']?.toString().replace(/^[^)]*\)/, '')).toBe(pushed);
  });

  test('EXPLAIN tells what would be asked for and reads nothing; EXPLAIN ANALYZE what came', async () => {
    const text = "SELECT price FROM tsdb.trades WHERE symbol = 'BTC'";
    const plan = await sql(`EXPLAIN ${text}`);
    expect(plan.headers['x-framehold-tsdb-rows']).toBeUndefined();
    const asked = `tsdb.trades(symbol, price) WHERE "symbol" = 'BTC'`;
    expect((plan.json().dataset as unknown[][]).at(-1)).toEqual(['tsdb', `${asked}; not read`]);
    const analyzed = await sql(`EXPLAIN ANALYZE ${text}`);
    const notes = (analyzed.json().dataset as string[][]).at(-1);
    expect(notes).toEqual(['tsdb', expect.stringMatching(/; 3 rows, \d+ bytes, as of 20\d\d-.*Z$/)]);
    expect(notes?.[1]?.startsWith(asked)).toBe(true);
    expect(JSON.stringify(analyzed.json())).not.toContain(server.dataDir);
  });

  test('keep, CREATE TABLE … AS, INSERT and UPDATE take rows of live tables', async () => {
    const kept = await sql("SELECT * FROM tsdb.trades WHERE symbol = 'BTC'", { keep: { handle: 'kept' } });
    expect(kept.json()).toMatchObject({ handle: 'kept', rows: 3 });
    expect(kept.headers['x-framehold-tsdb-rows']).toBe('3');
    expect((await sql('CREATE TABLE made AS SELECT symbol, price FROM tsdb.trades')).text).toContain('"ddl":"OK"');
    expect(
      (await sql("INSERT INTO made SELECT symbol, price FROM tsdb.trades WHERE symbol = 'ETH'")).json(),
    ).toMatchObject({
      updated: 1,
    });
    expect(await rows('SELECT count(*) FROM made')).toEqual([[6]]);
    const update =
      "UPDATE made SET price = t.amount FROM tsdb.trades t WHERE made.symbol = t.symbol AND t.symbol = 'ETH'";
    expect((await sql(update)).json()).toMatchObject({ updated: 2 });
    const merge =
      "MERGE INTO made USING tsdb.query('select symbol, 1.0 p from trades latest on ts partition by symbol') q ON made.symbol = q.symbol WHEN MATCHED THEN UPDATE SET price = q.p";
    expect((await sql(merge)).json()).toMatchObject({ updated: 5 });
    expect(await rows('SELECT DISTINCT price FROM made WHERE symbol IS NOT NULL')).toEqual([[1]]);
    for (const frame of ['kept', 'made']) await sql(`DROP TABLE ${frame}`);
  });

  test('with parameters, CTEs, correlated subqueries, PIVOT, DESCRIBE and SUMMARIZE', async () => {
    expect(
      await rows('SELECT amount FROM tsdb.trades WHERE symbol = $1 AND amount > $2', { params: ['BTC', 1] }),
    ).toEqual([[3], [5]]);
    expect(await rows('WITH t AS (FROM tsdb.trades), u AS (FROM t) SELECT sum(amount)::INT FROM u')).toEqual([[15]]);
    expect(
      await rows(
        'SELECT id, (SELECT max(amount) FROM tsdb.trades t WHERE t.symbol = p.symbol) FROM positions p ORDER BY id',
      ),
    ).toEqual([
      [1, 5],
      [2, 5],
      [3, 2],
    ]);
    expect(
      await rows("PIVOT (SELECT symbol, amount FROM tsdb.trades) ON symbol IN ('BTC','ETH') USING max(amount)"),
    ).toEqual([[5, 2]]);
    const described = await sql('DESCRIBE tsdb.trades');
    expect(described.headers['x-framehold-tsdb-rows']).toBe('0');
    expect((described.json().dataset as unknown[][]).map(([name, type]) => `${name} ${type}`)).toEqual([
      'ts TIMESTAMP',
      'symbol VARCHAR',
      'price DOUBLE',
      'amount BIGINT',
    ]);
    expect(await rows("SELECT column_name, count FROM (SUMMARIZE tsdb.trades) WHERE column_name = 'price'")).toEqual([
      ['price', 5],
    ]);
    expect(await rows('SELECT "a b", key FROM tsdb."ODD name"')).toEqual([[7, 'k']]);
    expect(await rows('SELECT max(positions.rowid), count(*) FROM positions, tsdb.trades')).toEqual([[2, 15]]);
  });

  test('a view over live tables gives the rows of the moment', async () => {
    expect((await sql("CREATE VIEW btc AS SELECT ts, price FROM tsdb.trades WHERE symbol = 'BTC'")).text).toContain(
      'OK',
    );
    expect(
      (await sql("CREATE VIEW days AS FROM tsdb.query('select ts, count() n from trades sample by 1d')")).text,
    ).toContain('OK');
    const answer = await sql('SELECT count(*) FROM btc');
    expect(answer.json().dataset).toEqual([[3]]);
    expect(answer.headers['x-framehold-tsdb-pushed']).toBe(`tsdb.trades(ts, symbol, price) WHERE "symbol" = 'BTC'`);
    // Its limit is not that of the rows that the view reads.
    expect((await sql('SELECT count(*) FROM btc', { limit: 1 })).json().dataset).toEqual([[3]]);
    // The same table twice: what either place needs.
    expect(await rows("SELECT count(*), (SELECT count(*) FROM tsdb.trades WHERE symbol = 'ETH') FROM btc")).toEqual([
      [3, 1],
    ]);
    expect(await rows('SELECT n FROM days ORDER BY ts')).toEqual([[4], [1]]);
    expect((await ask(`${server.url}/exec?handle=days&fmt=json`)).json().dataset).toHaveLength(2);
    for (const view of ['btc', 'days']) await sql(`DROP VIEW ${view}`);
  });

  test('a macro may read live tables, and what its caller gives it is asked of QuestDB', async () => {
    const macro = 'CREATE MACRO of_symbol(s) AS TABLE SELECT amount FROM tsdb.trades WHERE symbol = s';
    expect((await sql(macro)).text).toContain('OK');
    const answer = await sql("SELECT max(amount) FROM of_symbol('BTC')");
    expect(answer.json().dataset).toEqual([[5]]);
    expect(answer.headers['x-framehold-tsdb-pushed']).toBe(`tsdb.trades(symbol, amount) WHERE "symbol" = 'BTC'`);
    expect((await sql("CREATE MACRO daily() AS TABLE FROM tsdb.query('select count() n from trades')")).text).toContain(
      'OK',
    );
    expect(await rows('SELECT n FROM daily()')).toEqual([[5]]);
    await sql('DROP MACRO TABLE of_symbol');
    await sql('DROP MACRO TABLE daily');
  });

  test('catalogs show live tables', async () => {
    expect(
      await rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'tsdb' ORDER BY ALL"),
    ).toEqual([['odd name'], ['trades']]);
    expect(
      await rows(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE schema_name = 'tsdb' AND table_name = 'trades'",
      ),
    ).toEqual([
      ['ts', 'TIMESTAMP'],
      ['symbol', 'VARCHAR'],
      ['price', 'DOUBLE'],
      ['amount', 'BIGINT'],
    ]);
    expect(await rows('SHOW TABLES FROM tsdb')).toEqual([['odd name'], ['trades']]);
    expect((await rows('SHOW ALL TABLES')).map(([catalog, schema, name]) => [catalog, schema, name])).toContainEqual([
      'framehold',
      'tsdb',
      'trades',
    ]);
    using flight = new FlightClient(server.grpcAddress.port);
    const info = await flight.info(byCommand(any('CommandGetTables', [2, 'tsdb'], [3, 'tra%'], [5, true])));
    const ticket = info.messages[0]?.endpoint[0]?.ticket.ticket;
    if (ticket === undefined) throw new Error(info.status.details);
    const answer = await flight.get(ticket);
    const found = tableFromIPC(ipcOf(answer.messages as Parameters<typeof ipcOf>[0])).toArray();
    expect(found.map((row) => [row.catalog_name, row.db_schema_name, row.table_name, row.table_type])).toEqual([
      ['framehold', 'tsdb', 'trades', 'TABLE'],
    ]);
  });

  test.each([
    ['SELECT * FROM tsdb.nothing', 'sql_error', 'table tsdb.nothing not found', 14],
    ['SELECT * FROM tsdb."a\'b"', 'sql_error', 'not found', 14],
    ['SELECT * FROM tsdb."trades""; drop table trades"', 'sql_error', 'not found', 14],
    ['SELECT * FROM tsdb."../trades"', 'sql_error', 'not found', 14],
    ['SELECT * FROM tsdb.tables', 'sql_error', 'table tsdb.tables not found', 14],
    ['SELECT * FROM tsdb.query_activity', 'sql_error', 'not found', 14],
    ['SELECT * FROM tsdb."pg_catalog.pg_class"', 'sql_error', 'not found', 14],
    ['SELECT * FROM tsdb.telemetry', 'sql_error', 'not found', 14],
    ['SELECT * FROM tsdb."long_sequence(3)"', 'sql_error', 'not found', 14],
    ['SELECT prise FROM tsdb.trades', 'sql_error', 'did you mean "price"?', 7],
    [
      "SELECT 1 FROM tsdb.query('select nothing from trades')",
      'sql_error',
      'the external database: Invalid column: nothing',
      33,
    ],
    [
      "FROM tsdb.query('select interval(1, 2) i')",
      'unsupported_type',
      'column "i" of the query is of type INTERVAL',
      undefined,
    ],
    ["FROM tsdb.query('select 1; drop table trades')", 'sql_forbidden', 'it has a semicolon', 16],
    ["FROM tsdb.query('drop table trades')", 'sql_forbidden', 'does not begin with SELECT', 16],
    ["FROM tsdb.query('select * from read_parquet(''x'')')", 'sql_forbidden', 'read_parquet is not allowed', 16],
    ["SELECT * FROM tsdb.query('select * from (show parameters)')", 'sql_forbidden', 'it has SHOW', 25],
    ["SELECT * FROM tsdb.query('select * from ''query_activity''')", 'sql_forbidden', 'query_activity is not', 25],
    ['INSERT INTO tsdb.trades SELECT 1', 'sql_forbidden', 'tables of the external database are read only', 12],
    ['SELECT rowid FROM tsdb.trades', 'sql_error', 'rowid', undefined],
  ])('%s is refused', async (text, code, message, position) => {
    const answer = await sql(text);
    expect(answer.json()).toMatchObject({ code, error: expect.stringContaining(message) });
    if (position !== undefined) expect(answer.json().position).toBe(position);
    const { host } = new URL(questdb.url);
    for (const secret of [login.password, host, server.dataDir]) expect(answer.text).not.toContain(secret);
    expect(await questdb.run('select count() from trades')).toEqual([[5]]);
  });

  test('each function that QuestDB has is allowed, or tells of the server or reads what is no table', async () => {
    const names = await questdb.run('select distinct name from functions() order by name');
    const refused = names.flat().filter((name) => /^[a-z]/i.test(`${name}`) && queryFault(`select ${name}(1)`));
    const catalogs = /^(pg_|information_schema\.)/;
    expect(refused.filter((name) => !catalogs.test(`${name}`)).join(' ')).toBe(
      'all_tables build cancel_query checkpoint_status current_catalog current_data_id current_database current_schema ' +
        'current_schemas current_setting current_user dump_memory_usage dump_thread_stacks export_activity export_files ' +
        'files flush_query_cache format_type functions glob hydrate_table_metadata import_files keywords ' +
        'materialized_views memory_metrics parquet_scan query_activity read_parquet reader_pool reload_config ' +
        'session_user simulate_crash simulate_warnings table_columns table_partitions table_storage ' +
        'table_writer_metrics tables touch txid_current version views wait_wal_table wal_tables wal_transactions writer_pool',
    );
  });

  test('no name that QuestDB takes for a function passes the gate without parentheses', async () => {
    const names = await questdb.run('select distinct name from functions() order by name');
    const passed: string[] = [];
    for (const name of names.flat().filter((each) => /^[a-z]/i.test(`${each}`))) {
      for (const query of [`select * from ${name}`, `select * from '${name}'`, `select * from public.${name}`]) {
        if (queryFault(query) === undefined && (await questdb.run(query).catch(() => undefined)) !== undefined)
          passed.push(query);
      }
    }
    expect(passed).toEqual([]);
  });

  test('a plot of QuestDB passes the same gate', async () => {
    const plot = (query: string): Promise<Answer> =>
      ask(`${server.url}/plot`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sql: query, engine: 'tsdb', x: 'ts', y: ['price'] }),
      });
    for (const query of ['select * from (show parameters)', 'tables()', 'select * from "sys.telemetry_wal"']) {
      expect((await plot(query)).json(), query).toMatchObject({ code: 'sql_forbidden' });
    }
    const drawn = await plot("select ts, price from trades -- all\nwhere symbol = 'BTC'; /* that's it */");
    expect([drawn.status, drawn.json().points], drawn.text).toEqual([200, 3]);
  });

  test('no file stays behind', async () => {
    const [own = ''] = await readdir(join(server.dataDir, 'live'));
    const folders = await readdir(join(server.dataDir, 'live', own)).catch(() => []);
    for (const folder of folders) expect(await readdir(join(server.dataDir, 'live', own, folder))).toEqual([]);
  });

  describe('with tenants', () => {
    let shared: Framehold;
    let granted: TenantCaller;
    let refused: TenantCaller;
    beforeAll(async () => {
      shared = await startFramehold({ settings: { 'tsdb.http_url': questdb.loginUrl, 'auth.enabled': 'true' } });
      granted = await tenantCaller(shared, 'granted', { engines: ['tsdb'] });
      refused = await tenantCaller(shared, 'refused', { engines: ['analytics'] });
    });
    afterAll(async () => {
      granted[Symbol.dispose]();
      refused[Symbol.dispose]();
      await shared[Symbol.asyncDispose]();
    });

    test('one that is granted the engine tsdb reads live tables, in a process that reads its files alone', async () => {
      expect((await granted.sql('SELECT max(amount) FROM tsdb.trades')).json().dataset).toEqual([[5]]);
      expect(await granted.rows('CommandStatementQuery', [1, 'SELECT count(*)::INT AS n FROM tsdb.trades'])).toEqual([
        { n: 5 },
      ]);
    });

    test.each([['SELECT * FROM tsdb.trades'], ["FROM tsdb.query('select 1')"], ['DESCRIBE tsdb.trades']])(
      'for another the database is not there: %s',
      async (text) => {
        const answer = await refused.sql(text);
        expect([answer.status, answer.json().code]).toEqual([412, 'tsdb_not_configured']);
        const tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'tsdb'";
        expect((await refused.sql(tables)).json().dataset).toEqual([]);
        expect(await refused.rows('CommandGetTables', [2, 'tsdb'])).toEqual([]);
      },
    );

    test('a view of another tenant shows its rows to those who are granted the engine, and not what it reads', async () => {
      await granted.sql("CREATE VIEW btc AS SELECT price FROM tsdb.trades WHERE symbol = 'BTC'");
      for (const tenant of ['refused', 'third']) {
        if (tenant === 'third') (await tenantCaller(shared, 'third', { engines: ['tsdb'] }))[Symbol.dispose]();
        await granted.ask('PUT', `/handles/btc/shares/${tenant}`);
      }
      using third = await tenantCaller(shared, 'third', { engines: ['tsdb'] });
      await expect
        .poll(async () => (await third.sql('SELECT count(*) FROM granted.btc')).json().dataset)
        .toEqual([[3]]);
      const answer = await third.sql('SELECT count(*) FROM granted.btc');
      expect(answer.headers['x-framehold-tsdb-pushed']).toBe('a view');
      expect((await refused.sql('SELECT count(*) FROM granted.btc')).json().code).toBe('tsdb_not_configured');
    });
  });
});

test('without an external database its tables are not there', async () => {
  await using server = await startFramehold();
  for (const text of ['SELECT * FROM tsdb.trades', "FROM tsdb.query('select 1')"]) {
    const answer = await postSql(server.url, text);
    expect([answer.status, answer.json().code]).toEqual([412, 'tsdb_not_configured']);
  }
});
