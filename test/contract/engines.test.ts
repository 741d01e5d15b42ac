import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EngineHealth } from '../../src/core/sql/engine.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { type AskedOf, secondEngine } from '../support/second-engine.ts';

/** The frame `big` is over it, `small` is not. */
const toml = `
[sql]
auto_engine = "second"
auto_threshold = "20KB"

[engines.second]
kind = "spark-connect"
url = "sc://second.example.com:15002/;token=hidden-token"

[engines.down]
kind = "spark-connect"
url = "sc://down.example.com"
`;

/** For which any frame is large. */
const unreachable = `
[sql]
auto_engine = "away"
auto_threshold = "1"

[engines.away]
kind = "spark-connect"
url = "sc://127.0.0.1:1"
connect_timeout = "200ms"
`;

let server: Framehold;
const asked: AskedOf = [];
let downHealth: () => Promise<EngineHealth>;

beforeAll(async () => {
  server = await startFramehold({
    toml,
    createClusterEngine: (options) =>
      options.name === 'down'
        ? secondEngine(options, { health: () => downHealth() })
        : secondEngine(options, { asked, writes: true }),
  });
  await putSql(server.frames, 'small', 'SELECT range AS n FROM range(10)');
  await putSql(server.frames, 'big', 'SELECT range AS n, hash(range) AS h FROM range(20000)');
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  asked.length = 0;
  downHealth = async () => ({ state: 'down', problem: 'connection refused' });
});

const exec = (query: string, parameters: Record<string, string> = {}) =>
  ask(`${server.url}/exec?${new URLSearchParams({ query, fmt: 'json', ...parameters })}`);
const exp = (query: string, parameters: Record<string, string> = {}) =>
  ask(`${server.url}/exp?${new URLSearchParams({ query, ...parameters })}`);
const post = (body: object) => ask(`${server.url}/sql`, { method: 'POST', body: JSON.stringify(body) });
const ran = (): string[] => asked.filter(([method]) => method === 'run' || method === 'write').map(([, sql]) => sql);

const mostOfSmall = 'SELECT max(n) AS most FROM small';
const mostOfBig = 'SELECT max(n) AS most FROM big';

describe('engine=<name>', () => {
  test('runs the statement there, by every door of HTTP, and the answer says so', async () => {
    const byExec = await exec(mostOfSmall, { engine: 'second' });
    expect(byExec.json()).toMatchObject({ dataset: [[9]], engine: 'second', engine_reason: 'named by the caller' });
    expect(byExec.headers['x-framehold-engine']).toBe('second');
    const byExp = await exp(mostOfSmall, { engine: 'second' });
    expect(byExp.text).toBe('most\r\n9\r\n');
    expect(byExp.headers).toMatchObject({
      'x-framehold-engine': 'second',
      'x-framehold-engine-reason': 'named by the caller',
    });
    const bySql = await post({ sql: mostOfSmall, engine: 'second' });
    expect(bySql.json()).toMatchObject({ dataset: [[9]], engine: 'second', engine_reason: 'named by the caller' });
    expect(ran()).toEqual([mostOfSmall, mostOfSmall, mostOfSmall]);
  });

  test('analyses a statement once, by every door of HTTP', async () => {
    await exec(mostOfSmall, { engine: 'second' });
    await exp(mostOfSmall, { engine: 'second' });
    await post({ sql: mostOfSmall, engine: 'second' });
    const once = ['analyze', 'run'];
    expect(asked.map(([method]) => method)).toEqual([...once, ...once, ...once]);
    asked.length = 0;
    await post({ sql: mostOfSmall, engine: 'second', keep: { handle: 'analysed', mode: 'overwrite' } });
    await post({ sql: 'CREATE OR REPLACE TABLE analysed AS SELECT * FROM small', engine: 'second' });
    expect(asked.map(([method]) => method)).toEqual(['analyze', 'write', 'analyze', 'write']);
  });

  test('is known as local too', async () => {
    expect((await exec(mostOfSmall, { engine: 'local' })).json()).toMatchObject({ engine: 'local' });
    expect(ran()).toEqual([]);
  });

  test('left out, changes nothing in the answer', async () => {
    const answer = await post({ sql: mostOfSmall });
    expect(Object.keys(answer.json())).toEqual(['query', 'columns', 'timestamp', 'dataset', 'count']);
    expect(answer.headers).not.toHaveProperty('x-framehold-engine');
  });

  test.each([
    ['/exec', () => exec('SELECT 1', { engine: 'secnod' })],
    ['/exp', () => exp('SELECT 1', { engine: 'secnod' })],
    ['/sql', () => post({ sql: 'SELECT 1', engine: 'secnod' })],
  ])('that is not known is refused at %s with those that are', async (_, send) => {
    const answer = await send();
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      code: 'invalid_parameter',
      error: 'engine "secnod" is not known; did you mean second?',
      hint: expect.stringContaining('local, down, second, auto'),
    });
  });

  test('takes parameters, also by name', async () => {
    const answer = await post({
      sql: 'SELECT max(n) AS m FROM small WHERE n < $most',
      params: { most: 5 },
      engine: 'second',
    });
    expect(answer.json()).toMatchObject({ dataset: [[4]], engine: 'second' });
  });

  test('is in the log line of a request that failed there', async () => {
    const answer = await exec('SELECT nothing FROM small', { engine: 'second' });
    expect(answer.json()).toMatchObject({ code: 'sql_error' });
    expect(answer.headers['x-framehold-engine']).toBe('second');
    const line = server
      .log()
      .split('\n')
      .find((each) => each.includes(`${answer.headers['x-request-id']}`) && each.includes('failed'));
    expect(line).toContain('"engine":"second"');
  });

  test('timeout_ms holds for it', async () => {
    const sql = 'SELECT count(*) FROM range(100000000) a, range(100000000) b';
    const answer = await post({ sql, engine: 'second', timeout_ms: 300 });
    expect(answer.json()).toMatchObject({ code: 'sql_timeout', error: 'no answer within 0.3 s' });
  });

  test('explain tells it', async () => {
    const { explain } = (await exec(mostOfSmall, { engine: 'second', explain: 'true' })).json();
    expect(explain).toEqual({ jitCompiled: false, engine: 'second', engine_reason: 'named by the caller' });
  });
});

