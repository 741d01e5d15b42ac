import { beforeAll, describe, expect, test } from 'vitest';
import { commandHere, commandsOf } from '../support/command-here.ts';
import { useFlightServer } from '../support/flight-server.ts';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { scriptedConnectServer } from '../support/scripted-connect-server.ts';
import { onTerminal } from '../support/terminal.ts';

const endless = 'SELECT count(*) FROM range(100_000_000_000) t(a) WHERE a % 3 = 1';

const { server, client } = await useFlightServer(FlightSqlClient);
beforeAll(async () => {
  await putSql(server.frames, 'small', 'SELECT range::INT AS n FROM range(3)');
});

interface Query {
  readonly id: string;
  readonly engine: string;
  readonly sql: string;
  readonly started: string;
  readonly elapsed_ms: number;
  readonly progress: object | null;
}

async function queries(of: Framehold = server): Promise<readonly Query[]> {
  return ((await ask(`${of.url}/queries`)).json() as { queries: readonly Query[] }).queries;
}

const idsOf = async (of: Framehold = server): Promise<string[]> => (await queries(of)).map(({ id }) => id);
const cancel = (id: string, options: { headers?: Record<string, string> } = {}): Promise<Answer> =>
  ask(`${server.url}/queries/${id}`, { method: 'DELETE', ...options });

