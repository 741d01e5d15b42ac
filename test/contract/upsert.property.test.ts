import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { duckDbConnection } from '../support/duckdb-connection.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';

const connection = duckDbConnection();
let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Few values, so that keys meet. `u` takes NULL. */
const number = fc.integer({ min: 0, max: 5 });
const text = number.map((n) => `'${'abc'.charAt(n % 3)}'`);
const row = fc.record({ a: number, b: text, u: number, v: fc.oneof(number.map(String), fc.constant('NULL')) });
type Row = { readonly a: number; readonly b: string; readonly u: number; readonly v: string };

const tables = [
  { keys: 'PRIMARY KEY (a)', target: '(a)', columns: ['a'] },
  { keys: 'UNIQUE (a, b)', target: '(B, a)', columns: ['a', 'b'] },
  { keys: 'PRIMARY KEY (b, a, u)', target: '(a, b, u)', columns: ['a', 'b', 'u'] },
  { keys: 'PRIMARY KEY (u), UNIQUE (a, b)', target: '(u)', columns: ['u'], isSeveral: true },
] as const;

const conflicts = fc.oneof(
  fc.constant('IGNORE'),
  fc.constant('REPLACE'),
  fc.constant('ON CONFLICT DO NOTHING'),
  fc.constant('ON CONFLICT @ DO NOTHING'),
  fc.constant('ON CONFLICT DO UPDATE SET v = excluded.v'),
  fc
    .tuple(
      fc.constantFrom(
        'v = excluded.v',
        'v = v + excluded.v',
        'v = DEFAULT',
        'v = NULL, n = excluded.a + #.a',
        '(v, n) = (#.u, 1.6)',
      ),
      fc.constantFrom('', 'excluded.v > 2', '#.v IS NULL OR v < excluded.v', 'false'),
    )
    .map(([set, where]) => `ON CONFLICT @ DO UPDATE SET ${set}${where === '' ? '' : ` WHERE ${where}`}`),
);

function insertOf(table: string, rows: readonly Row[], how: string, form: number): string {
  const or = /^[A-Z]+$/.test(how) ? `OR ${how} ` : '';
  const behind = or === '' ? ` ${how.replaceAll('#', table)}` : '';
  const values = (part: (each: Row) => string): string => rows.map((each) => `(${part(each)})`).join(', ');
  const forms = [
    `INSERT ${or}INTO ${table} (a, b, u, v) VALUES ${values(({ a, b, u, v }) => `${a}, ${b}, ${u}, ${v}`)}`,
    `INSERT ${or}INTO ${table} (u, a, b) VALUES ${values(({ a, b, u }) => `'${u}', ${a}.2, ${b}`)}`,
    `INSERT ${or}INTO ${table} VALUES ${values(({ a, b, u, v }) => `${a}, ${b}, ${u}, ${v}, DEFAULT`)}`,
    `INSERT ${or}INTO ${table} BY NAME SELECT x AS v, * EXCLUDE (x) FROM (VALUES ${values(({ a, b, u, v }) => `${u}, ${b}, ${a}, ${v}`)}) AS t(u, b, a, x)`,
  ];
  return (forms[form] ?? '') + behind;
}

/** DuckDB adds rows with the same keys in one statement where it has several keys, or leaves out too many of them. */
const without = (rows: readonly Row[], columns: readonly (keyof Row)[]): readonly Row[] =>
  rows.filter((each, at) => rows.findIndex((other) => columns.every((name) => other[name] === each[name])) === at);

test('an INSERT with ON CONFLICT does to a frame what DuckDB does to a table', async () => {
  let made = 0;
  const statement = fc.tuple(fc.array(row, { minLength: 1, maxLength: 12 }), conflicts, fc.nat({ max: 3 }));
  const statements = fc.array(statement, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tables), statements, async ({ keys, target, ...table }, list) => {
      const name = `u${++made}`;
      const create = `CREATE TABLE ${name} (a INT, b VARCHAR, u INT, v INT DEFAULT 3, n INT DEFAULT 9, ${keys})`;
      expect(await run(create)).toMatchObject({ ddl: 'OK' });
      await connection.run(create);
      for (const [rows, how, form] of list) {
        const isSeveral = 'isSeveral' in table;
        // What one statement does to several keys at once is DuckDB's own, and so is what violates another key.
        const given = isSeveral ? without(without(rows, ['u']), ['a', 'b']) : rows;
        if (isSeveral && !['IGNORE', 'ON CONFLICT DO NOTHING'].includes(how)) continue;
        const sql = insertOf(name, given, how.replaceAll('@', target), form);
        const [{ n: before = 0 } = {}] = await connection.rows<{ n: number }>(`SELECT count(*) AS n FROM ${name}`);
        const changed = await run(sql);
        await connection.run(sql);
        expect(changed, sql).toMatchObject({ dml: 'OK' });
        const [{ n: after = 0 } = {}] = await connection.rows<{ n: number }>(`SELECT count(*) AS n FROM ${name}`);
        if (/IGNORE|NOTHING|false$/.test(how)) expect(changed.updated, sql).toBe(after - before);
        const all = `SELECT to_json(r)::VARCHAR AS line FROM (FROM ${name}) AS r`;
        const held = ((await run(all)).dataset as string[][]).map(([line]) => line);
        const expected = (await connection.rows<{ line: string }>(all)).map(({ line }) => line);
        expect(held.sort(), sql).toEqual(expected.sort());
      }
    }),
    { numRuns: 15 },
  );
});

async function run(sql: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  return (await ask(`${server.url}/sql`, { method: 'POST', headers, body: JSON.stringify({ sql }) })).json();
}
