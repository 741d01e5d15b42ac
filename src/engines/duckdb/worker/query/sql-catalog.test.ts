import { join } from 'node:path';
import { DuckDbError } from '@framehold/duckdb';
import { expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { temporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import type { QueryTable } from '../../protocol/protocol.ts';
import { SqlCatalog } from './sql-catalog.ts';

const interrupted = new DuckDbError('INTERRUPT Error: Interrupted!');

function table(name: string): QueryTable {
  return { name, source: { kind: 'list', name, columns: ['of'], rows: [[name]] } };
}

test('a cancel while old views make room hides no frame from the next query', async () => {
  await using directory = await temporaryDirectory();
  const connection = duckDbConnection();
  const analyticsPath = join(directory.path, 'analytics.duckdb');
  const catalog = await SqlCatalog.open(connection, {
    directories: [directory.path],
    files: [analyticsPath],
    analyticsPath,
    isConfined: false,
  });
  const names = Array.from({ length: 500 }, (_, n) => `t${n}`);
  for (const name of names) await catalog.show([table(name)]);

  const run = connection.run.bind(connection);
  let drops = 0;
  connection.run = async (sql) => {
    if (sql.startsWith('DROP VIEW') && ++drops === 3) throw interrupted;
    await run(sql);
  };
  await expect(catalog.show([table('one_more')])).rejects.toBe(interrupted);
  for (const name of ['t0', 't1', 't2', 't3', 't499']) {
    await catalog.show([table(name)]);
    expect(await connection.rows(`FROM ${name}`)).toEqual([{ of: name }]);
  }
});

test('what is opened for a query is closed behind it, also where interrupts still come', async () => {
  const connection = duckDbConnection();
  const run = connection.run.bind(connection);
  let interrupts = 3;
  connection.run = async (sql) => {
    if (interrupts-- > 0) throw interrupted;
    await run(sql);
  };
  await run("ATTACH ':memory:' AS analytics");
  await connection.tidy('DETACH DATABASE IF EXISTS analytics');
  expect(connection.isSpoilt).toBe(false);
  const left = "SELECT database_name AS name FROM duckdb_databases() WHERE database_name = 'analytics'";
  expect(await connection.rows(left)).toEqual([]);

  interrupts = Number.POSITIVE_INFINITY;
  await expect(connection.tidy('DETACH DATABASE IF EXISTS analytics')).rejects.toBe(interrupted);
  expect(connection.isSpoilt).toBe(true);
});