function post(id: string, body: object, of: Framehold = server): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'x-request-id': id };
  return ask(`${of.url}/sql`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const get = (id: string, path: string, query: string): Promise<Answer> =>
  ask(`${server.url}${path}?${new URLSearchParams({ query, engine: 'local', fmt: 'json' })}`, {
    headers: { 'x-request-id': id },
  });

describe('a statement under way', () => {
  test.each([
    ['GET /exec', (id: string) => get(id, '/exec', endless)],
    ['GET /exp', (id: string) => get(id, '/exp', endless)],
    ['POST /sql', (id: string) => post(id, { sql: endless })],
    ['POST /sql with keep', (id: string) => post(id, { sql: endless, keep: { handle: 'never' } })],
    ['CREATE TABLE', (id: string) => post(id, { sql: `CREATE TABLE never AS ${endless}` })],
  ])('of %s is listed by its request, and cancelled by it', async (door, start) => {
    const id = door.replaceAll(/\W/g, '-');
    const begun = Date.now();
    const answer = start(id);
    await expect.poll(() => idsOf()).toEqual([id]);
    const [query] = await queries();
    expect(query).toMatchObject({ engine: 'local', progress: null, sql: expect.stringContaining('range(100') });
    expect(Date.parse(query?.started ?? '')).toBeGreaterThanOrEqual(begun - 1000);
    expect(query?.elapsed_ms).toBeLessThanOrEqual(Date.now() - begun + 1);

    expect((await cancel(id)).json()).toEqual({ id, cancelled: true });
    const { status, ...refused } = await answer;
    expect([status, refused.json().code]).toEqual([409, 'sql_cancelled']);
    expect(refused.json().error).toBe(`the statement was cancelled by DELETE /queries/${id}`);
    await expect.poll(() => idsOf()).toEqual([]);
    expect((await ask(`${server.url}/handles/never`)).status).toBe(404);
  });

  test('over Flight SQL is listed and cancelled in the same way', async () => {
    const answer = client.flight.get(Buffer.from(endless), { 'x-request-id': 'by-flight' });
    await expect.poll(() => idsOf()).toEqual(['by-flight']);
    expect((await cancel('by-flight')).status).toBe(200);
    expect((await answer).status).toMatchObject({ details: expect.stringContaining('was cancelled') });
    await expect.poll(() => idsOf()).toEqual([]);
  });

  test('without an X-Request-Id has one of the server, which its answer carries', async () => {
    const answer = ask(`${server.url}/exec?${new URLSearchParams({ query: endless, engine: 'local', fmt: 'json' })}`);
    await expect.poll(async () => (await idsOf()).length).toBe(1);
    const [id = ''] = await idsOf();
    await cancel(id);
    expect((await answer).headers['x-request-id']).toBe(id);
  });

  test('that is longer than anyone reads is shown by its beginning', async () => {
    const long = `${endless} ${'AND a > 0 '.repeat(200)}`;
    const answer = post('long', { sql: long });
    await expect.poll(() => idsOf()).toEqual(['long']);
    const [query] = await queries();
    expect(query?.sql).toBe(`${long.slice(0, 1000)}…`);
    await cancel('long');
    await answer;
  });

  test('is no more when it has answered, failed, or its client has left', async () => {
    await get('one', '/exec', 'SELECT n FROM small');
    await get('two', '/exec', 'SELECT nothing FROM small');
    expect(await idsOf()).toEqual([]);
    const leaving = new AbortController();
    const query = new URLSearchParams({ query: endless, engine: 'local', fmt: 'json' });
    const left = ask(`${server.url}/exec?${query}`, { signal: leaving.signal });
    await expect.poll(async () => (await idsOf()).length).toBe(1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => idsOf()).toEqual([]);
  });
});

test('a statement that outlasts the stop of its server is told why it gets no rows', async () => {
  await using own = await startFramehold({ settings: { 'server.shutdown_grace': '300ms' } });
  const answer = post('last', { sql: endless }, own);
  await expect.poll(() => idsOf(own)).toEqual(['last']);
  await own[Symbol.asyncDispose]();
  const { status, ...told } = await answer;
  expect([status, told.json()]).toMatchObject([503, { code: 'overloaded', error: 'the server is stopping' }]);
});

describe('DELETE /queries', () => {
  test('says of an id that nobody has that nothing runs under it', async () => {
    const answer = await cancel('nobody');
    expect([answer.status, answer.json()]).toEqual([
      404,
      {
        error: 'no statement with the id "nobody" is under way',
        code: 'not_found',
        hint: 'it may have ended; GET /queries lists those that have not',
      },
    ]);
  });

  test('is refused from the pages of other sites', async () => {
    const answer = post('mine', { sql: endless });
    await expect.poll(() => idsOf()).toEqual(['mine']);
    expect((await cancel('mine', { headers: { origin: 'https://elsewhere.example.com' } })).status).toBe(400);
    expect(await idsOf()).toEqual(['mine']);
    await cancel('mine');
    await answer;
  });
});

describe('on the command line', () => {
  const framehold = commandsOf(() => ({ cwd: server.dataDir, env: { FRAMEHOLD_SERVER: server.url } }));

  test('queries lists and cancel stops statements, and says which it does not find', async () => {
    const answer = post('slow', { sql: `SELECT\n\t*\nFROM (${endless})` });
    await expect.poll(() => idsOf()).toEqual(['slow']);
    const listed = await framehold(['queries']);
    expect(listed.stdout.split('\t').map((field) => field.trimEnd())).toEqual([
      'slow',
      'local',
      expect.stringMatching(/^[\d.]+ s$/),
      '',
      `SELECT * FROM (${endless})`,
    ]);
    expect(JSON.parse((await framehold(['queries', '--json'])).stdout)).toMatchObject([{ id: 'slow' }]);
    const cancelled = await framehold(['cancel', 'nobody', 'slow']);
    expect(cancelled).toMatchObject({ status: 1, stdout: 'cancelled slow\n' });
    expect(cancelled.stderr).toContain('no statement with the id "nobody" is under way');
    expect((await answer).status).toBe(409);
    expect((await framehold(['queries'])).stdout).toBe('');
  });
});

describe('of a cluster that tells how far it is', () => {
  test('the progress stands in the list and on the terminal, and a cancelled statement is interrupted there', async () => {
    const mebibyte = 1_048_576n;
    await using cluster = await scriptedConnectServer(async (call) => {
      if (call.method !== 'ExecutePlan') return;
      const ofStage = { stageId: 1n, inputBytesRead: 5n * mebibyte, done: false };
      const stages = [
        { ...ofStage, numTasks: 6n, numCompletedTasks: 6n },
        { ...ofStage, numTasks: 4n, numCompletedTasks: 1n },
      ];
      await call.send({ responseId: 'p', executionProgress: { stages, numInflightTasks: 2n } });
    });
    const toml = `[engines.spark]\nkind = "spark-connect"\nurl = "${cluster.url}"\n`;
    await using own = await startFramehold({ toml });
    const flags = ['--engine', 'spark', '--server', own.url];
    const terminal = onTerminal(['sql', 'select 1', ...flags], { homeDir: own.dataDir });
    await expect
      .poll(async () => (await queries(own))[0]?.progress, { timeout: 5000 })
      .toEqual({
        tasks: 10,
        completed_tasks: 7,
        running_tasks: 2,
        bytes_read: 10_485_760,
      });
    await expect
      .poll(() => terminal.stderr(), { timeout: 10_000 })
      .toMatch(/sql {2}\d+ s {2}7 of 10 tasks, 10\.\d MB read/);
    const [id = ''] = await idsOf(own);
    await commandHere(['cancel', id], { cwd: own.dataDir, env: { FRAMEHOLD_SERVER: own.url } });
    expect(await terminal.exitCode).toBe(1);
    expect(terminal.stderr()).toContain(`the statement was cancelled by DELETE /queries/${id}`);
    expect(cluster.calls.filter((method) => method === 'Interrupt' || method === 'ReleaseExecute')).toEqual([
      'Interrupt',
      'ReleaseExecute',
    ]);
  });
});
