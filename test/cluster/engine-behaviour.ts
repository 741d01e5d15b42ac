import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { demoFrames } from '../../src/demo/demo-frames.ts';
import { execTypeForms } from '../support/exec-type-forms.ts';
import { ask } from '../support/http-client.ts';
import { differenceOf, type EngineLabel } from './engine-differences.ts';
import type { EngineDoor, SqlAnswer, SqlRequest } from './support/engine-door.ts';

export interface EngineUnderTest {
  readonly label: EngineLabel;
  /** Its name at the door. */
  readonly engine: string;
  /** Open before the first test. */
  door(): EngineDoor;
}

/** What holds for SQL over frames on whichever engine. The statements are in what all dialects share. */
export function engineBehaviour({ label, engine, door }: EngineUnderTest): void {
  const rows = (request: SqlRequest): Promise<SqlAnswer> => door().rows({ engine, ...request });
  const local = (sql: string): Promise<SqlAnswer> => door().rows({ sql, engine: 'local' });
  const failure = async (request: SqlRequest) => {
    const answer = await door().post({ engine, ...request });
    return { status: answer.status, ...(answer.json() as { code?: string; error?: string; position?: number }) };
  };
  const isRefused = (column: string): boolean => differenceOf(label, column)?.refused !== undefined;
  const refusedColumns = Object.keys(execTypeForms).filter(isRefused);
  const readColumns = Object.keys(execTypeForms).filter((column) => !isRefused(column));

  // At once, a few at a time: none reads what another one writes.
  describe.concurrent('as any engine', () => {
    beforeAll(async () => {
      await local('CREATE TABLE ids AS SELECT range AS id FROM range(5000)');
      await local("CREATE TABLE days AS SELECT DATE '2026-01-01' + range::INT AS day, range::INT AS n FROM range(31)");
      const types = demoFrames.find(({ handle }) => handle === 'types')?.sql ?? '';
      await local(`CREATE TABLE types AS ${types}`);
      const renamed = readColumns.map((column) => `"${column}" AS value_${column}`);
      await local(`CREATE TABLE types_read AS SELECT row_number() OVER () AS place, ${renamed.join(', ')} FROM types`);
      for (const column of refusedColumns)
        await local(`CREATE TABLE type_${column} AS SELECT "${column}" AS value FROM types`);
    }, 120_000);

    test('values of every type keep their form', async () => {
      const sql = `SELECT ${readColumns.map((column) => `value_${column}`).join(', ')} FROM types_read ORDER BY place`;
      const differences = readColumns.map((column) => differenceOf(label, column));
      const forms = readColumns.map((column) => execTypeForms[column] ?? [{}, '', '', '']);
      const answer = await door().post({ sql, engine });
      const { columns: found } = answer.json() as unknown as SqlAnswer;
      expect(found).toEqual(
        readColumns.map((column, at) => ({ name: `value_${column}`, ...(differences[at]?.column ?? forms[at]?.[0]) })),
      );
      const rowAt = (row: number): string => {
        const cells = forms.map((form, at) => differences[at]?.cells?.[row] ?? form[row + 1] ?? 'null');
        return `[${cells.join()}]`;
      };
      expect(answer.text).toContain(`"dataset":[${[0, 1, 2, 3].map(rowAt).join()}]`);
      const arrowTypes = async (engine: string) => {
        const { schema } = tableFromIPC((await door().post({ sql, engine, format: 'arrow' })).body);
        return schema.fields.map(({ name, type }) => `${name}: ${type}`);
      };
      const expected = (await arrowTypes('local')).map((field, at) => {
        const arrow = differences[at]?.arrow;
        return arrow === undefined ? field : `value_${readColumns[at]}: ${arrow}`;
      });
      expect(await arrowTypes(engine)).toEqual(expected);
    });

    test.each(refusedColumns)('a value of a type that it cannot read is refused: %s', async (column) => {
      const told = await failure({ sql: `SELECT value FROM type_${column}` });
      expect(told).toMatchObject(differenceOf(label, column)?.refused ?? {});
    });

    test('parameters arrive with their types', async () => {
      const parameters: readonly (readonly [value: unknown, type: string, cell: unknown])[] = [
        [42, 'LONG|INT', 42],
        [9_007_199_254_740_991, 'LONG', 9_007_199_254_740_991],
        [1.5, 'DOUBLE', 1.5],
        [true, 'BOOLEAN', true],
        [`it's "é"😀`, 'VARCHAR', `it's "é"😀`],
        [{ type: 'DATE', value: '2026-01-31' }, 'DATE', '2026-01-31T00:00:00.000Z'],
        [{ type: 'TIMESTAMP', value: '2026-01-31 12:00:00.123456' }, 'TIMESTAMP', '2026-01-31T12:00:00.123456Z'],
        [{ type: 'DECIMAL(20,4)', value: '1234567890123456.7891' }, 'DECIMAL\\(20,4\\)', '1234567890123456.7891'],
      ];
      const places = parameters.map((_, at) => `? AS p${at}`).join(', ');
      const params = parameters.map(([value]) => value);
      const answer = await rows({ sql: `SELECT ${places} FROM days WHERE n = 0`, params });
      expect(answer.dataset).toEqual([parameters.map(([, , cell]) => cell)]);
      for (const [at, [, type]] of parameters.entries())
        expect(answer.columns[at]?.type).toMatch(new RegExp(`^(${type})$`));
    });

    test('parameters choose rows, and are no SQL', async () => {
      const sql = 'SELECT count(*) AS c FROM days WHERE n BETWEEN ? AND ?';
      expect((await rows({ sql, params: [3, 5] })).dataset).toEqual([[3]]);
      const injected = "x' OR '1' = '1";
      expect((await rows({ sql: "SELECT count(*) AS c FROM days WHERE 'x' = ?", params: [injected] })).dataset).toEqual(
        [[0]],
      );
      expect(await failure({ sql, params: [3] })).toMatchObject({ status: 400, code: 'missing_parameter' });
    });

    test.each([
      ['plain', "'v' || range"],
      // No schema is sent with it.
      ['nested', '[range]'],
    ])('a column that was added is NULL in older rows (%s)', async (name, value) => {
      const { server, dataDir } = door();
      const folder = join(dataDir, 'cold', `.added_${name}`);
      await mkdir(folder, { recursive: true });
      const columns = ['range AS n', `range + 10 AS n, ${value} AS v`];
      for (const [index, some] of columns.entries()) {
        const query = `SELECT ${some} FROM range(10)`;
        const { body } = await ask(
          `${server.url}/exp?${new URLSearchParams({ query, engine: 'local', fmt: 'parquet' })}`,
        );
        await writeFile(join(folder, `${index}.parquet`), body);
      }
      await rename(folder, join(dataDir, 'cold', `added_${name}`));
      const sql = `SELECT count(*) AS c, count(v) AS v, sum(n) AS s, min(CASE WHEN v IS NOT NULL THEN n END) AS f FROM added_${name}`;
      await expect
        .poll(async () => (await door().post({ sql, engine: 'local' })).status, { timeout: 10_000 })
        .toBe(200);
      const expected = [[20, 10, 190, 10]];
      const found = (await rows({ sql })).dataset.map((row) => row.map(Number));
      expect(found).toEqual(expected);
      const shown = (await rows({ sql: `SELECT * FROM added_${name} LIMIT 0` })).columns;
      expect(shown.map((column) => column.name)).toEqual(['n', 'v']);
    });

    test('pages have their rows, and the count that is asked for', async () => {
      const sql = 'SELECT id FROM ids ORDER BY id';
      const first = await rows({ sql, limit: 3 });
      expect([first.dataset, first.count]).toEqual([[[0], [1], [2]], 3]);
      expect((await rows({ sql, limit: '11,13' })).dataset).toEqual([[10], [11], [12]]);
      expect((await rows({ sql, limit: '4999,6000' })).dataset).toEqual([[4998], [4999]]);
      expect((await rows({ sql, limit: '6000,7000' })).dataset).toEqual([]);
      expect((await rows({ sql, limit: 0 })).columns).toEqual([{ name: 'id', type: 'LONG' }]);
      const counted = await door().exec({ query: sql, engine, limit: '2,3', count: 'true', fmt: 'json' });
      expect([counted.dataset, counted.count]).toEqual([[[1], [2]], 5000]);
    });

    test('columns come as they are chosen', async () => {
      const sql = "SELECT n, n * 2 AS twice, 'x' AS text FROM days WHERE n = 4";
      const answer = await rows({ sql, cols: 'text,n' });
      expect([answer.columns.map(({ name }) => name), answer.dataset]).toEqual([['text', 'n'], [['x', 4]]]);
      expect(await failure({ sql, cols: 'txet' })).toMatchObject({ status: 400, code: 'invalid_parameter' });
    });

    test('an empty result has its columns', async () => {
      const answer = await rows({ sql: 'SELECT day, n FROM days WHERE n < 0' });
      expect(answer).toMatchObject({
        columns: [
          { name: 'day', type: 'DATE' },
          { name: 'n', type: 'INT' },
        ],
        dataset: [],
        count: 0,
      });
      const arrow = tableFromIPC(
        (await door().post({ sql: 'SELECT day, n FROM days WHERE n < 0', engine, format: 'arrow' })).body,
      );
      expect([arrow.numRows, arrow.schema.names]).toEqual([0, ['day', 'n']]);
    });

    test('columns may have one name', async () => {
      const answer = await rows({ sql: 'SELECT n AS a, n + 1 AS a FROM days WHERE n = 1' });
      expect([answer.columns.map(({ name }) => name), answer.dataset]).toEqual([['a', 'a'], [[1, 2]]]);
    });

    test('joins, names of its own and subqueries read the frames', async () => {
      const sql = `WITH few AS (SELECT n FROM days WHERE n < 3)
        SELECT few.n, count(*) AS c FROM few JOIN ids ON ids.id % 3 = few.n
        WHERE ids.id IN (SELECT n FROM days) GROUP BY few.n ORDER BY few.n`;
      expect((await rows({ sql })).dataset).toEqual([
        [0, 11],
        [1, 10],
        [2, 10],
      ]);
    });

    test.each([
      ['a frame that is not there', 'SELECT * FROM nobody', { status: 400, code: 'sql_error' }],
      ['no SQL', 'SELEC 1', { status: 400, code: 'sql_error' }],
      ['a column that is not there', 'SELECT idd FROM ids', { status: 400, code: 'sql_error' }],
      ['two statements', 'SELECT 1 AS a; SELECT 2 AS b', { status: 400 }],
      ['a change of a setting', 'SET x = 1', { status: 403, code: 'sql_forbidden' }],
    ])('%s is told', async (_, sql, expected) => {
      const told = await failure({ sql });
      expect(told).toMatchObject(expected);
      expect(told.error).not.toMatch(/org\.apache|\.scala|\.java:|stacktrace|\.rs:|\n\s+at /i);
    });

    test('a statement makes a frame, which others read and it replaces', async () => {
      await rows({ sql: 'CREATE TABLE made AS SELECT n, day FROM days WHERE n < 4' });
      expect((await local('SELECT count(*), sum(n)::INT FROM made')).dataset).toEqual([[4, 6]]);
      expect((await rows({ sql: 'SELECT count(*) AS c FROM made' })).dataset).toEqual([[4]]);
      expect(await failure({ sql: 'CREATE TABLE made AS SELECT 1 AS a' })).toMatchObject({
        status: 409,
        code: 'handle_exists',
      });
      await rows({ sql: 'CREATE OR REPLACE TABLE made AS SELECT n FROM made WHERE n > 1' });
      expect((await rows({ sql: 'SELECT n FROM made ORDER BY n' })).dataset).toEqual([[2], [3]]);
      await rows({ sql: 'INSERT INTO made SELECT n FROM days WHERE n = 9' });
      expect((await rows({ sql: 'SELECT n FROM made ORDER BY n' })).dataset).toEqual([[2], [3], [9]]);
      await rows({ sql: 'DROP TABLE made' });
      expect(await failure({ sql: 'SELECT n FROM made' })).toMatchObject({ status: 410 });
    });

    test('INSERT casts rows to the types of the frame, and gives columns that it leaves out their defaults', async () => {
      const columns = `id BIGINT NOT NULL, price DECIMAL(9,2), day DATE, placed TIMESTAMP, note VARCHAR DEFAULT 'none',
        mood ENUM('good', 'bad'), CHECK (id < 100)`;
      await local(`CREATE TABLE grown (${columns})`);
      const inserts: readonly SqlRequest[] = [
        {
          sql: 'INSERT INTO grown (id, price, day) SELECT n, n + 0.125, day FROM days WHERE n BETWEEN 1 AND 2 ORDER BY n',
        },
        {
          sql: "INSERT INTO grown VALUES (50, 1.5, DATE '2026-02-01', CAST('2026-02-01 12:00:00' AS TIMESTAMP), NULL, 'bad')",
        },
        { sql: "INSERT INTO grown BY NAME SELECT 'x' AS note, 7 AS ID" },
        { sql: 'INSERT INTO grown (note, id) VALUES (?, ?)', params: ["it's", 8] },
        { sql: 'INSERT INTO grown (id) SELECT n FROM days WHERE n < 0' },
      ];
      const counts: unknown[] = [];
      for (const request of inserts) counts.push(((await rows(request)) as { readonly updated?: number }).updated);
      expect(counts).toEqual([2, 1, 1, 1, 0]);
      const none = [null, 'none', null];
      expect((await local('SELECT id, price, day::VARCHAR, placed::VARCHAR, note, mood FROM grown')).dataset).toEqual([
        [1, '1.13', '2026-01-02', ...none],
        [2, '2.13', '2026-01-03', ...none],
        [50, '1.50', '2026-02-01', '2026-02-01 12:00:00', null, 'bad'],
        [7, null, null, null, 'x', null],
        [8, null, null, null, "it's", null],
      ]);
    });

    test('an INSERT that does not fit the frame is refused, and adds nothing', async () => {
      await local("CREATE TABLE strict (id BIGINT NOT NULL, mood ENUM('good', 'bad'), CHECK (id < 100))");
      const refused = [
        'INSERT INTO strict (mood) SELECT CAST(NULL AS VARCHAR(5)) AS mood FROM days',
        'INSERT INTO strict (id) SELECT n + 90 FROM days',
        "INSERT INTO strict SELECT n, 'good', 1 FROM days",
        "INSERT INTO strict (id) SELECT 'no number' FROM days",
        "INSERT INTO strict (id, mood) VALUES (1, 'other')",
        'INSERT INTO strict (id, none) VALUES (1, 2)',
        'INSERT INTO strict BY NAME SELECT 1 AS id, 2 AS other',
      ];
      for (const sql of refused) {
        const told = await failure({ sql });
        expect(told, sql).toMatchObject({ status: 400, code: 'sql_error' });
        expect(told.error, sql).not.toMatch(/given_rows|insert_target|\.parquet|\.framehold/);
      }
      expect((await local('SELECT count(*) FROM strict')).dataset).toEqual([[0]]);
      expect(await failure({ sql: 'INSERT INTO nobody SELECT 1' })).toMatchObject({ status: 404 });
    });

    test('TRUNCATE TABLE empties a frame, and DROP VIEW drops a view', async () => {
      await local('CREATE TABLE emptied AS SELECT n FROM days');
      await local('CREATE VIEW seen AS SELECT n FROM days');
      await rows({ sql: 'TRUNCATE TABLE emptied' });
      expect((await rows({ sql: 'SELECT count(*) AS c FROM emptied' })).dataset).toEqual([[0]]);
      expect(await failure({ sql: 'DROP VIEW emptied' })).toMatchObject({ status: 400, code: 'sql_error' });
      await rows({ sql: 'DROP VIEW seen' });
      await rows({ sql: 'DROP VIEW IF EXISTS seen' });
      expect(await failure({ sql: 'DROP VIEW seen' })).toMatchObject({ status: 410 });
    });

    if (label !== 'sail')
      test('the setting TimeZone holds for its statement, and timestamps are told in UTC', async () => {
        await local("CREATE TABLE instants AS SELECT TIMESTAMPTZ '2026-07-01 23:30:00+00' AS seen");
        const settings = { timezone: 'Europe/Berlin' };
        const request = { sql: 'SELECT day(seen) AS d, hour(seen) AS h, seen FROM instants' };
        const seen = '2026-07-01T23:30:00.000000Z';
        const zones = ['Europe/Berlin', 'UTC', 'America/New_York', undefined, 'Asia/Kolkata', 'Europe/Berlin'];
        const found = zones.map(async (zone) => {
          const answer = await rows({ ...request, ...(zone !== undefined && { settings: { TimeZone: zone } }) });
          return answer.dataset[0]?.map(String);
        });
        expect(await Promise.all(found)).toEqual([
          ['2', '1', seen],
          ['1', '23', seen],
          ['1', '19', seen],
          ['1', '23', seen],
          ['2', '5', seen],
          ['2', '1', seen],
        ]);
        const arrow = tableFromIPC((await door().post({ ...request, engine, settings, format: 'arrow' })).body);
        expect(String(arrow.schema.fields[2]?.type)).toBe('Timestamp<MICROSECOND, UTC>');
        await rows({ ...request, settings, keep: { handle: 'instants_kept', mode: 'overwrite' } });
        const kept = 'SELECT d::INT, h::INT, seen FROM instants_kept';
        expect((await local(kept)).dataset).toEqual([[2, 1, seen]]);
        await local('CREATE TABLE local_times (t TIMESTAMP)');
        await rows({ sql: 'INSERT INTO local_times SELECT seen FROM instants', settings });
        expect((await local('FROM local_times')).dataset).toEqual([['2026-07-02T01:30:00.000000Z']]);
        for (const zone of ['Nowhere/Land', 'Europe/Berlin;', '-']) {
          const told = await failure({ ...request, settings: { TimeZone: zone } });
          expect(told, zone).toMatchObject({ status: 400, code: 'invalid_parameter' });
        }
        expect((await rows(request)).dataset[0]?.map(String)).toEqual(['1', '23', seen]);
      });

    if (label === 'sail')
      test('the setting TimeZone is refused: it would change nothing', async () => {
        const told = await failure({ sql: 'SELECT 1 AS a', settings: { TimeZone: 'Europe/Berlin' } });
        expect(told).toMatchObject({
          status: 400,
          code: 'invalid_parameter',
          error: `engine ${engine} does not take the setting TimeZone`,
        });
      });

    if (label !== 'local')
      test('other settings are refused, and say so', async () => {
        const told = await failure({ sql: 'SELECT 1 AS a', settings: { default_null_order: 'NULLS_FIRST' } });
        expect(told).toMatchObject({
          status: 400,
          code: 'invalid_parameter',
          error: `engine ${engine} does not take the setting default_null_order`,
        });
      });

    if (label !== 'local')
      test('DESCRIBE tells the columns of a frame and of a query, and nothing else', async () => {
        await local(
          "CREATE TABLE shapes AS SELECT 1::BIGINT AS id, 1.5::DECIMAL(9,2) AS price, [1::BIGINT] AS list, {a: 'x'} AS s, TIMESTAMP '2026-01-01' AS at, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS seen",
        );
        const shapes = [
          ['id', 'bigint'],
          ['price', 'decimal(9,2)'],
          ['list', 'array<bigint>'],
          ['s', 'struct<a:string>'],
          ['at', 'timestamp_ntz'],
          ['seen', 'timestamp'],
        ].map((row) => [...row, null]);
        for (const sql of ['DESCRIBE shapes', 'DESC TABLE shapes', 'DESCRIBE QUERY SELECT * FROM shapes']) {
          const answer = await rows({ sql });
          expect(answer.columns.map(({ name }) => name)).toEqual(['col_name', 'data_type', 'comment']);
          expect(answer.dataset, sql).toEqual(shapes);
        }
        const counted = await rows({ sql: 'DESCRIBE SELECT count(*) AS c, ? AS p FROM shapes', params: ['x'] });
        expect(counted.dataset).toEqual([
          ['c', 'bigint', null],
          ['p', 'string', null],
        ]);
        expect((await rows({ sql: 'DESCRIBE shapes', limit: '2,3', cols: 'data_type' })).dataset).toEqual([
          ['decimal(9,2)'],
          ['array<bigint>'],
        ]);
        await rows({ sql: 'DESCRIBE shapes', keep: { handle: 'shapes_kept', mode: 'overwrite' } });
        expect((await local('SELECT count(*) FROM shapes_kept')).dataset).toEqual([[6]]);
        expect(await failure({ sql: 'DESCRIBE nobody' })).toMatchObject({
          status: 400,
          code: 'sql_error',
          position: 9,
        });
      });

    test('rows are kept under a handle', async () => {
      const request = {
        sql: 'SELECT id FROM ids WHERE id < ?',
        params: [10],
        keep: { handle: 'ten', mode: 'overwrite' },
      };
      expect(await rows(request)).toMatchObject({ handle: 'ten', rows: 10, columns: [{ name: 'id', type: 'LONG' }] });
      expect((await local('SELECT sum(id)::INT FROM ten')).dataset).toEqual([[45]]);
    });

    test('rows that are kept keep their order', async () => {
      const sql = 'SELECT n, k FROM (SELECT id AS n, (id * 7919) % 60013 AS k FROM many_ids) x ORDER BY k DESC, n';
      await local('CREATE OR REPLACE TABLE many_ids AS SELECT range AS id FROM range(60000)');
      const inOrder = `SELECT count(*) FROM (SELECT k, lag(k) OVER (ORDER BY r) AS before
        FROM (SELECT k, row_number() OVER () AS r FROM ordered)) WHERE k > before`;
      expect(await rows({ sql, keep: { handle: 'ordered', mode: 'overwrite' } })).toMatchObject({ rows: 60_000 });
      expect((await local(inOrder)).dataset).toEqual([[0]]);
      await rows({ sql: `CREATE OR REPLACE TABLE ordered AS ${sql}` });
      expect((await local(inOrder)).dataset).toEqual([[0]]);
      expect((await local('SELECT count(*), count(DISTINCT n) FROM ordered')).dataset).toEqual([[60_000, 60_000]]);
    });

    test.each([
      ['csv', '"n","t"\n0,"a;b"\n1,"a;b"\n'],
      ['tsv', 'n\tt\n0\ta;b\n1\ta;b\n'],
      ['ndjson', '{"n":0,"t":"a;b"}\n{"n":1,"t":"a;b"}\n'],
    ])('%s has the rows', async (format, text) => {
      const sql = "SELECT n, 'a;b' AS t FROM days WHERE n < 2 ORDER BY n";
      const answer = await door().post({ sql, engine, format });
      expect([answer.status, answer.text.replaceAll('\r', '').replaceAll('"', '')]).toEqual([
        200,
        text.replaceAll('"', ''),
      ]);
    });

    test('parquet is a file', async () => {
      const answer = await door().post({ sql: 'SELECT n FROM days', engine, format: 'parquet' });
      expect([answer.body.subarray(0, 4).toString(), answer.body.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
    });
  });
}
