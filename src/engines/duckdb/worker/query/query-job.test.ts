import { join } from 'node:path';
import { expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { temporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import type { RunQueryJob } from '../../protocol/protocol.ts';
import { runKeptShort, runQuery } from './query-job.ts';
import { SqlCatalog } from './sql-catalog.ts';

test('an ASOF JOIN that runs again over a warm copy gives its rows again', async () => {
  await using directory = await temporaryDirectory();
  const connection = duckDbConnection();
  const path = join(directory.path, 'warm.duckdb');
  await connection.run(`ATTACH '${path}' AS made`);
  await connection.run('CREATE TABLE made.main.frame AS SELECT range AS n, range % 3 AS s FROM range(3000)');
  await connection.run('DETACH made');
  const settings = { directories: [directory.path], files: [], analyticsPath: undefined, isConfined: false };
  const catalog = await SqlCatalog.open(connection, settings);
  const sql = 'SELECT a.s, b.n FROM t a ASOF JOIN t b ON a.s = b.s AND a.n >= b.n LIMIT 2';
  const job: RunQueryJob = {
    query: { sql, tables: [{ catalog: undefined, schema: undefined, name: 't' }], parameterCount: 0 },
    tables: [{ name: 't', source: { kind: 'warm', path, parts: [], columns: [] } }],
    hasParameters: false,
    form: 'arrow',
  };
  const input = (async function* () {})();
  for (let round = 0; round < 4; round++) {
    const short = runKeptShort(catalog, job);
    if (short !== undefined) {
      expect(short.totalRows).toBe(2);
      continue;
    }
    const rows = runQuery(
      { catalog, parameters: catalog.connection, signal: new AbortController().signal, input },
      job,
    );
    let step = await rows.next();
    while (step.done !== true) step = await rows.next();
    expect(step.value).toBe(2);
  }
});