describe('what a statement of a cluster keeps', () => {
  test.each([
    ['CREATE TABLE … AS', () => post({ sql: 'CREATE OR REPLACE TABLE made AS SELECT n FROM small', engine: 'second' })],
    ['keep', () => post({ sql: 'SELECT n FROM small', keep: { handle: 'made', mode: 'overwrite' }, engine: 'second' })],
  ])('by %s, it writes itself, and nothing is left beside the frame', async (_, send) => {
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ engine: 'second' });
    expect(asked.map(([method]) => method)).toContain('write');
    expect((await ask(`${server.url}/exec?handle=made&fmt=json&limit=2,3`)).json()).toMatchObject({
      dataset: [[1], [2]],
    });
    expect(await incomingFolders()).toEqual([]);
  });

  test('comes as a stream where only some of the rows are kept', async () => {
    const answer = await post({ sql: 'SELECT n FROM small', limit: 3, keep: { handle: 'few' }, engine: 'second' });
    expect(answer.json()).toMatchObject({ rows: 3, engine: 'second' });
    expect(asked.map(([method]) => method)).not.toContain('write');
  });

  test('is refused before the cluster works for it where its name is taken', async () => {
    for (const request of [
      { sql: 'CREATE TABLE small AS SELECT n FROM big' },
      { sql: 'SELECT n FROM big', keep: { handle: 'small', mode: 'create' } },
    ]) {
      const answer = await post({ ...request, engine: 'second' });
      expect([answer.status, answer.json().code]).toEqual([409, 'handle_exists']);
    }
    expect(ran()).toEqual([]);
  });

  test('leaves nothing where it fails', async () => {
    const sql = "CREATE TABLE never AS SELECT CAST('x' || n AS INT) AS n FROM small";
    expect((await post({ sql, engine: 'second' })).json()).toMatchObject({ code: 'sql_error' });
    expect((await ask(`${server.url}/exec?handle=never&fmt=json`)).status).toBe(404);
    expect(await incomingFolders()).toEqual([]);
  });
});

