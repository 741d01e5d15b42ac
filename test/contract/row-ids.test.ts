import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 't', "SELECT range * 10 AS i, 'x' || range AS s FROM range(3)");
  await putSql(server.frames, 't', "SELECT 70::BIGINT AS i, 'y' AS s", { mode: 'append' });
  await putSql(server.frames, 'u', "SELECT range AS k, 'u' || range AS v FROM range(2)");
  await putSql(server.frames, 'own', 'SELECT 7 AS rowid, 1 AS a');
  await putSql(server.frames, 'counted', 'SELECT 7 AS file_row_number, range AS a FROM range(2)');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function run(sql: string): Promise<ReturnType<Awaited<ReturnType<typeof ask>>['json']>> {
  const headers = { 'content-type': 'application/json' };
  return (await ask(`${server.url}/sql`, { method: 'POST', headers, body: JSON.stringify({ sql }) })).json();
}

/** Names of the columns, then the rows. */
async function table(sql: string): Promise<unknown[]> {
  const answer = await run(sql);
  if (answer.error !== undefined) return [answer.error];
  return [(answer.columns as { name: string }[]).map(({ name }) => name), ...(answer.dataset as unknown[])];
}

const whole = [
  ['rowid', 'i', 's'],
  [0, 0, 'x0'],
  [1, 10, 'x1'],
  [2, 20, 'x2'],
  [3, 70, 'y'],
];

describe('rowid', () => {
  test.each<[string, unknown[]]>([
    ['SELECT rowid, * FROM t', whole],
    ['SELECT "ROWID" AS rowid, T.* FROM t', whole],
    ['SELECT frames.t.rowid, t.* FROM frames.t', whole],
    [
      'FROM t SELECT rowid, s WHERE rowid = 3',
      [
        ['rowid', 's'],
        [3, 'y'],
      ],
    ],
    [
      'FROM t WHERE rowid BETWEEN 2 AND 3',
      [
        ['i', 's'],
        [20, 'x2'],
        [70, 'y'],
      ],
    ],
    [
      'SELECT * FROM t ORDER BY rowid DESC LIMIT 1',
      [
        ['i', 's'],
        [70, 'y'],
      ],
    ],
    [
      'SELECT DISTINCT ON (i > 5) rowid, * FROM t WHERE rowid > 2',
      [
        ['rowid', 'i', 's'],
        [3, 70, 'y'],
      ],
    ],
    [
      'SELECT * FROM (SELECT rowid, s FROM t WHERE i = 70)',
      [
        ['rowid', 's'],
        [3, 'y'],
      ],
    ],
    [
      'WITH x AS (FROM t WHERE rowid = 1) SELECT *, 1 AS rowid FROM x',
      [
        ['i', 's', 'rowid'],
        [10, 'x1', 1],
      ],
    ],
    [
      'SELECT t.rowid, t.*, u.* FROM t JOIN u ON t.rowid = u.rowid + 1 WHERE k = 1',
      [
        ['rowid', 'i', 's', 'k', 'v'],
        [2, 20, 'x2', 1, 'u1'],
      ],
    ],
    [
      'SELECT s, (SELECT v FROM u WHERE u.rowid = t.rowid) AS v FROM t LIMIT 1',
      [
        ['s', 'v'],
        ['x0', 'u0'],
      ],
    ],
    [
      'SELECT max(rowid) AS m, count(*) AS n FROM t',
      [
        ['m', 'n'],
        [3, 4],
      ],
    ],
  ])('%s', async (sql, expected) => {
    expect(await table(sql)).toEqual(expected);
  });

  test.each<[string, unknown[]]>([
    [
      "SELECT rowid, COLUMNS('s') FROM t LIMIT 1",
      [
        ['rowid', 's'],
        [0, 'x0'],
      ],
    ],
    [
      'SELECT rowid, t FROM t LIMIT 1',
      [
        ['rowid', 't'],
        [0, { i: 0, s: 'x0' }],
      ],
    ],
    [
      'SELECT a.rowid, v FROM t a NATURAL JOIN (SELECT 20 AS i, v FROM u WHERE rowid = 1)',
      [
        ['rowid', 'v'],
        [2, 'u1'],
      ],
    ],
    [
      'SELECT rowid, #2 FROM t LIMIT 1',
      [
        ['rowid', 's'],
        [0, 'x0'],
      ],
    ],
    [
      'SELECT rowid, b FROM t AS x(a, b) WHERE a = 70',
      [
        ['rowid', 'b'],
        [3, 'y'],
      ],
    ],
    [
      'SELECT rowid, * FROM counted',
      [
        ['rowid', 'file_row_number', 'a'],
        [0, 7, 0],
        [1, 7, 1],
      ],
    ],
    [
      'FROM (PIVOT (SELECT rowid, * FROM t WHERE rowid > 2) ON s IN (y) USING sum(i)) SELECT rowid, y',
      [
        ['rowid', 'y'],
        [3, '70'],
      ],
    ],
  ])('is not among the columns where all of them are meant in another way: %s', async (sql, expected) => {
    expect(await table(sql)).toEqual(expected);
  });

  test('is the column of a frame that has one of that name', async () => {
    expect(await table('SELECT rowid, * FROM own')).toEqual([
      ['rowid', 'rowid', 'a'],
      [7, 7, 1],
    ]);
    expect(await table('SELECT own.*, t.rowid, t.* FROM own, t WHERE t.rowid = 3')).toEqual([
      ['rowid', 'a', 'rowid', 'i', 's'],
      [7, 1, 3, 70, 'y'],
    ]);
  });

  test('is none of a subquery, as in DuckDB', async () => {
    expect(await run('SELECT rowid FROM (SELECT * FROM t)')).toMatchObject({ code: 'sql_error', position: 7 });
  });

  test('leaves no trace in later statements', async () => {
    expect(await table('SELECT rowid, t FROM t WHERE rowid = 0')).toHaveLength(2);
    expect(await table('FROM t LIMIT 1')).toEqual([
      ['i', 's'],
      [0, 'x0'],
    ]);
  });

  test('moves no position in an error', async () => {
    const sql = 'SELECT *, rowid, t.*, prise FROM t';
    expect(await run(sql)).toMatchObject({ code: 'sql_error', position: sql.indexOf('prise') });
  });

  test('can be stored, and goes on behind rows that lack a column', async () => {
    await putSql(server.frames, 'w', 'SELECT range AS a FROM range(2)');
    const source = { kind: 'sql', sql: "SELECT 5::BIGINT AS a, 'late' AS b" } as const;
    const request = { handle: parseHandle('w'), mode: 'append', addsColumns: true, source } as const;
    await server.frames.put(anonymous, request, { signal: new AbortController().signal });
    await run('CREATE TABLE numbered AS SELECT rowid AS n, * FROM w');
    expect(await table('FROM numbered ORDER BY n')).toEqual([
      ['n', 'a', 'b'],
      [0, 0, null],
      [1, 1, null],
      [2, 5, 'late'],
    ]);
  });

  test('is the same from a warm copy', async () => {
    for (let attempt = 0; attempt < 3; attempt++) await run('SELECT count(*) FROM t');
    await expect
      .poll(async () => JSON.stringify(await table('EXPLAIN SELECT rowid, * FROM t')), {
        timeout: 20_000,
        interval: 1_500,
      })
      .toContain('SEQ_SCAN');
    expect(await table('SELECT rowid, * FROM t')).toEqual(whole);
    expect(await table('SELECT rowid, t FROM t WHERE rowid = 3')).toEqual([
      ['rowid', 't'],
      [3, { i: 70, s: 'y' }],
    ]);
  });
});
