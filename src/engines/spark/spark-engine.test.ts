import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type ArrowField,
  arrowField,
  arrowTable,
  endOfStream,
  listType,
  schemaMessage,
  utf8Type,
} from '@framehold/arrow-ipc';
import { joinBytes } from '@framehold/columns';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterVenv } from '../../../test/cluster/support/cluster-venv.ts';
import { type Sail, startSail } from '../../../test/cluster/support/sail.ts';
import { duckDbConnection } from '../../../test/support/duckdb-connection.ts';
import { needed } from '../../../test/support/missing.ts';
import { frameTable, rowsOf, runSql, sparkEngine, unstopped } from '../../../test/support/spark-engine.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { SparkEngine } from './spark-engine.ts';

const venv = await needed('Sail', clusterVenv);

const parametersOf = (fields: readonly ArrowField[], rows: readonly (readonly unknown[])[]): Uint8Array =>
  joinBytes([schemaMessage(fields), arrowTable(fields, rows), endOfStream]);

describe.skipIf(venv === undefined)('over Sail', () => {
  const duckdb = duckDbConnection();
  let folder: TemporaryDirectory;
  let sail: Sail;
  let engine: SparkEngine;
  const pathOf = (file: string): string => join(folder.path, 'cold é+#=', file);
  const trades = () => frameTable('trades', [pathOf('trades.parquet'), pathOf('more.parquet')]);
  const big = () => frameTable('big', [pathOf('big.parquet')]);

  beforeAll(async () => {
    folder = await temporaryDirectory();
    sail = await startSail();
    await mkdir(pathOf(''));
    const copy = (sql: string, file: string) => duckdb.run(`COPY (${sql}) TO '${pathOf(file)}'`);
    const columns = `range AS id, 'n' || range AS name, (range * 1.25)::DECIMAL(15,2) AS amount`;
    await copy(`SELECT ${columns} FROM range(100)`, 'trades.parquet');
    await copy(`SELECT ${columns} FROM range(100, 150)`, 'more.parquet');
    await copy('SELECT range AS id FROM range(1000000)', 'big.parquet');
    engine = sparkEngine({ url: sail.url, coldDirectory: pathOf('') });
  });
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
    await sail?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  it('reads exactly the files of a frame, wherever they are', async () => {
    const sql = 'SELECT count(*) AS n, max(id) AS last FROM trades';
    const [row] = await rowsOf(await runSql(engine, sql, { tables: [trades()] }));
    expect(row).toEqual({ n: 150n, last: 149n });
  });

  it.each(['a b', 'a%20b', '[a]', '{a,b}', '*', '?', 'a:b', 'a\\b'])(
    'takes the path %s for no pattern',
    async (name) => {
      const inside = join(folder.path, name);
      await mkdir(inside);
      await copyFile(pathOf('trades.parquet'), join(inside, 'x.parquet'));
      await using own = sparkEngine({ url: sail.url, coldDirectory: folder.path });
      const tables = [frameTable('x', [join(inside, 'x.parquet')])];
      expect(await rowsOf(await runSql(own, 'SELECT count(*) AS n FROM x', { tables }))).toEqual([{ n: 100n }]);
    },
  );

  it.each(['f-1', 'a.b', 'Trades', '_x'])('finds a frame by the odd name %s', async (name) => {
    const tables = [frameTable(name, [pathOf('trades.parquet')])];
    expect(await rowsOf(await runSql(engine, `SELECT count(*) AS n FROM \`${name}\``, { tables }))).toEqual([
      { n: 100n },
    ]);
  });

  it('finds a frame under every spelling of its name', async () => {
    const sql = 'SELECT count(*) AS n FROM Trades JOIN trades AS other ON Trades.id = other.id';
    const [row] = await rowsOf(await runSql(engine, sql, { tables: [trades()] }));
    expect(row).toEqual({ n: 150n });
  });

  it('refuses to read a frame of which a file is missing, and names it without its path', async () => {
    const tables = [frameTable('trades', [pathOf('trades.parquet'), pathOf('gone.parquet')])];
    const failing = runSql(engine, 'SELECT count(*) AS n FROM trades', { tables });
    await expect(failing).rejects.toMatchObject({
      code: 'engine_unreachable',
      message: 'engine cluster does not find the files of frame trades',
      hint: expect.stringContaining('path_map'),
    });
  });

  it('maps the cold directory to what the cluster calls it', async () => {
    await using mapped = sparkEngine({
      url: sail.url,
      coldDirectory: '/elsewhere',
      pathMap: pathToFileURL(pathOf('')).href,
    });
    const tables = [frameTable('trades', ['/elsewhere/trades.parquet'])];
    expect(await rowsOf(await runSql(mapped, 'SELECT count(*) AS n FROM trades', { tables }))).toEqual([{ n: 100n }]);
  });

  it('gives rows of the server itself as a table', async () => {
    const tables = [{ kind: 'list', name: 'held', columns: ['name'], rows: [['b'], ['a']] } as const];
    expect(await rowsOf(await runSql(engine, 'SELECT name FROM held ORDER BY name', { tables }))).toEqual([
      { name: 'a' },
      { name: 'b' },
    ]);
  });

  it('gives an empty result its columns', async () => {
    await using result = await runSql(engine, 'SELECT id, name FROM trades WHERE id < 0', { tables: [trades()] });
    expect(result.columns).toEqual([
      { name: 'id', type: { kind: 'int', bits: 64, signed: true } },
      { name: 'name', type: { kind: 'utf8' } },
    ]);
    expect(await rowsOf(result)).toEqual([]);
    expect(result.totalRows).toBe(0);
  });

  it('passes a large result on as it comes, every row once', async () => {
    await using result = await runSql(engine, 'SELECT id FROM big', { tables: [big()] });
    let sum = 0n;
    for (const { id } of await rowsOf(result)) sum += id as bigint;
    expect([sum, result.totalRows]).toEqual([499_999_500_000n, 1_000_000]);
  });

  it('lets the cluster cut a short result', async () => {
    await using result = await runSql(engine, 'SELECT id FROM big', { tables: [big()], toRow: 7 });
    expect((await rowsOf(result)).length).toBe(7);
  });

  it('describes what a query gives and takes', async () => {
    const statement = await engine.sql.analyze('SELECT amount, id + ? AS next FROM trades', unstopped);
    if (statement.kind !== 'query') throw new Error('not a query');
    const { columns, parameters } = await engine.sql.describe(
      { query: statement.query, tables: [trades()] },
      unstopped,
    );
    expect(columns[0]).toEqual({ name: 'amount', type: { kind: 'decimal', precision: 15, scale: 2 } });
    expect(columns[1]?.name).toBe('next');
    expect(parameters).toEqual([{ kind: 'null' }]);
  });

  it('runs once for each row of parameters, by position or by name', async () => {
    const int = arrowField('1', { kind: 'int', bits: 64, signed: true });
    const sql = 'SELECT id FROM trades WHERE id = ?';
    const parameters = parametersOf([int], [[3], [5], [400]]);
    expect(await rowsOf(await runSql(engine, sql, { tables: [trades()], parameters }))).toEqual([
      { id: 3n },
      { id: 5n },
    ]);
    const fields = [
      { ...int, name: 'high' },
      { ...int, name: 'low' },
    ];
    const named = { tables: [trades()], parameters: parametersOf(fields, [[11, 10]]) };
    const between = 'SELECT id FROM trades WHERE id BETWEEN :low AND :high ORDER BY id';
    expect(await rowsOf(await runSql(engine, between, named))).toEqual([{ id: 10n }, { id: 11n }]);
  });

  it.each([
    ['a truth value', { kind: 'bool' }, true, 'true'],
    ['a false one', { kind: 'bool' }, false, 'false'],
    ['a small integer', { kind: 'int', bits: 8, signed: true }, -5, '-5'],
    ['an unsigned integer', { kind: 'int', bits: 32, signed: false }, 4_000_000_000, '4000000000'],
    ['the largest unsigned integer', { kind: 'int', bits: 64, signed: false }, 2n ** 64n - 1n, '18446744073709551615'],
    ['zero', { kind: 'int', bits: 64, signed: true }, 0, '0'],
    ['a fraction', { kind: 'float', bits: 64 }, 1.5, '1.5'],
    ['a short fraction', { kind: 'float', bits: 32 }, 0.25, '0.25'],
    ['a decimal', { kind: 'decimal', precision: 10, scale: 3, bits: 128 }, -1005n, '-1.005'],
    ['text', utf8Type, `it's "é"😀 -- ;`, `it's "é"😀 -- ;`],
    ['empty text', utf8Type, '', ''],
    ['a date', { kind: 'date', unit: 'day' }, 20_484, '2026-01-31'],
    ['a timestamp', { kind: 'timestamp', unit: 'ms', zoned: false }, 1_767_225_600_123n, '2026-01-01 00:00:00.123'],
    [
      'a point in time',
      { kind: 'timestamp', unit: 'us', zoned: true },
      1_767_225_600_123_456n,
      '2026-01-01 00:00:00.123456',
    ],
    ['nothing', { kind: 'null' }, null, null],
    ['no text', utf8Type, null, null],
  ] as const)('a parameter that is %s arrives as one', async (_, type, value, text) => {
    const parameters = parametersOf([arrowField('1', type)], [[value]]);
    expect(await rowsOf(await runSql(engine, 'SELECT CAST(? AS STRING) AS value', { parameters }))).toEqual([
      { value: text },
    ]);
  });

  it.each([
    ['DATE', '2026-01-31', '2026-01-31'],
    ['TIMESTAMP', '2026-01-31T12:00:00.5', '2026-01-31 12:00:00.5'],
    ['TIMESTAMPTZ', '2026-01-31 12:00:00+02:00', '2026-01-31 10:00:00'],
    ['DECIMAL(20,4)', '1234567890123456.7891', '1234567890123456.7891'],
    ['BIGINT', '-9', '-9'],
    ['BOOLEAN', 'true', 'true'],
    ['DOUBLE', '2.5', '2.5'],
  ])('a text that is meant as %s arrives as one', async (sqlType, text, shown) => {
    const metadata = { 'ARROW:FLIGHT:SQL:TYPE_NAME': sqlType };
    const parameters = parametersOf([arrowField('1', utf8Type, { metadata })], [[text]]);
    expect(await rowsOf(await runSql(engine, 'SELECT CAST(? AS STRING) AS value', { parameters }))).toEqual([
      { value: shown },
    ]);
    const wrong = parametersOf([arrowField('1', utf8Type, { metadata })], [['nonsense']]);
    await expect(runSql(engine, 'SELECT ?', { parameters: wrong })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
  });

  it.each([
    ['no list', null, true],
    ['a list', [1, null], false],
  ])('a parameter that is %s arrives as one', async (_, value, isNull) => {
    const children = [arrowField('item', { kind: 'int', bits: 32, signed: true })];
    const list = arrowField('1', listType, { children });
    for (const field of [list, arrowField('1', listType, { children: [list] })]) {
      const parameters = parametersOf([field], [[field === list || value === null ? value : [value]]]);
      expect(await rowsOf(await runSql(engine, 'SELECT ? IS NULL AS x', { parameters }))).toEqual([{ x: isNull }]);
    }
  });

  it('refuses rows of parameters that give other types', async () => {
    const places = [arrowField('1', { kind: 'int', bits: 32, signed: true })];
    const sql = 'SELECT round(CAST(1.2345 AS DECIMAL(10,4)), ?) AS r';
    await expect(
      runSql(engine, sql, { parameters: parametersOf(places, [[1], [2]]) }).then(rowsOf),
    ).rejects.toMatchObject({ code: 'sql_error', message: 'the rows of parameters give results of different types' });
  });

  it('leaves it to the reader to write rows that have an order, which its files would lose', async () => {
    const statement = await engine.sql.analyze('SELECT id FROM big ORDER BY id', unstopped);
    if (statement.kind !== 'query') throw new Error('not a query');
    const job = { query: statement.query, tables: [big()], folder: pathOf('') };
    expect(await engine.sql.write?.(job, unstopped)).toEqual([]);
  });

  it('writes Parquet files and gives their paths', async () => {
    const target = pathOf('kept');
    await mkdir(target);
    const statement = await engine.sql.analyze('SELECT id FROM big', unstopped);
    if (statement.kind !== 'query') throw new Error('not a query');
    const paths =
      (await engine.sql.write?.({ query: statement.query, tables: [big()], folder: target }, unstopped)) ?? [];
    const list = paths.map((path) => `'${path}'`).join();
    const [kept] = await duckdb.rows<{ n: number; s: number }>(
      `SELECT count(*)::INT AS n, (sum(id))::DOUBLE AS s FROM read_parquet([${list}])`,
    );
    expect(kept).toEqual({ n: 1_000_000, s: 499_999_500_000 });
    const files = (await readdir(target, { recursive: true })).filter((name) => name.includes('.'));
    expect(files).toHaveLength(paths.length);
    await rm(target, { recursive: true });
  });

  it.each([
    ['SELECT nosuch FROM trades', /nosuch/, undefined],
    ['SELECT 1/0 AS x', /divide by zero/i, undefined],
    ['SELECT id\n FROM trades -- x\n JOIN', /expected the name of a table/, 33],
  ])('%s is refused in words that a caller can use', async (sql, message, position) => {
    const failing = runSql(engine, sql, { tables: [trades()] }).then((result) => rowsOf(result));
    await expect(failing).rejects.toMatchObject({
      code: 'sql_error',
      message: expect.stringMatching(message),
      position,
    });
  });

  it('takes double quotes for a name and doubled quotes for one, though Sail does not', async () => {
    const sql = `SELECT 'it''s' AS "a b" FROM "trades" LIMIT 1`;
    expect(await rowsOf(await runSql(engine, sql, { tables: [trades()] }))).toEqual([{ 'a b': "it's" }]);
  });

  it('runs no more queries at once than it may, and refuses those that would wait too long', async () => {
    await using small = sparkEngine({ url: sail.url, coldDirectory: pathOf(''), maxConcurrent: 1 });
    await using first = await runSql(small, 'SELECT id FROM big', { tables: [big()] });
    const waiting = Array.from({ length: 17 }, () => runSql(small, 'SELECT 1 AS x').then(rowsOf));
    const outcomes = Promise.allSettled(waiting);
    await expect(waiting.at(-1)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    await rowsOf(first);
    expect((await outcomes).filter(({ status }) => status === 'fulfilled')).toHaveLength(16);
  });

  it('stops a query whose reader goes away, and serves the next', async () => {
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const sql = 'SELECT a.id FROM big a CROSS JOIN big b';
    const result = await runSql(engine, sql, { tables: [big()], options });
    const reading = rowsOf(result);
    controller.abort(new Error('gone'));
    await expect(reading).rejects.toThrow('gone');
    expect(await rowsOf(await runSql(engine, 'SELECT 1 AS x'))).toEqual([{ x: 1 }]);
  });

  it('tells how the server is, and what to do when it is not there', async () => {
    expect(await engine.health(unstopped)).toMatchObject({ state: 'up' });
    await using away = sparkEngine({ url: 'sc://127.0.0.1:1/;token=s3cret', connectTimeoutMs: 300 });
    expect(await away.health(unstopped)).toEqual({
      state: 'down',
      problem: 'engine cluster cannot be reached: nothing listens there',
    });
    await expect(runSql(away, 'SELECT 1')).rejects.toMatchObject({ code: 'engine_unreachable' });
  });

  it('serves again after the server was killed and started anew', async () => {
    await using own = await startSail();
    await using survivor = sparkEngine({ url: own.url, coldDirectory: pathOf('') });
    const running = await runSql(survivor, 'SELECT a.id FROM big a CROSS JOIN big b', { tables: [big()] });
    await own.kill();
    await expect(rowsOf(running)).rejects.toMatchObject({ code: 'engine_unreachable' });
    await own.restart();
    // The new session has the same settings.
    await expect(runSql(survivor, 'SELECT 1/0 AS x').then(rowsOf)).rejects.toMatchObject({ code: 'sql_error' });
    expect(await rowsOf(await runSql(survivor, 'SELECT count(*) AS n FROM trades', { tables: [trades()] }))).toEqual([
      { n: 150n },
    ]);
  });
});
