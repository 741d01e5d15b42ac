import { join } from 'node:path';
import { arrowField, arrowFields, endOfStream, schemaMessage } from '@framehold/arrow-ipc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterVenv } from '../../../test/cluster/support/cluster-venv.ts';
import { startSail } from '../../../test/cluster/support/sail.ts';
import { duckDbConnection } from '../../../test/support/duckdb-connection.ts';
import { needed } from '../../../test/support/missing.ts';
import { frameTable, rowsOf, runSql, sparkEngine, unstopped } from '../../../test/support/spark-engine.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { Cleanup } from '../../core/async/cleanup.ts';
import { silentLogger } from '../../core/logs/logger.ts';
import type { SqlResult } from '../../core/sql/sql.ts';
import { DuckDbSqlEngine } from '../duckdb/duckdb-sql-engine.ts';
import { NativeCopies } from '../duckdb/native-copies.ts';
import type { SparkEngine } from './spark-engine.ts';

const venv = await needed('Sail', clusterVenv);

async function textOf(result: SqlResult): Promise<{ text: string; totalRows: number }> {
  await using _ = result;
  const pieces: Uint8Array[] = [];
  for await (const { bytes } of result.rows()) pieces.push(bytes);
  return { text: Buffer.concat(pieces).toString(), totalRows: result.totalRows };
}

describe.skipIf(venv === undefined)('rows of a cluster in another form', () => {
  const duckdb = duckDbConnection();
  const cleanup = new Cleanup();
  let engine: SparkEngine;
  let path: string;
  const tables = () => [frameTable('ids', [path])];

  beforeAll(async () => {
    const folder = cleanup.use(await temporaryDirectory()).path;
    path = join(folder, 'ids.parquet');
    await duckdb.run(`COPY (SELECT range AS id, 'n' || range AS name FROM range(30000)) TO '${path}'`);
    const sail = cleanup.use(await startSail());
    const nativeCopies = cleanup.use(
      new NativeCopies({ root: join(folder, 'warm'), budgetBytes: 0, copy: async () => {}, logger: silentLogger }),
    );
    const recoder = cleanup.use(
      new DuckDbSqlEngine({
        threads: 1,
        memoryBytes: 300_000_000,
        tempDirectory: join(folder, 'spill'),
        maxTempBytes: 1e9,
        maxQueue: 10,
        workers: 1,
        timeoutMs: 60_000,
        nativeCopies,
        logger: silentLogger,
        reach: {
          coldDirectory: folder,
          warmDirectory: nativeCopies.directory,
          analyticsPath: join(folder, 'a.duckdb'),
        },
      }),
    );
    engine = cleanup.use(sparkEngine({ url: sail.url, coldDirectory: folder, recoder }));
  });
  afterAll(() => cleanup[Symbol.asyncDispose]());

  it('a page of JSON, chosen columns, and the count of all rows', async () => {
    const sql = 'SELECT id, name FROM ids ORDER BY id';
    const page = { form: 'ndjson', fromRow: 20_000, toRow: 20_002, columns: ['name'] } as const;
    expect(await textOf(await runSql(engine, sql, { tables: tables(), ...page }))).toMatchObject({
      text: '{"name":"n20000"}\n{"name":"n20001"}\n',
    });
    expect(await textOf(await runSql(engine, sql, { tables: tables(), ...page, countAll: true }))).toMatchObject({
      totalRows: 30_000,
    });
  });

  it('types that are not ours become ours', async () => {
    const result = await runSql(engine, "SELECT INTERVAL '1' DAY AS d, id FROM ids LIMIT 1", { tables: tables() });
    expect(result.columns[0]?.type).toEqual({ kind: 'interval' });
    expect(await rowsOf(result)).toHaveLength(1);
  });

  it.each([
    'SELECT NULL AS a, id FROM ids LIMIT 1',
    "SELECT NULL AS a, INTERVAL '1' MONTH AS b, id FROM ids LIMIT 1",
    'SELECT array() AS a, id FROM ids LIMIT 1',
    'SELECT struct(NULL AS x) AS a, id FROM ids LIMIT 1',
  ])('%s has the columns that it was described with', async (sql) => {
    const statement = await engine.sql.analyze(sql, unstopped);
    if (statement.kind !== 'query') throw new Error('not a query');
    const described = await engine.sql.describe({ query: statement.query, tables: tables() }, unstopped);
    await using result = await runSql(engine, sql, { tables: tables() });
    expect(result.columns).toEqual(described.columns);
    const [field] = arrowFields(result.columns);
    expect(JSON.stringify(field?.children[0] ?? field)).not.toContain('"kind":"null"');
    expect(await rowsOf(result)).toHaveLength(1);
  });

  it('an error in mid-result is the cluster’s own', async () => {
    const sql = 'SELECT CAST(name AS INT) AS n FROM ids';
    const failing = runSql(engine, sql, { tables: tables(), form: 'ndjson' }).then(textOf);
    await expect(failing).rejects.toMatchObject({ code: 'sql_error', message: expect.stringMatching(/cast/i) });
  });

  it('no rows of parameters give no rows', async () => {
    const fields = [arrowField('1', { kind: 'int', bits: 64, signed: true })];
    const parameters = Buffer.concat([schemaMessage(fields), endOfStream]);
    const result = await runSql(engine, 'SELECT id FROM ids WHERE id = ?', { tables: tables(), parameters });
    expect(result.columns).toEqual([{ name: 'id', type: { kind: 'int', bits: 64, signed: true } }]);
    expect(await rowsOf(result)).toEqual([]);
  });
});
