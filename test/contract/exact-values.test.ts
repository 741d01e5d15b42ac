import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Manifest } from '../../src/frames/disk/manifest.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { postSql } from '../support/post-sql.ts';
import { soon } from '../support/soon.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const outside = (file: string): string => fileURLToPath(new URL(`../fixtures/parquet/${file}`, import.meta.url));

/** The least level at which files are compressed again in the background. */
const settings = { 'compression.level': '4' };

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: Framehold;

beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await startFramehold({ dataDir: directory.path, settings });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

async function restart(): Promise<void> {
  await server[Symbol.asyncDispose]();
  server = await startFramehold({ dataDir: directory.path, settings });
}

async function run(sql: string): Promise<Record<string, unknown>> {
  const answer = await postSql(server.url, sql);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.anything()]);
  return answer.json();
}

async function bring(file: string, how: string, handle: string): Promise<void> {
  if (how === 'moved in') return copyFile(outside(file), join(directory.path, 'cold', `${handle}.parquet`));
  const body = await readFile(outside(file));
  expect((await ask(`${server.url}/imp?name=${handle}&fmt=json`, { method: 'POST', body })).status).toBe(200);
}

async function count(sql: string): Promise<unknown> {
  const { dataset } = (await run(sql)) as { readonly dataset: readonly (readonly unknown[])[] };
  return dataset[0]?.[0];
}

function textOfManifest(handle: string): Promise<string> {
  return readFile(join(directory.path, 'cold', '.framehold', 'manifests', `${handle}.json`), 'utf8');
}

/** Resolves when the background has compressed the frame, or found that it need not. */
async function compressed(handle: string): Promise<void> {
  await soon(async () => {
    const [body = ''] = (await textOfManifest(handle)).split('\n');
    expect((JSON.parse(body) as Manifest).parts.every((part) => part.final)).toBe(true);
  });
}

const signs = `(CASE i % 4 WHEN 0 THEN '-0.0' WHEN 2 THEN '0.0' ELSE '1.5' END)::DOUBLE`;
const bytes = `unhex(CASE i % 4 WHEN 0 THEN 'ff' WHEN 1 THEN '41' WHEN 2 THEN '0001' ELSE 'c3a9' END)`;
const negativeZeros = 'count(*) FILTER (f = 0 AND signbit(f))';

test('equal zeros and bytes are found at once, when compressed, when copied, and after a restart, and keep their signs', async () => {
  await run(
    `CREATE TABLE zeros AS SELECT i, ${signs} AS f, ${signs}::FLOAT AS g, ${bytes} AS b FROM range(400) AS r(i)`,
  );
  const questions = [
    ['SELECT count(*) FROM zeros WHERE f = 0', 200],
    ['SELECT count(*) FROM zeros WHERE g = 0', 200],
    [`SELECT count(*) FROM zeros WHERE b = unhex('ff')`, 100],
    [`SELECT count(*) FROM zeros WHERE b = unhex('0001')`, 100],
    [`SELECT ${negativeZeros} FROM zeros`, 100],
  ] as const;
  const askAll = async (): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (const [sql] of questions) found.push(await count(sql));
    return found;
  };
  const expected = questions.map(([, rows]) => rows);
  expect(await askAll()).toEqual(expected);
  await compressed('zeros');
  for (let times = 0; times < 3; times++) expect(await askAll()).toEqual(expected);
  await restart();
  expect(await askAll()).toEqual(expected);
  expect(await run('DELETE FROM zeros WHERE f = 0')).toMatchObject({ updated: 200 });
});

test('a frame with a type that DuckDB writes keeps the signs of its zeros, also inside other types', async () => {
  await run(
    `CREATE TABLE nested AS SELECT i, ${signs} AS f, ${bytes} AS b, [${signs}] AS l, {'x': ${signs}} AS s,
     uuid '5c7a3ff0-1c1e-4d2a-9a77-0123456789ab' AS u FROM range(400) AS r(i)`,
  );
  const found = `SELECT [${negativeZeros}, count(*) FILTER (f = 0), count(*) FILTER (signbit(l[1])),
    count(*) FILTER (signbit(s.x)), count(*) FILTER (b = unhex('ff'))] FROM nested`;
  const expected = [100, 200, 100, 100, 100];
  expect(await count(found)).toEqual(expected);
  expect(await count(`SELECT count(*) FROM nested WHERE f = 0`)).toBe(200);
  expect(await count(`SELECT count(*) FROM nested WHERE b = unhex('ff')`)).toBe(100);
  await compressed('nested');
  expect(await count(found)).toEqual(expected);
  expect(await run(`DELETE FROM nested WHERE b = unhex('ff')`)).toMatchObject({ updated: 100 });
});

test('a change of one row leaves the signs of the others, and is found by its own', async () => {
  await run(`CREATE TABLE changed AS SELECT i, ${signs} AS f FROM range(400) AS r(i)`);
  await run('UPDATE changed SET i = i + 1000 WHERE i = 5');
  expect(await count(`SELECT ${negativeZeros} FROM changed`)).toBe(100);
  await run(`UPDATE changed SET f = '-0.0'::DOUBLE WHERE i = 1`);
  expect(await count(`SELECT ${negativeZeros} FROM changed`)).toBe(101);
  expect(await run('UPDATE changed SET i = i WHERE f = 0')).toMatchObject({ updated: 201 });
});

