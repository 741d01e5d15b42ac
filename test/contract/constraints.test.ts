import { Int64, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byPath } from '../support/flight-client.ts';
import { FlightSqlClient, shownSchema } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';

let server: Framehold;
let flight: FlightSqlClient;
beforeAll(async () => {
  server = await startFramehold();
  flight = new FlightSqlClient(server.grpcAddress.port);
});
afterAll(async () => {
  flight[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const json = { 'content-type': 'application/json' };

async function run(command: object, { url }: Pick<Framehold, 'url'> = server): Promise<Answer> {
  return await ask(`${url}/sql`, { method: 'POST', headers: json, body: JSON.stringify(command) });
}

async function change(sql: string, on?: Framehold): Promise<void> {
  const answer = await run({ sql }, on);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
}

async function rows(sql: string, on?: Framehold): Promise<unknown[][]> {
  const answer = await run({ sql }, on);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  return answer.json().dataset as unknown[][];
}

/** Code and message of what is refused. */
async function refusal(sql: string, on?: Framehold, params?: unknown): Promise<string> {
  const { code, error } = (await run({ sql, params }, on)).json();
  return `${code}: ${error}`;
}

async function described(handle: string, { url } = server): Promise<Record<string, unknown>> {
  return (await ask(`${url}/handles/${handle}`)).json();
}

/** Ids and names as an Arrow stream. */
function arrow(ids: readonly (number | null)[], names: readonly (string | null)[]): Uint8Array {
  const columns = {
    id: vectorFromArray(
      ids.map((id) => (id === null ? null : BigInt(id))),
      new Int64(),
    ),
    name: vectorFromArray(names, new Utf8()),
  };
  return tableToIPC(new Table(columns), 'stream');
}

describe('a definition as clients write it makes a frame', () => {
  test.each([
    ['Spark over JDBC', 'CREATE TABLE spark ("id" BIGINT NOT NULL, "name" TEXT , "price" DECIMAL(10,2) )'],
    [
      'SQLAlchemy',
      `
CREATE TABLE users (
	id INTEGER NOT NULL, 
	name VARCHAR(30) NOT NULL, 
	fullname VARCHAR, 
	created TIMESTAMP WITHOUT TIME ZONE DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
)

`,
    ],
    [
      'SQLAlchemy, with a foreign key',
      `
CREATE TABLE addresses (
	id INTEGER NOT NULL, 
	email VARCHAR NOT NULL, 
	user_id INTEGER NOT NULL, 
	CONSTRAINT pk_addresses PRIMARY KEY (id), 
	CONSTRAINT "ck ""email" CHECK (email LIKE '%@%'), 
	FOREIGN KEY(user_id) REFERENCES users (id)
)`,
    ],
    ['DuckDB', "CREATE OR REPLACE TABLE duck (i INT PRIMARY KEY CHECK (i > 0), s TEXT DEFAULT 'it''s' UNIQUE NULL,)"],
  ])('%s', async (_, sql) => {
    expect((await run({ sql })).json()).toEqual({ ddl: 'OK' });
  });

  test('and GET /handles/{handle} shows it', async () => {
    await change(`CREATE TABLE shown (
      a BIGINT, B VARCHAR DEFAULT 'x' || /* a comment */ 'y' NOT NULL, c INT CHECK (c > 0), d INT AS (c*2) STORED,
      CONSTRAINT pk PRIMARY KEY (b, A), UNIQUE (c), FOREIGN KEY (a, c) REFERENCES frames."u v" (x, y))`);
    expect(await described('shown')).toMatchObject({
      columns: [
        { name: 'a', type: 'LONG', nullable: false },
        { name: 'B', type: 'VARCHAR', nullable: false, default: "'x' || 'y'" },
        { name: 'c', type: 'INT' },
        { name: 'd', type: 'INT', generated: 'c*2' },
      ],
      constraints: {
        primaryKey: ['B', 'a'],
        unique: [['c']],
        checks: ['c > 0'],
        foreignKeys: [{ columns: ['a', 'c'], table: 'u v', references: ['x', 'y'] }],
      },
    });
    await change('CREATE TABLE plain (a BIGINT NULL)');
    expect(await described('plain')).not.toHaveProperty('constraints');
  });

  test('and Flight SQL tells its primary key, and which columns take no NULL', async () => {
    await change('CREATE TABLE keyed (a INT, b INT, c INT, CONSTRAINT pk PRIMARY KEY (c, a))');
    const key = { catalog_name: 'framehold', db_schema_name: 'frames', table_name: 'keyed', key_name: 'pk' };
    const keys = [
      { ...key, column_name: 'c', key_sequence: 1 },
      { ...key, column_name: 'a', key_sequence: 2 },
    ];
    expect(await flight.ask('CommandGetPrimaryKeys', [3, 'keyed'])).toEqual(keys);
    expect(await flight.ask('CommandGetPrimaryKeys', [1, 'framehold'], [2, 'frames'], [3, 'KEYED'])).toEqual(keys);
    expect(await flight.ask('CommandGetPrimaryKeys', [1, 'other'], [3, 'keyed'])).toEqual([]);
    expect(await flight.ask('CommandGetPrimaryKeys', [3, 'key%'])).toEqual([]);
    const [table] = await flight.ask('CommandGetTables', [3, 'keyed'], [5, true]);
    expect(shownSchema(table?.table_schema as Uint8Array).map((field) => !field.endsWith('!'))).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('and Flight SQL tells foreign keys, of both sides', async () => {
    await change('CREATE TABLE parents (a INT, "B b" INT, CONSTRAINT ppk PRIMARY KEY (a, "B b"))');
    await change('CREATE TABLE children (x INT, y INT, CONSTRAINT cfk FOREIGN KEY (y, x) REFERENCES PARENTS)');
    await change('CREATE TABLE orphans (x INT REFERENCES nowhere, y INT REFERENCES nothing (z))');
    const [pk, fk] = ['pk', 'fk'].map((side) => ({
      [`${side}_catalog_name`]: 'framehold',
      [`${side}_db_schema_name`]: 'frames',
    }));
    const key = {
      ...pk,
      ...fk,
      pk_table_name: 'parents',
      fk_table_name: 'children',
      fk_key_name: 'cfk',
      pk_key_name: 'ppk',
    };
    const rules = { update_rule: 3, delete_rule: 3 };
    const keys = [
      { ...key, pk_column_name: 'a', fk_column_name: 'y', key_sequence: 1, ...rules },
      { ...key, pk_column_name: 'B b', fk_column_name: 'x', key_sequence: 2, ...rules },
    ];
    expect(await flight.ask('CommandGetImportedKeys', [3, 'children'])).toEqual(keys);
    expect(await flight.ask('CommandGetExportedKeys', [1, 'framehold'], [2, 'frames'], [3, 'Parents'])).toEqual(keys);
    expect(await flight.ask('CommandGetCrossReference', [3, 'parents'], [6, 'children'])).toEqual(keys);
    expect(await flight.ask('CommandGetCrossReference', [3, 'children'], [6, 'parents'])).toEqual([]);
    expect(await flight.ask('CommandGetExportedKeys', [3, 'children'])).toEqual([]);
    expect(await flight.ask('CommandGetImportedKeys', [3, 'orphans'])).toMatchObject([
      { pk_table_name: 'nothing', pk_column_name: 'z', fk_column_name: 'y', fk_key_name: null },
    ]);
  });

  test('also as a prepared statement of Flight SQL, whose parameters have the types of the columns', async () => {
    const made = await flight.prepare("CREATE TABLE prepared (id BIGINT NOT NULL, name VARCHAR DEFAULT 'x')");
    expect(made.isUpdate).toBe(1n);
    await flight.update('CommandPreparedStatementUpdate', [[1, made.handle]]);
    const insert = await flight.prepare('INSERT INTO prepared VALUES (?, DEFAULT)');
    expect(shownSchema(insert.parameterSchema)).toEqual([expect.stringMatching(/Int64/)]);
    const ids = tableToIPC(new Table({ id: vectorFromArray([1n, 2n], new Int64()) }), 'stream');
    expect(await flight.update('CommandPreparedStatementUpdate', [[1, insert.handle]], ids)).toBe(2);
    expect(await flight.query('FROM prepared')).toEqual([
      { id: 1n, name: 'x' },
      { id: 2n, name: 'x' },
    ]);
  });

  test('whose constraints go with the rows that a put replaces, and with a new definition', async () => {
    await change('CREATE TABLE replaced (a INT NOT NULL)');
    await change('CREATE OR REPLACE TABLE replaced (a INT)');
    await change('INSERT INTO replaced VALUES (NULL)');
    await change('CREATE OR REPLACE TABLE replaced (a INT NOT NULL)');
    await run({ sql: 'SELECT 1 AS a', keep: { handle: 'replaced', mode: 'overwrite' } });
    await change('INSERT INTO replaced VALUES (NULL)');
    await change('CREATE TABLE copied AS SELECT * FROM spark');
    await change('INSERT INTO copied VALUES (NULL, NULL, NULL)');
  });
});

describe('an INSERT', () => {
  test('refuses NULL in a column that is NOT NULL or of the primary key, and names the frame', async () => {
    await change('CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR NOT NULL)');
    const noNote = 'sql_error: column "note" of orders takes no NULL';
    expect(await refusal("INSERT INTO orders VALUES (NULL, 'x')")).toBe(noNote.replace('note', 'id'));
    expect(await refusal('INSERT INTO orders (id) VALUES (1)')).toBe(noNote);
    expect(await refusal('INSERT INTO orders SELECT range, NULL FROM range(9)')).toBe(noNote);
    expect(await refusal('INSERT INTO orders VALUES (?, ?)', server, [1, null])).toBe(noNote);
    await expect(flight.query('INSERT INTO orders (id) VALUES (1)')).rejects.toThrow('column "note" of orders');
    await change("INSERT INTO orders VALUES (1, 'x'), (1, 'x')");
    expect(await rows('SELECT count(*) FROM orders')).toEqual([[2]]);
  });

  test('gives columns that it leaves out their DEFAULT, each row its own', async () => {
    await change(`CREATE TABLE filled (a INT, b VARCHAR DEFAULT 'x', r DOUBLE DEFAULT random(),
      t TIMESTAMPTZ DEFAULT now(), e ENUM('a', 'b') DEFAULT 'a', l INT[] DEFAULT [1, 2], n INT DEFAULT NULL)`);
    await change('INSERT INTO filled (a) SELECT range FROM range(100)');
    await change("INSERT INTO filled (a, b) VALUES (100, DEFAULT), (101, NULL), (102, 'y'),");
    await change('INSERT INTO filled DEFAULT VALUES');
    expect((await run({ sql: 'INSERT INTO filled (a) VALUES (?)', params: [103] })).status).toBe(200);
    expect((await run({ sql: 'INSERT INTO filled (a, b) VALUES (?, DEFAULT)', params: [104] })).status).toBe(200);
    expect(
      await rows('SELECT count(*), count(b), count(DISTINCT r), count(t), any_value(e), count(n) FROM filled'),
    ).toEqual([[106, 105, 106, 106, 'a', 0]]);
    expect(await rows("SELECT DISTINCT l, b FROM filled WHERE b = 'x'")).toEqual([[[1, 2], 'x']]);
    expect(await rows('SELECT count(*) FROM filled WHERE a IS NULL')).toEqual([[1]]);
  });

  test('checks CHECK under the standard settings, whatever those of the statement are', async () => {
    await change("CREATE TABLE exact (x VARCHAR CHECK (x = 'a'), y INT CHECK (y / 2 = 1), z TIMESTAMPTZ)");
    await change("INSERT INTO exact VALUES ('a', 2, NULL)");
    const [nocase, whole] = [{ default_collation: 'NOCASE' }, { integer_division: true }];
    for (const [sql, settings] of [
      ["INSERT INTO exact VALUES ('A', 2, NULL)", nocase],
      ["INSERT INTO exact VALUES ('a', 3, NULL)", whole],
      ["UPDATE exact SET x = 'A'", nocase],
      ["MERGE INTO exact USING (SELECT 'a' AS x) AS s ON exact.x = s.x WHEN MATCHED THEN UPDATE SET y = 3", whole],
    ] as const)
      expect((await run({ sql, settings })).json(), sql).toMatchObject({
        code: 'invalid_parameter',
        error: expect.stringContaining(Object.keys(settings)[0] ?? ''),
      });
    const zone = { sql: "INSERT INTO exact VALUES ('a', 2, '2026-01-01')", settings: { TimeZone: 'Asia/Tokyo' } };
    expect((await run(zone)).status).toBe(200);
    expect((await run({ sql: "DELETE FROM exact WHERE x = 'A'", settings: nocase })).json()).toMatchObject({
      updated: 2,
    });
  });

  test('checks CHECK, and tells what fails in it', async () => {
    await change(
      'CREATE TABLE checked (a INT CHECK (a > 0), b INT, CONSTRAINT "c""" CHECK (10 // b < a + CAST(b AS INT)))',
    );
    expect(await refusal('INSERT INTO checked VALUES (0, 1)')).toBe(
      'sql_error: CHECK constraint failed on table checked with expression CHECK((a > 0))',
    );
    expect(await refusal('INSERT INTO checked VALUES (1, 1)')).toMatch(/failed on table checked with/);
    await change('INSERT INTO checked VALUES (1, 0), (NULL, NULL), (20, 1)');
    expect(await rows('SELECT count(*) FROM checked')).toEqual([[3]]);
    await change('CREATE TABLE failing (s VARCHAR CHECK (s::INT > 0))');
    expect(await refusal("INSERT INTO failing VALUES ('x')")).toMatch(
      /^sql_error: CHECK constraint failed on table failing .*Could not convert string 'x'/,
    );
  });

  test('computes generated columns, and takes no values for them', async () => {
    await change(
      "CREATE TABLE made (d AS (a * 2), a INT, e VARCHAR GENERATED ALWAYS AS (d || '!') VIRTUAL, f INT AS (a) STORED)",
    );
    await change('INSERT INTO made VALUES (1), (NULL)');
    await change('INSERT INTO made (a) VALUES (3)');
    expect(await rows('FROM made')).toEqual([
      [2, 1, '2!', 1],
      [null, null, null, null],
      [6, 3, '6!', 3],
    ]);
    await change('INSERT INTO made DEFAULT VALUES');
    expect(await refusal('INSERT INTO made (a, d) VALUES (1, 2)')).toBe(
      'sql_error: cannot insert into a generated column',
    );
    expect(await refusal('INSERT INTO made VALUES (1, 2, 3, 4)')).toMatch(/made has 1 columns but 4 values/);
  });

  test('finds columns by their names, and by their positions when told so', async () => {
    await change("CREATE TABLE matched (a INT, b VARCHAR DEFAULT 'x', c INT)");
    await change('INSERT INTO matched BY NAME SELECT 3 AS c, 1 AS A');
    await change("INSERT INTO matched BY POSITION SELECT 4, 'y', 5");
    await change('INSERT INTO matched AS m (c, a,) VALUES (7, 6)');
    expect((await run({ sql: 'INSERT INTO matched BY NAME SELECT $1::INT AS a', params: [8] })).status).toBe(200);
    expect(await rows('FROM matched')).toEqual([
      [1, 'x', 3],
      [4, 'y', 5],
      [6, 'x', 7],
      [8, 'x', null],
    ]);
    expect(await refusal('INSERT INTO matched BY NAME SELECT 1 AS z')).toMatch(/^sql_error: .*matched.*"z"/);
  });
});

test('names of columns before AS rename those of the query, from the first', async () => {
  await change("CREATE TABLE renamed (x, \"Y y\") AS SELECT 1 AS a, 'b'::ENUM('b') AS b, 3 AS c ORDER BY ALL");
  expect((await run({ sql: 'FROM renamed' })).json()).toMatchObject({
    columns: [{ name: 'x' }, { name: 'Y y' }, { name: 'c' }],
    dataset: [[1, 'b', 3]],
  });
  expect(await refusal("INSERT INTO renamed VALUES (1, 'z', 1)")).toMatch(/^sql_error/);
  await change('CREATE TABLE renamed_empty (x) AS SELECT 1 WITH NO DATA');
  expect(await rows('SELECT count(x) FROM renamed_empty')).toEqual([[0]]);
  expect(await refusal('CREATE TABLE too_many (x, y) AS SELECT 1')).toMatch(/1 columns available but 2/);
});

describe('a column that is NOT NULL takes no NULL', () => {
  beforeAll(async () => {
    await change('CREATE TABLE strict (id BIGINT NOT NULL, name VARCHAR)');
    await change("INSERT INTO strict VALUES (1, 'a')");
  });
  const many = Array.from({ length: 50_000 }, (_, n) => n);
  const append = { appMetadata: { mode: 'append' } };

  test.each([
    ['few rows', [1, null, 3], 'in row 2 of these'],
    ['many rows', [...many.slice(0, -1), null], 'in row 50000 of these'],
  ])('from a DoPut of %s', async (_, ids, where) => {
    const names = ids.map(() => null);
    const answer = await flight.flight.put(byPath('strict'), arrow(ids, names), append);
    expect(answer.code).toBe('schema_mismatch');
    expect(answer.status.details).toContain(`column "id" of strict is NULL ${where}`);
    const taken = await flight.flight.put(byPath('strict'), arrow(ids.map(Number), names), append);
    expect(taken.status.code).toBe(0);
  });

  test('from POST /imp', async () => {
    for (const body of [arrow([null], ['a']), 'id,name\n1,a\n,b\n', '{"id":1,"name":"a"}\n{"name":"b"}\n']) {
      const answer = await importRaw(server, 'name=strict&append=true', body);
      expect(answer.json()).toMatchObject({
        code: 'schema_mismatch',
        error: expect.stringContaining('"id" of strict'),
      });
    }
    expect((await importRaw(server, 'name=strict&append=true', 'id,name\n1,\n')).status).toBe(200);
  });

  test('from POST /write, which knows no DEFAULT', async () => {
    await change("CREATE TABLE lines (px DOUBLE NOT NULL, sym VARCHAR DEFAULT 'x', timestamp TIMESTAMP_NS)");
    const write = (body: string): Promise<Answer> => ask(`${server.url}/write?columns=add`, { method: 'POST', body });
    const refused = await write('lines px=1.5 1763424000000000001\nlines sym="a" 1763424000000000002\n');
    expect(refused.text).toContain('of lines is NULL in row 2 of these');
    expect((await write('lines px=1.5 1763424000000000001\n')).status).toBe(204);
    expect((await write('lines px=2,other=3 1763424000000000001\n')).status).toBe(204);
    expect((await write('lines sym="b",more=3 1763424000000000001\n')).text).toContain('of lines is NULL');
    expect(await rows('SELECT px, sym, other FROM lines')).toEqual([
      [1.5, null, null],
      [2, null, 3],
    ]);
  });

  test('from a Parquet file, in whichever of many columns it is', async () => {
    const names = Array.from({ length: 300 }, (_, n) => `"c, ${n}"`);
    await change(
      `CREATE TABLE wide ("c" STRUCT("0" INT), l INT[] NOT NULL, ${names.map((name) => `${name} INT NOT NULL`)})`,
    );
    const file = async (values: string): Promise<Buffer> => {
      const columns = names.map((name, n) => `${n} AS ${name}`).join(', ');
      const sql = `SELECT {'0': 1} AS c, [NULL]::INT[] AS l, ${columns} FROM range(3) t(n)`;
      const query = `SELECT * REPLACE (${values}) FROM (${sql.replace('SELECT ', 'SELECT n, ')})`;
      const made = await run({ sql: `SELECT * EXCLUDE (n) FROM (${query})`, format: 'parquet' });
      if (made.status !== 200) throw new Error(made.text);
      return made.body;
    };
    const importWide = async (values: string): Promise<Answer> =>
      await importRaw(server, 'name=wide&append=true', await file(values));
    expect((await importWide('1 AS "c, 7"')).json()).toMatchObject({ rowsImported: 3 });
    expect((await importWide('if(n = 1, NULL, 1) AS "c, 7"')).json().error).toContain(
      '"c, 7" of wide is NULL in row 2',
    );
    expect((await importWide('NULL::INT AS "c, 0"')).json().error).toContain('"c, 0" of wide is NULL in row 1');
    expect((await importWide('if(n = 2, NULL, l) AS l')).json().error).toContain('"l" of wide is NULL in row 3');
  });

  test('from keep', async () => {
    const keep = { handle: 'strict', mode: 'append' };
    expect((await run({ sql: 'SELECT NULL::BIGINT AS id, NULL::VARCHAR AS name', keep })).json()).toMatchObject({
      code: 'schema_mismatch',
    });
    expect((await run({ sql: 'SELECT 1::BIGINT AS id, NULL::VARCHAR AS name', keep })).status).toBe(200);
  });

  test('also after a flush, on another server of the directory, and behind other parts', async () => {
    await change("CREATE TABLE lasting (id BIGINT PRIMARY KEY, name VARCHAR DEFAULT 'x' CHECK (name <> 'y'))");
    const rowsOfMany = arrow(
      many,
      many.map(() => 'a'),
    );
    for (let n = 0; n < 3; n++) {
      await flight.flight.put(byPath('lasting'), rowsOfMany, append);
      await change(`INSERT INTO lasting (id) VALUES (${n})`);
      await ask(`${server.url}/handles/lasting/flush`, { method: 'POST', headers: json });
    }
    await using other = await startFramehold({ dataDir: server.dataDir });
    expect(await described('lasting', other)).toMatchObject({ constraints: { primaryKey: ['id'] } });
    expect(await refusal("INSERT INTO lasting (name) VALUES ('a')", other)).toMatch(/"id" of lasting takes no NULL/);
    expect(await refusal("INSERT INTO lasting VALUES (1, 'y')", other)).toMatch(/CHECK constraint failed/);
    expect((await importRaw(other, 'name=lasting&append=true', arrow([null], ['a']))).json()).toMatchObject({
      code: 'schema_mismatch',
    });
    await change('INSERT INTO lasting (id) VALUES (9)', other);
    expect(await rows("SELECT count(*) FROM lasting WHERE name = 'x'", other)).toEqual([[4]]);
  });
});

describe('a definition is refused', () => {
  const noSubquery = 'a subquery cannot stand in DEFAULT, CHECK or a generated column';
  test.each([
    ['(a INT DEFAULT (SELECT 1))', noSubquery],
    ['(a INT CHECK (a IN (SELECT a FROM shown)))', noSubquery],
    ['(a INT CHECK (a > sum(a)))', 'aggregate functions are not allowed in check constraints'],
    ['(a INT DEFAULT (b), b INT)', 'DEFAULT value cannot contain column names'],
    ['(a INT CHECK (z > 1))', 'table does not contain column z referenced in check constraint'],
    ['(a INT, PRIMARY KEY (z))', 'column "z" of a key is not in the table'],
    ['(a INT, PRIMARY KEY (a, A))', 'column "a" is twice in a key'],
    ['(a INT PRIMARY KEY, b INT PRIMARY KEY)', 'a table has at most one primary key'],
    ['(a INT[] PRIMARY KEY)', 'invalid Type [INTEGER[]]: Invalid type for index key'],
    ['(a INT AS (1))', 'creating a table without physical (non-generated) columns is not supported'],
    ['(a INT, b AS (c), c AS (b))', /cannot be referenced before it is defined/],
    ['(a INT, b AS (nope(a)))', 'function nope does not exist'],
    ["(a VARCHAR DEFAULT 'x' COLLATE NOCASE)", 'a column has no collation of its own'],
    ["(a INT DEFAULT nextval('s'))", /^function nextval is not allowed/],
    ['(a INT GENERATED BY DEFAULT AS IDENTITY)', /no sequences/],
    ['(a SERIAL PRIMARY KEY)', /no sequences/],
    ['(a INT REFERENCES acme.u)', /own|cannot be written/],
    ['(a INT REFERENCES analytics.main.u)', /read only/],
    ['(a INT REFERENCES u (b, c))', 'a foreign key has 1 of its own columns and 2 of "u"'],
    ['(a INT, b INT AS (a) DEFAULT 1)', 'column "b" is generated: no DEFAULT'],
    ['(a INT REFERENCES u (b) ON DELETE CASCADE)', 'a foreign key cannot change other rows: it is not enforced'],
  ])('%s', async (definition, message) => {
    const { error } = (await run({ sql: `CREATE TABLE refused ${definition}` })).json();
    if (typeof message === 'string') expect(error).toBe(message);
    else expect(error).toMatch(message);
    expect((await ask(`${server.url}/handles/refused`)).status).toBe(404);
  });
});

test('a table of many constraints is made and filled', async () => {
  const checks = Array.from({ length: 10_000 }, (_, n) => `CHECK (a < ${n + 10})`);
  await change(`CREATE TABLE burdened (a INT DEFAULT 1, ${checks.join(', ')})`);
  await change('INSERT INTO burdened VALUES (DEFAULT)');
  expect(await refusal('INSERT INTO burdened VALUES (10)')).toMatch(/CHECK constraint failed/);
});