describe('engine=auto', () => {
  test('keeps a statement local that reads little, and says why', async () => {
    const answer = (await exec(mostOfSmall, { engine: 'auto' })).json();
    expect(answer).toMatchObject({ dataset: [[9]], engine: 'local' });
    expect(answer.engine_reason).toMatch(/^auto: it reads frames of \d+ bytes, below the sql.auto_threshold of 20 kB$/);
    expect(asked).toEqual([]);
  });

  test('sends one to the cluster that reads much, and says why, in the log too', async () => {
    const answer = await exec(mostOfBig, { engine: 'auto' });
    expect(answer.json()).toMatchObject({ dataset: [[19999]], engine: 'second' });
    expect(answer.json().engine_reason).toMatch(
      /^auto: it reads frames of [\d.]+ kB, not below the sql.auto_threshold/,
    );
    expect(asked.map(([method]) => method)).toEqual(['analyze', 'run']);
    expect(ran()).toEqual([mostOfBig]);
    expect(server.log()).toMatch(/"engine":"second","engineReason":"auto: it reads frames/);
  });

  test('counts each frame once, by whatever case it is named', async () => {
    const { engine } = (await exec('SELECT count(*) FROM small a, SMALL b, Small c', { engine: 'auto' })).json();
    expect(engine).toBe('local');
  });

  test.each([
    ['an INSERT', 'INSERT INTO small SELECT n FROM big WHERE n < 0', 'auto: it adds rows to a frame'],
    [
      'an UPDATE',
      'UPDATE small SET n = big.n FROM big WHERE big.n < 0 AND small.n = big.n',
      'auto: it changes rows of a frame',
    ],
    ['an ALTER', 'ALTER TABLE small ALTER n DROP DEFAULT', 'auto: it changes the definition of a frame'],
    ['a DROP', 'DROP TABLE IF EXISTS nowhere', 'auto: it reads no rows'],
    ['SHOW TABLES', 'SHOW TABLES', 'auto: it reads no rows'],
    ['one that reads no frame', 'SELECT 1 AS one', expect.stringContaining('frames of 0 bytes')],
  ])('keeps %s local', async (_, sql, reason) => {
    const answer = await post({ sql, engine: 'auto' });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ engine: 'local', engine_reason: reason });
  });

  test('sends CREATE TABLE … AS where its query goes', async () => {
    const answer = await post({ sql: 'CREATE OR REPLACE TABLE copied AS SELECT * FROM big', engine: 'auto' });
    expect(answer.json()).toMatchObject({ ddl: 'OK', engine: 'second' });
  });

  test('lets local say what is wrong with a statement that nobody takes', async () => {
    const answer = await post({ sql: 'SELEC 1', engine: 'auto' });
    expect(answer.json()).toMatchObject({ code: 'sql_error' });
    expect(answer.headers['x-framehold-engine']).toBe('local');
  });

  test('lets local say what is wrong with a statement while the cluster cannot be asked', async () => {
    await using alone = await startFramehold({ toml: unreachable });
    const body = (sql: string) => ({ method: 'POST', body: JSON.stringify({ sql, engine: 'auto' }) });
    const wrong = await ask(`${alone.url}/sql`, body('SELEC 1'));
    expect([wrong.status, wrong.json().code]).toEqual([400, 'sql_error']);
    expect(wrong.headers).toMatchObject({
      'x-framehold-engine': 'local',
      'x-framehold-engine-reason': 'auto: it does not take what it says, and away cannot be asked',
    });
    await putSql(alone.frames, 'small', 'SELECT range AS n FROM range(10)');
    const large = await ask(`${alone.url}/sql`, body(mostOfSmall));
    expect([large.status, large.headers['x-framehold-engine']]).toEqual([502, 'away']);
  });

  test('with a table that is not there is an error of local', async () => {
    expect((await post({ sql: 'SELECT * FROM smal', engine: 'auto' })).json()).toMatchObject({
      code: 'sql_error',
      error: 'table "smal" not found; did you mean "small"?',
    });
  });

  test('stays local where no engine is set for it', async () => {
    await using other = await startFramehold();
    const answer = await ask(`${other.url}/exec?query=select+1&fmt=json&engine=auto`);
    expect(answer.json()).toMatchObject({ engine: 'local', engine_reason: expect.stringContaining('sql.auto_engine') });
  });
});

