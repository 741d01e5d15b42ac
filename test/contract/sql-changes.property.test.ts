import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { duckDbConnection } from '../support/duckdb-connection.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';

const connection = duckDbConnection();
let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const value = fc.integer({ min: 0, max: 20 });
const condition = fc.oneof(
  value.map((n) => `k < ${n}`),
  fc.tuple(value, value).map(([a, b]) => `k % ${a + 2} = ${b % (a + 2)}`),
  value.map((n) => `n IS NULL OR n > ${n}`),
  value.map((n) => `t LIKE '%${n}' OR k = ${n}`),
  fc.constant('k IN (SELECT max(k) FROM @ GROUP BY n)'),
  fc.constant('true'),
  fc.constant('false'),
);
const assignment = fc.oneof(
  value.map((n) => `n = n + ${n}`),
  fc.constant('n = NULL'),
  value.map((n) => `t = t || '${n}', d = d * ${n}`),
  fc.constant('l = list_append(l, k), (s, n) = ({a: n, b: t}, k)'),
);
const source = value.map((n) => `(SELECT DISTINCT range * ${n + 1} AS k, range AS m FROM range(6))`);
const statement = fc.oneof(
  fc.tuple(assignment, condition).map(([set, where]) => `UPDATE @ SET ${set} WHERE ${where}`),
  fc.tuple(source, value).map(([from, n]) => `UPDATE @ SET n = u.m + ${n} FROM ${from} u WHERE @.id = u.k`),
  condition.map((where) => `DELETE FROM @ WHERE (${where}) AND k % 3 <> 0`),
  source.map((using) => `DELETE FROM @ USING ${using} u WHERE @.id = u.k AND @.k % 2 = 0`),
  value.map(
    (n) =>
      `INSERT INTO @ SELECT 1000 + range, range, range * ${n}, 'x' || range, 0.5, [range], {a: 1, b: 'b'} FROM range(3)`,
  ),
);

const columns = 'id, k, n, t, d, l, s';
const generated = (from: number, to: number): string =>
  `SELECT range AS id, range % 17 AS k, CASE WHEN range % 5 = 0 THEN NULL ELSE range % 11 END::INT AS n,
   't' || (range % 13) AS t, (range / 4)::DECIMAL(9, 2) AS d, [range, NULL] AS l, {a: range::INT, b: 's' || range} AS s
   FROM range(${from}, ${to})`;

test('changes of a frame of several parts do what DuckDB does to a table, and keep the order of its rows', async () => {
  let made = 0;
  const parts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(parts, fc.array(statement, { minLength: 1, maxLength: 4 }), async (sizes, statements) => {
      const name = `p${++made}`;
      await connection.run(`CREATE OR REPLACE TABLE ${name} AS ${generated(0, 0)}`);
      let from = 0;
      for (const size of sizes) {
        await putSql(server.frames, name, generated(from, from + size), { mode: 'append' });
        await connection.run(`INSERT INTO ${name} ${generated(from, from + size)}`);
        from += size;
      }
      for (const text of statements) {
        const sql = text.replaceAll('@', name);
        const [before] = await connection.rows<{ n: number }>(`SELECT count(*) AS n FROM ${name}`);
        const changed = await run(sql);
        expect(changed, sql).toMatchObject({ dml: 'OK' });
        // DuckDB may move a row with nested values that it updates: what it has is read by its number.
        await connection.run(sql);
        const [after] = await connection.rows<{ n: number }>(`SELECT count(*) AS n FROM ${name}`);
        if (!sql.startsWith('UPDATE')) expect(changed.updated).toBe(Math.abs((before?.n ?? 0) - (after?.n ?? 0)));
      }
      const rows = (await run(`SELECT to_json(r)::VARCHAR AS r FROM (SELECT ${columns} FROM ${name}) AS r`)).dataset;
      const expected = await connection.rows<{ line: string }>(
        `SELECT to_json(q)::VARCHAR AS line FROM (SELECT ${columns} FROM ${name}) AS q`,
      );
      const inOrder = (rows as string[][]).map(([row]) => row);
      expect(inOrder.map(idOf)).toEqual(sortedFrom(inOrder.map(idOf)));
      expect([...inOrder].sort()).toEqual(expected.map(({ line }) => line).sort());
    }),
    { numRuns: 12 },
  );
});

function idOf(row = ''): number {
  return (JSON.parse(row) as { id: number }).id;
}

/** Rows that were inserted have the same numbers again: each time from 1000 on. */
function sortedFrom(ids: readonly number[]): readonly number[] {
  const own = ids.filter((id) => id < 1000);
  return [...own.toSorted((a, b) => a - b), ...ids.filter((id) => id >= 1000)];
}

async function run(sql: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  return (await ask(`${server.url}/sql`, { method: 'POST', headers, body: JSON.stringify({ sql }) })).json();
}
