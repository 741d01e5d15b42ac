import { join } from 'node:path';
import { arrowField, endOfStream, schemaMessage } from '@framehold/arrow-ipc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { silentLogger } from '../../core/logs/logger.ts';
import type { SqlRun } from '../../core/sql/sql.ts';
import { DuckDbSqlEngine } from './duckdb-sql-engine.ts';
import { NativeCopies } from './native-copies.ts';

const never = new AbortController().signal;

let directory: TemporaryDirectory;
let nativeCopies: NativeCopies;
let engine: DuckDbSqlEngine;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const copy = async (): Promise<void> => {};
  nativeCopies = new NativeCopies({ root: join(directory.path, 'warm'), budgetBytes: 0, copy, logger: silentLogger });
  engine = new DuckDbSqlEngine({
    workers: 1,
    threads: 2,
    memoryBytes: 300_000_000,
    tempDirectory: join(directory.path, 'spill'),
    maxTempBytes: 1_000_000_000,
    maxQueue: 100,
    timeoutMs: 60_000,
    logger: silentLogger,
    nativeCopies,
    reach: {
      coldDirectory: directory.path,
      warmDirectory: nativeCopies.directory,
      analyticsPath: join(directory.path, 'analytics.duckdb'),
    },
  });
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await nativeCopies[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

async function ask(sql: string, run: Partial<SqlRun> = {}, signal = never): Promise<{ text: string; total: number }> {
  const statement = await engine.analyze(sql, { signal: never });
  if (statement.kind !== 'query') throw new Error('not a query');
  await using result = await engine.run({ query: statement.query, tables: [], form: 'ndjson', ...run }, { signal });
  let text = '';
  for await (const piece of result.rows()) text += Buffer.from(piece.bytes).toString();
  return { text: text.trim().replaceAll(/\s+/g, ' '), total: result.totalRows };
}

test('asked again and again, a short statement gives the rows, the columns and the form that are wanted each time', async () => {
  const sql = "SELECT range AS n, 'x' || range AS t FROM range(4)";
  for (let round = 0; round < 5; round++) {
    expect(await ask(sql)).toEqual({
      text: '{"n":0,"t":"x0"} {"n":1,"t":"x1"} {"n":2,"t":"x2"} {"n":3,"t":"x3"}',
      total: 4,
    });
    const some = await ask(sql, { form: 'exec-json', fromRow: 1, toRow: 3, columns: ['t'], countAll: true });
    expect(some).toEqual({ text: '["x1"],["x2"],', total: 4 });
  }
});

test('one that gives no rows gives its columns', async () => {
  for (let round = 0; round < 4; round++) {
    expect(await ask('SELECT 1 AS a WHERE false')).toEqual({ text: '', total: 0 });
  }
});

test('one that takes long only at times ends each time', async () => {
  const sql = `SELECT count(*) AS n FROM (SELECT unnest(range(
    CASE WHEN random() < 0.5 THEN 10 ELSE 2000000 END::BIGINT)))`;
  const counts = new Set<string>();
  for (let round = 0; round < 30; round++) counts.add((await ask(sql)).text);
  expect([...counts].sort()).toEqual(['{"n":10}', '{"n":2000000}']);
});

test('one that fails at times tells why', async () => {
  const sql = "SELECT CASE WHEN random() < 0.5 THEN error('odd this time') ELSE 1 END AS n";
  const answers = new Set<string>();
  for (let round = 0; round < 30; round++) {
    answers.add(
      await ask(sql).then(
        ({ text }) => text,
        (error: Error) => error.message,
      ),
    );
  }
  expect([...answers].sort()).toEqual([expect.stringContaining('odd this time'), '{"n":1}']);
});

test('one that is cancelled as soon as it is sent leaves its worker alive', async () => {
  await ask('SELECT 1');
  const before = engine.pids;
  for (const sql of ['SELECT 1', 'SELECT sum(a.range * b.range) FROM range(10_000_000) a, range(10_000_000) b']) {
    const caller = new AbortController();
    const asked = ask(sql, {}, caller.signal);
    // After the analysis, with the job sent.
    await engine.analyze(sql, { signal: never });
    setImmediate(() => caller.abort(new Error('left')));
    await asked.catch((error: Error) => expect(error.message).toBe('left'));
    expect((await ask('SELECT 1 AS n')).text).toBe('{"n":1}');
  }
  expect(engine.pids).toEqual(before);
});

test('one that takes no parameters refuses them each time', async () => {
  const fields = [arrowField('1', { kind: 'int', bits: 32, signed: true })];
  const parameters = Buffer.concat([schemaMessage(fields), endOfStream]);
  for (let round = 0; round < 4; round++) {
    await expect(ask('SELECT 7', { parameters })).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect((await ask('SELECT 7 AS n')).text).toBe('{"n":7}');
    expect((await ask('SELECT 7')).text).toBe('{"7":7}');
  }
});