test('sql.default_engine may be a cluster, or auto', async () => {
  const start = (settings: Record<string, string>) =>
    startFramehold({ toml, settings, createClusterEngine: (options) => secondEngine(options, { asked }) });
  await using named = await start({ 'sql.default_engine': 'second' });
  const bare = await ask(`${named.url}/exec?query=select+1+as+a&fmt=json`);
  expect(bare.text).toBe(
    '{"query":"select 1 as a","columns":[{"name":"a","type":"INT"}],"timestamp":-1,"dataset":[[1]],"count":1}',
  );
  expect(ran()).toEqual(['select 1 as a']);
  await using auto = await start({ 'sql.default_engine': 'auto' });
  const chosen = await ask(`${auto.url}/exec?query=select+1+as+a&fmt=json`);
  expect(chosen.json()).toMatchObject({ engine: 'local', engine_reason: expect.stringContaining('auto: ') });
});

describe('GET /engines', () => {
  const engines = async () => {
    const { engines } = (await ask(`${server.url}/engines`)).json();
    return engines as Record<string, unknown>[];
  };

  test('lists all with kind, state, version and what they are used for', async () => {
    await using other = await startFramehold({
      toml,
      settings: { 'tsdb.http_url': 'http://127.0.0.1:1' },
      createClusterEngine: (options) =>
        secondEngine(options, options.name === 'down' ? { health: () => downHealth() } : {}),
    });
    const list = async () => (await ask(`${other.url}/engines`)).json() as { engines: { version: string | null }[] };
    // The first statement of a server may have to wait for its process.
    await expect.poll(async () => (await list()).engines[0]?.version, { timeout: 15_000 }).toMatch(/^\d+\.\d+/);
    const cluster = { kind: 'spark-connect', default: false };
    expect(await list()).toEqual({
      engines: [
        {
          name: 'local',
          kind: 'duckdb',
          state: 'up',
          version: expect.stringMatching(/^\d+\.\d+/),
          default: false,
          auto: false,
        },
        {
          name: 'tsdb',
          kind: 'questdb',
          state: 'down',
          version: null,
          problem: expect.any(String),
          default: true,
          auto: false,
        },
        { ...cluster, name: 'down', state: 'down', version: null, problem: 'connection refused', auto: false },
        { ...cluster, name: 'second', state: 'up', version: '1.2.3', auto: true },
      ],
    });
    expect((await ask(`${other.url}/info`)).json()).toMatchObject({
      engines: ['local', 'tsdb', 'down', 'second'],
      auto_engine: 'second',
    });
    expect(other.log()).not.toContain('hidden-token');
  });

  test('asks many at once only once', async () => {
    let asks = 0;
    downHealth = async () => {
      asks++;
      return { state: 'up', version: undefined };
    };
    await expect
      .poll(async () => (await engines()).at(1), { timeout: 5000 })
      .toMatchObject({ name: 'down', state: 'up', version: null });
    const before = asks;
    await Promise.all(Array.from({ length: 20 }, engines));
    expect(asks - before).toBeLessThanOrEqual(1);
  });

  test('answers in time where an engine does not', async () => {
    downHealth = () => new Promise(() => {});
    await using other = await startFramehold({
      toml,
      createClusterEngine: (options) => secondEngine(options, { health: () => downHealth() }),
    });
    const { engines } = (await ask(`${other.url}/engines`)).json() as { engines: object[] };
    expect(engines.at(-1)).toMatchObject({ state: 'down', problem: 'no answer within 4 s' });
  });

  test('takes no parameters', async () => {
    expect((await ask(`${server.url}/engines?all=true`)).json()).toMatchObject({ code: 'invalid_parameter' });
  });
});

/** What is left in folders that engines were given to write into. Files beside them may be of work in the background. */
async function incomingFolders(): Promise<string[]> {
  const [own = ''] = await readdir(join(server.dataDir, 'cold', '.framehold', 'tmp'));
  const folder = join(server.dataDir, 'cold', '.framehold', 'tmp', own);
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('token-')).map(({ name }) => name);
}

test('a view is read on the local engine alone, where auto leaves it', async () => {
  const sql = (text: string, engine: string) =>
    ask(`${server.url}/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql: text, engine }),
    });
  expect((await sql('CREATE VIEW over_big AS SELECT n FROM big WHERE n < 7', 'local')).status).toBe(200);
  const text = 'SELECT count(*) FROM over_big';
  expect((await sql(text, 'second')).json()).toMatchObject({
    code: 'sql_forbidden',
    error: 'over_big is a view, which only the engine local reads',
  });
  const auto = (await sql(text, 'auto')).json();
  expect(auto).toMatchObject({ dataset: [[7]], engine: 'local', engine_reason: 'auto: it reads a view' });
});
