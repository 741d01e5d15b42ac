import { join } from 'node:path';
import { Int32, Table, tableFromIPC, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { byCommand, ipcOf } from '../support/flight-client.ts';
import { any, type FieldValue, FlightSqlClient } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { needed } from '../support/missing.ts';
import { runCommand } from '../support/spawned-command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { clusterVenv } from './support/cluster-venv.ts';
import { type Sail, startSail } from './support/sail.ts';

const venv = await needed('Sail', clusterVenv);

describe.skipIf(venv === undefined)('a cluster behind every door', () => {
  const cleanup = new Cleanup();
  let sail: Sail;
  let server: Framehold;

  beforeAll(async () => {
    sail = cleanup.use(await startSail());
    const cold = join(cleanup.use(await temporaryDirectory()).path, 'a b', 'kühl');
    const toml = `
[sql]
auto_engine = "sail"
auto_threshold = "20KB"
[engines.sail]
kind = "spark-connect"
url = "${sail.url}/;token=hidden-token"
path_map = "${cold}"
`;
    server = cleanup.use(await startFramehold({ toml, settings: { 'storage.parquet_path': cold } }));
    await putSql(server.frames, 'small', 'SELECT range AS n FROM range(10)');
    await putSql(server.frames, 'big', 'SELECT range AS n, hash(range)::VARCHAR AS h FROM range(20000)');
  });
  afterAll(() => cleanup[Symbol.asyncDispose]());

  const get = (door: string, query: string, parameters: Record<string, string>) =>
    ask(`${server.url}/${door}?${new URLSearchParams({ query, ...parameters })}`);
  const post = (body: object) => ask(`${server.url}/sql`, { method: 'POST', body: JSON.stringify(body) });

  const sql = 'SELECT max(n) AS most FROM small';

  describe('over HTTP', () => {
    test('GET /exec, GET /exp and POST /sql run a statement there by its name', async () => {
      const told = { engine: 'sail', engine_reason: 'named by the caller' };
      expect((await get('exec', sql, { fmt: 'json', engine: 'sail' })).json()).toMatchObject({
        dataset: [[9]],
        ...told,
      });
      expect((await get('exp', sql, { fmt: 'csv', engine: 'sail' })).text).toBe('most\r\n9\r\n');
      expect((await post({ sql, engine: 'sail' })).json()).toMatchObject({ dataset: [[9]], ...told });
    });

    test.each(['csv', 'tsv', 'json', 'ndjson', 'arrow', 'parquet'])('GET /exp writes its rows as %s', async (fmt) => {
      const answer = await get('exp', 'SELECT n FROM small ORDER BY n', { fmt, engine: 'sail' });
      expect([answer.status, answer.headers['x-framehold-engine']]).toEqual([200, 'sail']);
      expect(answer.body.length).toBeGreaterThan(0);
    });

    test('parameters and ranges of rows hold there', async () => {
      const request = { sql: 'SELECT n FROM small WHERE n < :most ORDER BY n', params: { most: 5 }, limit: '2,3' };
      expect((await post({ ...request, engine: 'sail' })).json()).toMatchObject({ dataset: [[1], [2]] });
    });

    test.each([
      ['SELECT ?', undefined, 'the statement takes 1 parameter, and params is not given'],
      ['SELECT :x', undefined, 'the statement takes 1 parameter (x), and params is not given'],
      ['SELECT :x', [1], 'the statement names its parameters: x'],
    ])('%s with %j says what is missing', async (text, params, error) => {
      expect((await post({ sql: text, params, engine: 'sail' })).json()).toMatchObject({ error });
    });

    test('parameters without names are told how names are written there', async () => {
      const answer = await post({ sql: 'SELECT ?', params: { x: 1 }, engine: 'sail' });
      expect(answer.json().hint).toContain('on a cluster engine :name');
    });

    const chained = (count: number, piece: string, between: string): string =>
      new Array<string>(count).fill(piece).join(between);
    test.each([
      ['OR', 190, `SELECT count(*) AS c FROM small WHERE ${chained(190, 'n = 1', ' OR ')}`],
      ['OR', 500, `SELECT count(*) AS c FROM small WHERE ${chained(500, 'n = 1', ' OR ')}`],
      ['UNION ALL', 100, chained(100, 'SELECT 1 AS c', ' UNION ALL ')],
      ['UNION ALL', 400, chained(400, 'SELECT 1 AS c', ' UNION ALL ')],
      ['LATERAL VIEW', 300, `SELECT 1 AS c FROM small ${chained(300, 'LATERAL VIEW explode(array(1)) x AS y', ' ')}`],
    ])('a chain of %s, %d long, is answered or refused, and ends nobody', async (_, length, text) => {
      const answer = await post({ sql: text, engine: 'sail' });
      expect([answer.status, answer.json().code]).toEqual(length > 200 ? [400, 'sql_error'] : [200, undefined]);
      expect((await post({ sql, engine: 'sail' })).json()).toMatchObject({ dataset: [[9]] });
    });

    test('INSERT is said to append where a table is there', async () => {
      const taken = await post({ sql: 'CREATE TABLE small AS SELECT 1 AS n', engine: 'sail' });
      expect(taken.json()).toMatchObject({
        code: 'handle_exists',
        hint: 'CREATE OR REPLACE TABLE replaces it, INSERT INTO appends to it',
      });
    });

    test('a timestamp of nanoseconds that is asked for is refused with its column', async () => {
      await putSql(server.frames, 'exact', "SELECT 1 AS n, TIMESTAMP_NS '2026-01-01 00:00:00.123456789' AS at");
      expect((await post({ sql: 'SELECT * FROM exact', engine: 'sail' })).json()).toMatchObject({
        code: 'unsupported_type',
        error: 'column "at" of frame exact holds timestamps of nanoseconds, which engine sail cannot send',
      });
      expect((await post({ sql: 'SELECT n FROM exact', engine: 'sail' })).json()).toMatchObject({ dataset: [[1]] });
    });

    test('a result without rows is kept, with its columns', async () => {
      const sql = 'SELECT n, h FROM big WHERE n < 0';
      expect((await post({ sql, engine: 'sail', keep: { handle: 'nothing' } })).status).toBe(200);
      expect((await ask(`${server.url}/exec?handle=nothing&fmt=json`)).json()).toMatchObject({
        columns: [{ name: 'n' }, { name: 'h' }],
        count: 0,
      });
    });

    test('what would change on the way is refused', async () => {
      const kept = await post({ sql: 'CREATE TABLE spans AS SELECT INTERVAL 1 DAY AS span', engine: 'sail' });
      expect(kept.json()).toMatchObject({
        code: 'unsupported_type',
        error: 'column "span" is an interval, which cannot be kept',
      });
      const params = [{ type: 'TIMESTAMP_NS', value: '2020-01-01 00:00:00.123456789' }];
      const asked = await post({ sql: 'SELECT ? AS t', params, engine: 'sail' });
      expect(asked.json()).toMatchObject({ code: 'invalid_parameter' });
    });

    test('engine=auto chooses by what a statement reads', async () => {
      const few = await get('exec', sql, { fmt: 'json', engine: 'auto' });
      expect(few.json()).toMatchObject({ dataset: [[9]], engine: 'local' });
      const many = await get('exec', 'SELECT max(n) AS most FROM big', { fmt: 'json', engine: 'auto' });
      expect(many.json()).toMatchObject({ dataset: [[19999]], engine: 'sail' });
    });

    test('engine=auto sends what only the cluster can read there, and says so', async () => {
      const answer = await post({ sql: 'SELECT explode(array(1, 2)) AS x', engine: 'auto' });
      expect(answer.json()).toMatchObject({
        dataset: [[1], [2]],
        engine: 'sail',
        engine_reason: 'auto: only sail takes what it says',
      });
    });

    test.each([
      'SELECT n FROM big QUALIFY row_number() OVER (ORDER BY n DESC) = 1',
      'FROM big SELECT max(n)',
      'SELECT list_transform([max(n)], x -> x)[1] FROM big',
    ])('engine=auto keeps what only local can read, however large: %s', async (text) => {
      const answer = await post({ sql: text, engine: 'auto' });
      expect(answer.json()).toMatchObject({
        dataset: [[19999]],
        engine: 'local',
        engine_reason: 'auto: only local takes what it says',
      });
    });

    test('engine=auto keeps DESCRIBE local, however large the frame is', async () => {
      const answer = await post({ sql: 'DESCRIBE big', engine: 'auto' });
      expect(answer.json()).toMatchObject({ engine: 'local', engine_reason: 'auto: it asks for columns alone' });
    });

    test('engine=auto inserts by the cluster what only the cluster can compute', async () => {
      await putSql(server.frames, 'exploded', 'SELECT 0::BIGINT AS n');
      const answer = await post({ sql: 'INSERT INTO exploded SELECT explode(array(1, 2))', engine: 'auto' });
      expect(answer.json()).toMatchObject({ updated: 2, engine: 'sail' });
      expect((await post({ sql: 'FROM exploded' })).json()).toMatchObject({ dataset: [[0], [1], [2]] });
    });

    test.each([
      ['keep', { sql: 'SELECT * FROM big', keep: { handle: 'kept', mode: 'overwrite' } }],
      ['CREATE TABLE … AS', { sql: 'CREATE OR REPLACE TABLE kept AS SELECT * FROM big' }],
    ])('by %s the cluster writes a frame that the local engine reads', async (_, request) => {
      const answer = await post({ ...request, engine: 'sail' });
      expect([answer.status, answer.json().engine]).toEqual([200, 'sail']);
      const kept = 'SELECT count(*) AS rows, sum(n)::BIGINT AS total, min(h) AS h FROM';
      expect((await post({ sql: `${kept} kept` })).json().dataset).toEqual(
        (await post({ sql: `${kept} big` })).json().dataset,
      );
    });

    test('timeout_ms holds there', async () => {
      const slow = 'SELECT count(*) AS c FROM big a, big b, big c WHERE a.h < b.h AND b.h < c.h';
      const answer = await post({ sql: slow, engine: 'sail', timeout_ms: 500 });
      expect([answer.status, answer.json().code]).toEqual([504, 'engine_timeout']);
    });

    test('GET /engines tells that it is up', async () => {
      const { engines } = (await ask(`${server.url}/engines`)).json();
      expect(engines).toContainEqual(
        expect.objectContaining({
          name: 'sail',
          kind: 'spark-connect',
          state: 'up',
          version: expect.stringMatching(/^[\d.]+ \(Sail\)$/),
          auto: true,
        }),
      );
    });

    test('no log has its token', () => {
      expect(server.log()).not.toContain('hidden-token');
    });
  });

  describe('over Flight SQL', () => {
    const rowsOf = async (client: FlightSqlClient, text: string, headers: Record<string, string>) => {
      const { messages, headers: told } = await client.flight.info(
        byCommand(any('CommandStatementQuery', [1, text])),
        headers,
      );
      const got = await client.flight.get(messages[0]?.endpoint[0]?.ticket.ticket ?? Buffer.alloc(0));
      const table = tableFromIPC(ipcOf(got.messages));
      return { engine: told.get('x-framehold-engine')[0], rows: table.toArray().map((row) => ({ ...row })) };
    };

    test('the header x-framehold-engine names it', async () => {
      using client = new FlightSqlClient(server.grpcAddress.port);
      expect(await rowsOf(client, sql, { 'x-framehold-engine': 'sail' })).toEqual({
        engine: 'sail',
        rows: [{ most: 9n }],
      });
    });
  });

  test('over Flight SQL an INSERT adds its rows, also prepared and once for each row of parameters', async () => {
    await putSql(server.frames, 'filled', "SELECT 0::BIGINT AS n, 'a' AS t");
    using client = new FlightSqlClient(server.grpcAddress.port, { 'x-framehold-engine': 'sail' });
    const command: FieldValue = [1, 'INSERT INTO filled (n) VALUES (1), (2)'];
    expect(await client.update('CommandStatementUpdate', [command])).toBe(2);
    const { handle, isUpdate } = await client.prepare('INSERT INTO filled VALUES (?, ?)');
    expect(isUpdate).toBe(1n);
    const values = { a: vectorFromArray([3, 4], new Int32()), b: vectorFromArray(["it's", null], new Utf8()) };
    const rows = tableToIPC(new Table(values), 'stream');
    expect(await client.update('CommandPreparedStatementUpdate', [[1, handle]], rows)).toBe(2);
    expect((await post({ sql: 'FROM filled' })).json().dataset).toEqual([
      [0, 'a'],
      [1, null],
      [2, null],
      [3, "it's"],
      [4, null],
    ]);
  });

  describe('on the command line', () => {
    const framehold = (...argv: string[]) =>
      runCommand(argv, { cwd: server.dataDir, env: { FRAMEHOLD_SERVER: server.url } });

    test('framehold engines lists it', async () => {
      expect((await framehold('engines')).stdout).toMatch(/^sail\tspark-connect\tup\t[\d.]+ \(Sail\)\tauto\t$/m);
    });

    test('framehold sql --engine runs statements there', async () => {
      const { status, stdout } = await framehold('sql', sql, '--engine', 'sail');
      expect([status, stdout]).toEqual([0, 'most\r\n9\r\n']);
    });
  });

  test('that is gone is an error of its own, by name and by auto, and the local engine serves on', async () => {
    await sail.kill();
    const named = await post({ sql, engine: 'sail' });
    expect([named.status, named.json().code]).toEqual([502, 'engine_unreachable']);
    const chosen = await post({ sql: 'SELECT max(n) AS most FROM big', engine: 'auto' });
    expect([chosen.status, chosen.headers['x-framehold-engine']]).toEqual([502, 'sail']);
    expect((await post({ sql, engine: 'auto' })).json()).toMatchObject({ dataset: [[9]], engine: 'local' });
    const isDown = async () => ((await ask(`${server.url}/engines`)).json().engines as object[]).at(-1);
    await expect.poll(isDown, { timeout: 10_000 }).toMatchObject({ name: 'sail', state: 'down' });
  });
});