test('a change by another table leaves the signs inside lists, structs and maps', async () => {
  await run(
    `CREATE TABLE joined AS SELECT i, i AS m, MAP {'a': ${signs}} AS c, [${signs}] AS l FROM range(400) AS r(i)`,
  );
  await run(`UPDATE joined SET m = joined.m + 1 FROM (SELECT '-0.0'::DOUBLE AS d) AS k WHERE joined.c['a'] = k.d`);
  expect(
    await count(`SELECT [count(*) FILTER (signbit(c['a'])), count(*) FILTER (signbit(l[1]))] FROM joined`),
  ).toEqual([100, 100]);
});

test('intervals that are equal keep their parts', async () => {
  await run(
    `CREATE TABLE spans AS SELECT i, CASE i % 2 WHEN 0 THEN INTERVAL 24 HOUR ELSE INTERVAL 1 DAY END AS v FROM range(400) AS r(i)`,
  );
  for (let times = 0; times < 4; times++) {
    expect(await count(`SELECT count(*) FROM spans WHERE v::VARCHAR = '1 day'`)).toBe(200);
    await compressed('spans');
  }
});

test('a copy for statements has the signs of zeros where a column has nothing but zeros', async () => {
  await run(
    `CREATE TABLE onlyzeros AS SELECT i, (CASE i % 2 WHEN 0 THEN '-0.0' ELSE '0.0' END)::DOUBLE AS f FROM range(400) AS r(i)`,
  );
  for (let times = 0; times < 6; times++) {
    expect(await count(`SELECT ${negativeZeros} FROM onlyzeros`)).toBe(200);
    await compressed('onlyzeros');
  }
});

test('NaN that arithmetic made is found as every other NaN', async () => {
  await run(
    `CREATE TABLE nans AS SELECT i, CASE WHEN i % 2 = 0 THEN 'inf'::DOUBLE - 'inf'::DOUBLE ELSE i END AS f FROM range(400) AS r(i)`,
  );
  expect(await count(`SELECT count(*) FROM nans WHERE f = 'nan'::DOUBLE`)).toBe(200);
  await compressed('nans');
  expect(await count(`SELECT count(*) FROM nans WHERE f = 'nan'::DOUBLE`)).toBe(200);
  expect(await run(`DELETE FROM nans WHERE f = 'nan'`)).toMatchObject({ updated: 200 });
});

const ofPyarrow = [
  ['f > 100', 200],
  ['f <> 1', 200],
  [`f = 'nan'`, 200],
  ['NOT f <= 1', 200],
  ['g > 100', 200],
  ['h > 100', 200],
  ['h = 1', 200],
  ['z = 0', 200],
  [`b = unhex('ff')`, 100],
  [`w = unhex('ff00')`, 200],
  ['st.x > 100', 200],
] as const;
const ofDuckDb2 = [
  ['z = 0', 200],
  [`f = 'nan'`, 200],
  [`b = unhex('ff')`, 100],
  [`b = unhex('00')`, 100],
] as const;

test.each([
  { file: 'pyarrow.parquet', how: 'uploaded', handle: 'up_pyarrow', conditions: ofPyarrow },
  { file: 'pyarrow.parquet', how: 'moved in', handle: 'in_pyarrow', conditions: ofPyarrow },
  { file: 'duckdb-2.parquet', how: 'uploaded', handle: 'up_duckdb', conditions: ofDuckDb2 },
  { file: 'duckdb-2.parquet', how: 'moved in', handle: 'in_duckdb', conditions: ofDuckDb2 },
])(
  'no row of $file, $how, is hidden by what the file says of its values',
  async ({ file, how, handle, conditions }) => {
    await bring(file, how, handle);
    for (const [condition, rows] of conditions) {
      const found = [
        await count(`SELECT count(*) FROM ${handle} WHERE ${condition}`),
        await count(`SELECT count(*) FILTER (${condition}) FROM ${handle}`),
      ];
      expect([condition, ...found]).toEqual([condition, rows, rows]);
    }
    expect(await count(`SELECT max(i) FROM ${handle} WHERE z = 0 AND rowid < 100`)).toBe(98);
    const last = conditions.at(-1);
    expect(await run(`DELETE FROM ${handle} WHERE ${last?.[0]}`)).toMatchObject({ updated: last?.[1] });
  },
);

test.each(['uploaded', 'moved in'])(
  'floats of a file without NaN, %s, are pruned by once it was examined',
  async (how) => {
    const [free, nan] = [`free_${how.slice(0, 2)}`, `nan_${how.slice(0, 2)}`];
    await bring('free-of-nan.parquet', how, free);
    await bring('pyarrow.parquet', how, nan);
    const isPruned = async (handle: string): Promise<boolean> => {
      const { dataset } = await run(`EXPLAIN SELECT i FROM ${handle} WHERE f > 1e6`);
      return JSON.stringify(dataset).includes('EMPTY_RESULT');
    };
    await soon(async () => expect(await isPruned(free)).toBe(true));
    await soon(async () => expect(await textOfManifest(nan)).toContain('"exact":true'));
    expect(await isPruned(nan)).toBe(false);
    await restart();
    expect([await isPruned(free), await isPruned(nan)]).toEqual([true, false]);
    expect(await count(`SELECT [count(*) FILTER (f > 100), sum(st.x)] FROM ${free}`)).toEqual([170, 39_900]);
  },
);

test.each(['uploaded', 'moved in'])(
  'the greatest number of a column is not NaN beside columns with NaN, %s',
  async (how) => {
    const handle = `max_${how.slice(0, 2)}`;
    await bring('pyarrow.parquet', how, handle);
    expect(await count(`SELECT max(m) FROM ${handle}`)).toBe(2);
    expect(await count(`SELECT (SELECT max(m) FROM ${handle}) FROM ${handle} WHERE rowid = 0`)).toBe(2);
  },
);
