import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';

type Line = Readonly<Record<string, unknown>>;

function slowLines(server: Framehold): Line[] {
  return server
    .log()
    .split('\n')
    .filter((line) => line.includes('"slow statement"'))
    .map((line) => JSON.parse(line) as Line);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function run(server: Framehold, sql: string, headers: Readonly<Record<string, string>> = {}) {
  return ask(`${server.url}/exec?query=${encodeURIComponent(sql)}&engine=local&fmt=json`, { headers });
}

test('a statement that takes long has a line with its hash, its frames and what it took, and none with its text', async () => {
  await using server = await startFramehold({ settings: { 'sql.slow_threshold': '1ms', 'sql.memory_gb': '0.1' } });
  await importRaw(server, 'name=trades', 'a\n1\n2\n');
  const sorted =
    'SELECT range AS secret_column, hash(range) AS h FROM range(4_000_000) ORDER BY h DESC LIMIT 3_000_000';
  const sql = `SELECT count(*) AS n, (SELECT max(a) FROM trades) AS a FROM (${sorted}) WHERE secret_column % 2 = 0`;
  const answer = await run(server, sql, { 'x-request-id': 'mine' });
  expect(answer.status, answer.text).toBe(200);
  await expect.poll(() => slowLines(server).filter(({ operation }) => operation === 'query')).toHaveLength(1);
  const line = slowLines(server).find(({ operation }) => operation === 'query') as Line;
  expect(line).toMatchObject({
    level: 'warn',
    area: 'sql',
    requestId: 'mine',
    tenant: 'default',
    engine: 'local',
    sqlSha256: sha256(sql),
    frames: ['trades'],
    rows: 1,
  });
  for (const figure of ['workMs', 'totalMs', 'bytes', 'spilledBytes']) expect(line[figure], figure).toBeGreaterThan(0);
  expect(line.totalMs).toBeGreaterThanOrEqual(line.workMs as number);
  expect(server.log()).not.toContain('secret_column');
});

test('its rows are told whether they are read, streamed or kept, and a failure by its code', async () => {
  await using server = await startFramehold({ settings: { 'sql.slow_threshold': '1ms' } });
  const sql = 'SELECT range AS n FROM range(100_000)';
  await run(server, sql);
  using flight = new FlightSqlClient(server.grpcAddress.port);
  await flight.query(`${sql} -- streamed`);
  await flight.update('CommandStatementUpdate', [[1, `CREATE TABLE kept AS ${sql}`]]);
  await run(server, `SELECT error('no') FROM range(100_000)`);
  const rowsOf = (text: string) =>
    slowLines(server).find(({ operation, sqlSha256 }) => operation !== 'analyze' && sqlSha256 === sha256(text))?.rows;
  await expect.poll(() => rowsOf(`${sql} -- streamed`)).toBe(100_000);
  await expect.poll(() => rowsOf(`CREATE TABLE kept AS ${sql}`)).toBe(100_000);
  await expect.poll(() => slowLines(server).map(({ errorType }) => errorType)).toContain('sql_error');
});

test('a change that takes longer than sql.timeout changes nothing, and its line tells where the time went', async () => {
  await using server = await startFramehold();
  const sql =
    'CREATE TABLE big AS SELECT range AS id, range * 1.5 AS v, md5(range::VARCHAR) AS s FROM range(1_500_000)';
  using flight = new FlightSqlClient(server.grpcAddress.port);
  await flight.update('CommandStatementUpdate', [[1, sql]]);
  const settings = { 'sql.timeout': '400ms', 'sql.slow_threshold': '1ms' };
  await using impatient = await startFramehold({ dataDir: server.dataDir, settings, startsWorkers: true });
  const change = (text: string) =>
    ask(`${impatient.url}/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql: text }),
    });
  const version = async () => (await ask(`${impatient.url}/handles/big`)).json();
  const before = await version();
  // The start of a process may take as long as all of the time that they have.
  await change('SELECT 1');
  for (const text of [
    'UPDATE big SET s = repeat(s, 20) WHERE id % 2 = 0',
    'INSERT INTO big SELECT id, v, repeat(s, 20) FROM big',
    'CREATE OR REPLACE TABLE big AS SELECT id, repeat(s, 20) AS s FROM big',
  ]) {
    const answer = await change(text);
    expect([answer.status, answer.json().code], text).toEqual([504, 'sql_timeout']);
    expect(await version()).toMatchObject({ version: before.version, rows: 1_500_000 });
    const lines = () =>
      slowLines(impatient).filter(({ sqlSha256, operation }) => sqlSha256 === sha256(text) && operation === 'update');
    await expect.poll(lines).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ frames: ['big'], errorType: 'sql_timeout' });
    expect(lines()[0]?.workMs).toBeGreaterThan(0);
  }
});

test('none has one where the threshold is 0', async () => {
  await using server = await startFramehold({ settings: { 'sql.slow_threshold': '0s' } });
  await run(server, 'SELECT count(*) FROM range(1_000_000)');
  expect(slowLines(server)).toEqual([]);
});
