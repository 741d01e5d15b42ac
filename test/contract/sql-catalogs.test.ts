import { tableFromArrays } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAnalyticsDatabase } from '../support/analytics-database.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { FlightSqlClient, shownSchema } from '../support/flight-sql-client.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type TenantCaller, tenantCaller } from '../support/tenants.ts';

/** `desk` asks. `acme` shares one frame with it, and has another that desk must never hear of. */
let server: Framehold;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let desk: TenantCaller;
let acme: TenantCaller;
let lonely: TenantCaller;

/** Without authentication. */
const { client: flight } = await useFlightServer(FlightSqlClient);

beforeAll(async () => {
  directory = await temporaryDirectory();
  const { path } = directory;
  await createAnalyticsDatabase(path, [
    'CREATE SCHEMA analytics.eu',
    'CREATE TABLE analytics.eu.instruments (symbol VARCHAR, tick DECIMAL(9,4))',
    'CREATE VIEW analytics.main.ticks AS SELECT 1::DECIMAL(9,4) AS tick',
  ]);
  server = await startFramehold({ dataDir: path, settings: { 'auth.enabled': 'true' } });
  desk = await tenantCaller(server, 'desk');
  acme = await tenantCaller(server, 'acme');
  lonely = await tenantCaller(server, 'lonely', { engines: ['analytics'] });
  for (const [caller, sql] of [
    [acme, 'CREATE TABLE sales (amount DECIMAL(12,2))'],
    [acme, 'CREATE TABLE hidden_ledger (hidden_column INT)'],
    [desk, `CREATE TABLE trades (symbol VARCHAR, price DECIMAL(10,2), side ENUM('buy', 'sell'), "at" TIMESTAMP)`],
    [desk, 'CREATE TABLE "odd-one" ("a""b; DROP TABLE x" INT, tags VARCHAR[], u UNION(i INT, s VARCHAR)[], j JSON)'],
    [desk, "INSERT INTO trades VALUES ('A', 1, 'buy', now()), ('B', 2, 'sell', now())"],
  ] as const)
    expect((await caller.sql(sql)).text).not.toContain('error');
  expect((await acme.ask('PUT', '/handles/sales/shares/desk')).status).toBe(200);
});
afterAll(async () => {
  for (const caller of [desk, acme, lonely]) caller[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const rowsOf = (answer: Answer): unknown => (answer.status === 200 ? answer.json().dataset : answer.json());
const rows = async (sql: string, caller = desk): Promise<unknown> => rowsOf(await caller.sql(sql));
const bound = async (sql: string, params: unknown): Promise<unknown> =>
  rowsOf(await desk.ask('POST', '/sql', JSON.stringify({ sql, params })));

const tables = [
  ['acme', 'sales'],
  ['frames', 'odd-one'],
  ['frames', 'trades'],
];

describe('the catalogs list the frames that the caller may read', () => {
  test.each([
    'SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL',
    'SELECT table_schema, table_name FROM system.information_schema."TABLES" ORDER BY ALL',
    "SELECT DISTINCT table_schema, table_name FROM information_schema.columns WHERE table_catalog = 'framehold' ORDER BY ALL",
    'SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL',
    'SELECT schema_name, table_name FROM duckdb_tables ORDER BY ALL',
    'SELECT DISTINCT schema_name, table_name FROM duckdb_columns() WHERE NOT internal ORDER BY ALL',
    'SELECT schemaname, tablename FROM pg_catalog.pg_tables ORDER BY ALL',
    `SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON c.relnamespace = n.oid WHERE relkind = 'r' ORDER BY ALL`,
    'SELECT schema, name FROM (SHOW ALL TABLES) ORDER BY ALL',
    'WITH t AS (FROM duckdb_tables()) SELECT schema_name, table_name FROM t ORDER BY ALL',
  ])('%s', async (sql) => {
    expect(await rows(sql)).toEqual(tables);
  });

  test('in SHOW TABLES, SHOW ALL TABLES and their kin', async () => {
    expect(await rows('FROM (SHOW TABLES)')).toEqual([['odd-one'], ['trades']]);
    expect(await rows('SHOW TABLES')).toEqual([['acme.sales'], ['odd-one'], ['trades']]);
    expect(await rows('PRAGMA show_tables')).toEqual([['acme.sales'], ['odd-one'], ['trades']]);
    expect(await rows('SHOW TABLES FROM acme')).toEqual([['sales']]);
    expect(await rows('SHOW DATABASES')).toEqual([['framehold']]);
    expect(await rows('SELECT schema_name FROM (SHOW SCHEMAS) ORDER BY 1')).toEqual([['acme'], ['frames'], ['main']]);
    expect(await rows('SELECT name FROM sqlite_master ORDER BY 1')).toEqual([['odd-one'], ['sales'], ['trades']]);
  });

  test('with the types of their columns as they were declared', async () => {
    expect(
      await rows(
        `SELECT column_name, data_type, ordinal_position, is_nullable, numeric_precision, numeric_scale
         FROM information_schema.columns WHERE table_name = 'trades' ORDER BY ordinal_position`,
      ),
    ).toEqual([
      ['symbol', 'VARCHAR', 1, 'YES', null, null],
      ['price', 'DECIMAL(10,2)', 2, 'YES', 10, 2],
      ['side', "ENUM('buy', 'sell')", 3, 'YES', null, null],
      ['at', 'TIMESTAMP', 4, 'YES', null, null],
    ]);
    const described = (await rows(`SELECT name, type FROM pragma_table_info('odd-one')`)) as unknown[];
    expect(described).toEqual([
      ['a"b; DROP TABLE x', 'INTEGER'],
      ['tags', 'VARCHAR[]'],
      ['u', 'UNION(i INTEGER, s VARCHAR)[]'],
      ['j', 'JSON'],
    ]);
    for (const name of [`'frames.trades'`, 'trades', `'trades'`, `'framehold.frames.trades'`])
      expect([name, ((await rows(`PRAGMA table_info(${name})`)) as unknown[]).length]).toEqual([name, 4]);
  });

  test('and nothing of other tenants, of files or of settings', async () => {
    const texts = await Promise.all(
      [
        ...['tables', 'columns', 'views', 'schemata', 'table_constraints', 'key_column_usage', 'character_sets'].map(
          (view) => `FROM information_schema.${view}`,
        ),
        ...['tables', 'columns', 'views', 'schemas', 'databases', 'types', 'constraints', 'indexes'].map(
          (view) => `FROM duckdb_${view}`,
        ),
        ...['dependencies', 'functions', 'keywords', 'sequences'].map((name) => `FROM duckdb_${name}()`),
        ...`am attrdef attribute class collation constraint database depend description enum index indexes namespace
          proc sequence sequences tables tablespace type views`
          .split(/\s+/)
          .map((view) => `FROM pg_${view}`),
        'FROM pragma_database_list',
        'PRAGMA database_list',
        'PRAGMA version',
        'SELECT current_schemas(true), current_database(), current_schema(), current_user',
      ].map(async (sql) => {
        const answer = await desk.sql(sql);
        expect([sql, answer.status]).toEqual([sql, 200]);
        return answer.text;
      }),
    );
    const all = texts.join('\n');
    expect(all).toContain('trades');
    for (const text of ['hidden', server.dataDir, 'lonely', 'spill', '/cold/', 'insert_target', 'arrow_1', '_warm_'])
      expect([text, all.includes(text)]).toEqual([text, false]);
  });

  test('and the tables of the database analytics where it is granted, without its path', async () => {
    const databases = 'SELECT database_name, path FROM duckdb_databases ORDER BY 1';
    expect(await rows(databases)).toEqual([['framehold', null]]);
    expect(await rows(databases, lonely)).toEqual([
      ['analytics', null],
      ['framehold', null],
    ]);
    const columns = `SELECT c.table_schema, c.table_name, table_type, column_name, data_type
      FROM information_schema.columns c JOIN information_schema.tables USING (table_catalog, table_schema, table_name)
      ORDER BY ALL`;
    expect(await rows(columns, lonely)).toEqual([
      ['eu', 'instruments', 'BASE TABLE', 'symbol', 'VARCHAR'],
      ['eu', 'instruments', 'BASE TABLE', 'tick', 'DECIMAL(9,4)'],
      ['main', 'ticks', 'VIEW', 'tick', 'DECIMAL(9,4)'],
    ]);
    expect(await rows('SELECT count(*) FROM pg_class, analytics.eu.instruments', lonely)).toMatchObject({
      code: 'sql_forbidden',
    });
  });
});

describe('client tools', () => {
  test('SQLAlchemy’s dialects find tables, columns and keys', async () => {
    expect(
      await rows(`SELECT table_oid, table_name FROM (
        SELECT table_oid, table_name, schema_name FROM duckdb_tables() UNION ALL
        SELECT view_oid, view_name, schema_name FROM duckdb_views()) WHERE schema_name = 'frames' AND table_name = 'trades'`),
    ).toEqual([[expect.any(Number), 'trades']]);
    expect(
      await bound(
        `SELECT pg_catalog.pg_attribute.attname AS name, pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod) AS format_type,
           (SELECT pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) FROM pg_catalog.pg_attrdef
            WHERE pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) AS "default",
           pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_description.description AS comment
         FROM pg_catalog.pg_class
         LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > $1 AND NOT pg_catalog.pg_attribute.attisdropped
         LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum
         JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
         WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid)
           AND pg_catalog.pg_namespace.nspname != 'pg_catalog' AND pg_catalog.pg_class.relname IN ($2)
         ORDER BY pg_catalog.pg_attribute.attnum`,
        [0, 'trades'],
      ),
    ).toMatchObject([['symbol'], ['price'], ['side'], ['at']].map((row) => expect.arrayContaining(row)));
    expect(
      await rows(`SELECT constraint_name FROM information_schema.table_constraints WHERE table_name = 'trades'`),
    ).toEqual([]);
  });

  test('dbt, Metabase and Superset find schemas, tables and columns', async () => {
    expect(
      await rows(`select 'framehold' as database, table_name as name, table_schema as schema,
        CASE table_type WHEN 'BASE TABLE' THEN 'table' WHEN 'VIEW' THEN 'view' WHEN 'LOCAL TEMPORARY' THEN 'table' END as type
        from system.information_schema.tables
        where lower(table_schema) = 'frames' and lower(table_catalog) = 'framehold' order by 2`),
    ).toEqual([
      ['framehold', 'odd-one', 'frames', 'table'],
      ['framehold', 'trades', 'frames', 'table'],
    ]);
    expect(
      await rows(
        `select distinct schema_name from system.information_schema.schemata where catalog_name = 'framehold'`,
      ),
    ).toHaveLength(3);
    expect(
      await bound(
        `select column_name, data_type, character_maximum_length, numeric_precision, numeric_scale
         from system.information_schema.columns where table_name = ? and table_schema = ? order by ordinal_position limit ?`,
        ['trades', 'frames', 2],
      ),
    ).toEqual([
      ['symbol', 'VARCHAR', null, null, null],
      ['price', 'DECIMAL(10,2)', null, 10, 2],
    ]);
  });

  test('psql-like tools and jOOQ ask pg_catalog', async () => {
    expect(
      await rows(`SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END AS "Type",
          has_table_privilege(c.oid, 'SELECT') AS readable, obj_description(c.oid, 'pg_class') AS comment
        FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r','p','v','m','S','f','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' ORDER BY 1, 2`),
    ).toEqual([
      ['acme', 'sales', 'table', true, null],
      ['frames', 'odd-one', 'table', true, null],
      ['frames', 'trades', 'table', true, null],
    ]);
    expect(await rows('SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1')).toContainEqual([
      'framehold',
    ]);
    expect(await rows("SELECT typname FROM pg_type WHERE typname = 'int8' LIMIT 1")).toEqual([['int8']]);
  });

  test('bind parameters that the catalogs do not show', async () => {
    const sql =
      'SELECT count(*), max($like) FROM duckdb_tables() WHERE table_name LIKE $like AND column_count >= $least';
    expect(await bound(sql, { like: '%', least: 1 })).toEqual([[3, '%']]);
    expect(await bound('SELECT ? IN (SELECT table_name FROM duckdb_tables)', ["it's"])).toEqual([[false]]);
    expect(await bound('SELECT count(*) FROM duckdb_tables() WHERE ? IS NULL', [null])).toEqual([[3]]);
  });

  test('get the same over Flight SQL, also prepared', async () => {
    const query = `SELECT table_name FROM information_schema.tables WHERE table_schema = 'frames' ORDER BY 1`;
    expect(await desk.rows('CommandStatementQuery', [1, query])).toEqual([
      { table_name: 'odd-one' },
      { table_name: 'trades' },
    ]);
    await flight.query('create table held as select 1 as a');
    const sql = 'SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? AND NOT internal';
    const { handle, datasetSchema, parameterSchema } = await flight.prepare(sql);
    expect(shownSchema(datasetSchema)).toEqual(['column_name Utf8', 'data_type Utf8']);
    expect(shownSchema(parameterSchema)).toEqual(['1 Utf8']);
    await flight.bind(handle, tableFromArrays({ 1: ['held'] }));
    expect(await flight.execute(handle)).toEqual([{ column_name: 'a', data_type: 'INTEGER' }]);
    await flight.query('create or replace table held as select true as b');
    expect(await flight.execute(handle)).toEqual([{ column_name: 'b', data_type: 'BOOLEAN' }]);
  });
});

describe('a statement that reads catalogs', () => {
  test('reads no rows of tables, and says what to do instead', async () => {
    expect(await rows('SELECT (SELECT count(*) FROM duckdb_tables()), symbol FROM trades')).toMatchObject({
      code: 'sql_forbidden',
      error: 'one statement cannot read catalogs and rows of tables',
      position: 29,
    });
  });

  test('makes a frame, which can be joined and inserted', async () => {
    expect(
      (await desk.sql('CREATE TABLE listed AS SELECT table_name, column_name FROM information_schema.columns')).status,
    ).toBe(200);
    expect(await rows('SELECT count(*) FROM listed, trades')).toEqual([[18]]);
    expect(
      await rows('INSERT INTO listed SELECT table_name, column_name FROM information_schema.columns'),
    ).toMatchObject({
      code: 'sql_forbidden',
      hint: expect.stringContaining('CREATE TABLE'),
    });
    expect((await desk.sql('DROP TABLE listed')).status).toBe(200);
  });

  test('fails as any other does', async () => {
    expect(await rows('SELECT tabel_name FROM information_schema.tables')).toMatchObject({
      code: 'sql_error',
      error: expect.stringContaining('table_name'),
      position: 7,
    });
    expect(await rows(`FROM pragma_table_info('/etc/passwd')`)).toMatchObject({ code: 'sql_error' });
    expect(await rows(`FROM pragma_table_info('acme.hidden_ledger')`)).toMatchObject({ code: 'sql_error' });
    expect(await rows('FROM pg_settings')).toMatchObject({ code: 'sql_forbidden' });
  });
});

test('catalogs follow what happens to frames, at once', async () => {
  const names = () =>
    rows("SELECT table_name, column_count FROM duckdb_tables() WHERE table_name LIKE 'n%' ORDER BY ALL");
  expect(await names()).toEqual([]);
  await desk.sql('CREATE TABLE n1 (a INT)');
  await desk.sql('CREATE TABLE n2 (a INT, b INT)');
  expect(await names()).toEqual([
    ['n1', 1],
    ['n2', 2],
  ]);
  await desk.sql('CREATE OR REPLACE TABLE n1 AS SELECT 1 AS a, 2 AS b, 3 AS c');
  await desk.sql('INSERT INTO n2 VALUES (1, 2)');
  await desk.sql('DROP TABLE n2');
  await desk.sql('CREATE TABLE N2 (z INT)');
  expect(await names()).toEqual([['n1', 3]]);
  expect(await rows("SELECT table_name, column_name FROM duckdb_columns WHERE lower(table_name) = 'n2'")).toEqual([
    ['N2', 'z'],
  ]);
  await desk.sql('DROP TABLE n1');
  await desk.sql('DROP TABLE N2');
  expect(await names()).toEqual([]);
  expect((await acme.ask('DELETE', '/handles/sales/shares/desk')).status).toBe(200);
  expect(await rows('SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL')).toEqual(tables.slice(1));
  expect(await rows("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'acme'")).toEqual([[0]]);
});

test('a frame with the name of a catalog neither hides that nor is it made by a statement', async () => {
  const headers = { ...desk.headers, 'content-type': 'text/csv' };
  for (const name of ['pg_type', 'sqlite_master']) {
    const kept = await ask(`${server.url}/imp?name=${name}`, { method: 'POST', headers, body: 'zz\n5\n' });
    expect([name, kept.status]).toEqual([name, 200]);
  }
  expect(await rows("SELECT typname FROM pg_type WHERE typname = 'int8' LIMIT 1")).toEqual([['int8']]);
  expect(await rows("SELECT count(*) FROM sqlite_master WHERE name = 'trades'")).toEqual([[1]]);
  expect(await rows("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'pg_type'")).toEqual([[0]]);
  for (const sql of ['CREATE TABLE pg_class AS SELECT 1 AS a', 'CREATE VIEW duckdb_views AS SELECT 1 AS a'])
    expect((await desk.sql(sql)).json()).toMatchObject({
      code: 'sql_forbidden',
      error: expect.stringContaining("is a name of DuckDB's own catalogs"),
    });
  for (const name of ['pg_type', 'sqlite_master']) expect((await desk.sql(`DROP TABLE ${name}`)).status).toBe(200);
});

test('constraints are told as DuckDB tells them', async () => {
  await desk.sql(
    `CREATE TABLE kept (id INT PRIMARY KEY, code VARCHAR NOT NULL DEFAULT 'x' UNIQUE, n INT CHECK (n > 0), twice INT AS (n * 2))`,
  );
  expect(
    await rows(
      `SELECT constraint_type, constraint_column_names FROM duckdb_constraints() WHERE table_name = 'kept' ORDER BY ALL`,
    ),
  ).toEqual([
    ['CHECK', ['n']],
    ['NOT NULL', ['code']],
    ['NOT NULL', ['id']],
    ['PRIMARY KEY', ['id']],
    ['UNIQUE', ['code']],
  ]);
  expect(
    await rows(
      `SELECT column_name, is_nullable, column_default FROM information_schema.columns WHERE table_name = 'kept'`,
    ),
  ).toEqual([
    ['id', 'NO', null],
    ['code', 'NO', "'x'"],
    ['n', 'YES', null],
    ['twice', 'YES', 'CAST((n * 2) AS INTEGER)'],
  ]);
  expect(await rows("SELECT name, pk FROM pragma_table_info('kept') WHERE pk")).toEqual([['id', true]]);
  expect((await desk.sql('DROP TABLE kept')).status).toBe(200);
});

test('what an INSERT adds, and what a table declares, asks no catalogs', async () => {
  for (const sql of [
    'CREATE TABLE leak (a VARCHAR DEFAULT pg_get_viewdef(1))',
    'INSERT INTO trades (symbol) VALUES (pg_get_viewdef(1))',
    'INSERT INTO trades (symbol) SELECT sql FROM duckdb_views()',
  ])
    expect([sql, await rows(sql)]).toMatchObject([
      sql,
      { code: 'sql_forbidden', error: 'catalogs cannot be read here' },
    ]);
});

test('of frames whose names differ only in case the first is listed, and a frame may have 2,000 columns', async () => {
  const columns = Array.from({ length: 2000 }, (_, n) => `c${n} INT`).join();
  for (const sql of ['CREATE TABLE "Twin" (a INT)', `CREATE TABLE wide (${columns})`])
    expect((await lonely.sql(sql)).text).not.toContain('error');
  expect((await lonely.ask('POST', '/imp?name=twin', 'b\n1\n')).status).toBe(200);
  const counts = `SELECT table_name, count(*) FROM duckdb_columns()
    WHERE database_name = 'framehold' AND NOT internal GROUP BY ALL ORDER BY 1`;
  expect(await rows(counts, lonely)).toEqual([
    ['Twin', 1],
    ['wide', 2000],
  ]);
  expect(await rows("SELECT name FROM pragma_table_info('TWIN')", lonely)).toEqual([['a']]);
  expect(await rows('SHOW TABLES', lonely)).toEqual([['Twin'], ['twin'], ['wide']]);
});

test('another server on the same directory tells of the same frames', async () => {
  await using other = await startFramehold({ dataDir: server.dataDir, settings: { 'auth.enabled': 'true' } });
  const told = async (columns: string): Promise<boolean> => {
    const sql = "SELECT column_name FROM duckdb_columns WHERE table_name = 'beside'";
    const body = JSON.stringify({ sql });
    const answer = await ask(`${other.url}/sql`, { method: 'POST', headers: desk.headers, body });
    return JSON.stringify(rowsOf(answer)) === columns;
  };
  await eventually(() => told('[]'));
  await desk.sql('CREATE TABLE beside (a INT)');
  await eventually(() => told('[["a"]]'));
  await desk.sql('CREATE OR REPLACE TABLE beside AS SELECT 1 AS b');
  await eventually(() => told('[["b"]]'));
  await desk.sql('DROP TABLE beside');
  await eventually(() => told('[]'));
});

test('main is another name of the schema of frames', async () => {
  expect(await rows('SELECT count(*) FROM main.trades')).toEqual([[2]]);
  expect(await rows('SELECT max(main.trades.price) FROM framehold.main.trades')).toEqual([['2.00']]);
  expect(await rows('SELECT count(*) FROM main.trades a, trades b, frames.trades c')).toEqual([[8]]);
  expect(await rows('CREATE TABLE main.made AS SELECT 1 AS a')).toBeUndefined();
  expect((await desk.sql('INSERT INTO framehold.main.made VALUES (2)')).status).toBe(200);
  expect(await rows('SELECT sum(a)::INT FROM made')).toEqual([[3]]);
  expect((await desk.sql('DROP TABLE main.made')).status).toBe(200);
  expect(await rows('FROM main.made')).toMatchObject({ code: 'handle_gone' });
  expect(await rows('FROM main.hidden_ledger')).toMatchObject({ code: 'sql_error' });
});
