import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { tenantCaller } from '../support/tenants.ts';
import { duckDbDoor } from './support/duckdb-door.ts';
import { runTestFile } from './support/run-test-file.ts';
import { flightSqlDoor, httpDoor, type SqlDoor } from './support/sql-door.ts';
import { type TestFile, testFilesIn } from './support/test-file.ts';

const files = testFilesIn(fileURLToPath(new URL('.', import.meta.url)));
const folders = [...new Set(files.map(({ path }) => dirname(path)))];

function named(file: TestFile): [name: string, file: TestFile] {
  return [`${file.path}: ${file.title}`, file];
}

/** Files that run at once are each in a tenant of their own, so that each has all names to itself. */
const tenants = ['first', 'second', 'third'];

interface Lane {
  readonly http: SqlDoor;
  readonly flightSql: SqlDoor;
}

const cleanup = new Cleanup();
const lanes: Lane[] = [];
beforeAll(async () => {
  const server: Framehold = cleanup.use(
    await startFramehold({ settings: { 'auth.enabled': 'true', 'sql.workers': '3' } }),
  );
  for (const tenant of tenants) {
    const caller = await tenantCaller(server, tenant);
    const client = new FlightSqlClient(server.grpcAddress.port, caller.headers);
    cleanup.defer(() => caller[Symbol.dispose]());
    cleanup.defer(() => client[Symbol.dispose]());
    lanes.push({ http: httpDoor(server, { headers: caller.headers }), flightSql: flightSqlDoor(client) });
  }
});
afterAll(async () => {
  await cleanup[Symbol.asyncDispose]();
});

/** No more tests than lanes run at once. */
async function inLane<T>(file: TestFile, run: (lane: Lane) => Promise<T>): Promise<T> {
  const lane = lanes.pop();
  if (lane === undefined) throw new Error('more files run at once than there are tenants');
  try {
    return await run(lane);
  } finally {
    for (const [name] of await lane.http.query('SHOW TABLES', [])) await lane.http.run(`DROP TABLE "${name}"`, []);
    if (file.records.some(({ sql }) => /create .*(?:macro|function|type)/i.test(sql))) await dropDefinitions(lane.http);
    lanes.push(lane);
  }
}

async function dropDefinitions(http: SqlDoor): Promise<void> {
  const functions = `SELECT DISTINCT CASE function_type WHEN 'macro' THEN 'MACRO' ELSE 'MACRO TABLE' END, function_name
    FROM duckdb_functions() WHERE schema_name = 'frames'`;
  const types = "SELECT 'TYPE', type_name FROM duckdb_types() WHERE schema_name = 'frames'";
  for (const [kind, name] of await http.query(`${functions} UNION ALL ${types}`, []))
    await http.run(`DROP ${kind} "${name}"`, []);
}

describe.concurrent.each(folders)('SQL of %s', (folder) => {
  const inFolder = files.filter(({ path }) => dirname(path) === folder);

  test.each(inFolder.map(named))('%s', async (_, file) => {
    using duckdb = await duckDbDoor();
    expect(await runTestFile(file, duckdb)).toEqual([]);
    await inLane(file, async ({ http }) => expect(await runTestFile(file, http)).toEqual([]));
  });
});

/** Enough of them, since both doors have the same engine behind them. */
const overFlightSql = files.filter(
  ({ records }, at) => at % 10 === 0 && records.every(({ parameters }) => parameters.length === 0),
);

describe.concurrent('SQL over Flight SQL', () => {
  test.each(overFlightSql.map(named))('%s', async (_, file) => {
    await inLane(file, async ({ flightSql }) => expect(await runTestFile(file, flightSql)).toEqual([]));
  });
});
