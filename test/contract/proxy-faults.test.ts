import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFramehold } from '../support/framehold.ts';
import { type QuestDb, startQuestDb } from '../support/questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { silence, startUpstream } from '../support/upstream.ts';
import { answer, chunk, chunkedHead } from '../support/upstream-answer.ts';
import { execUrl, jsonOf, openGet, rawGet, readToEnd } from '../support/upstream-get.ts';

const statusOf = (url: string): Promise<number | undefined> => rawGet(url).then(({ status }) => status);

describe.skipIf(await questdbUnavailable())('a real QuestDB in trouble', () => {
  let questdb: QuestDb;

  beforeAll(async () => {
    questdb = await startQuestDb();
  }, 300_000);
  afterAll(() => questdb?.[Symbol.asyncDispose]());

  test('killed in the middle of an answer it cuts the client off; restarted it serves again', async () => {
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': questdb.url } });
    const long = execUrl(framehold.url, 'select x, x * 2, x * 3, x * 4 from long_sequence(100000000)');
    const response = await openGet(long);
    expect(response.statusCode).toBe(200);
    await questdb.kill('SIGKILL');
    await expect(readToEnd(response)).rejects.toThrow(/aborted|ECONNRESET/);
    expect(response.complete).toBe(false);

    const url = execUrl(framehold.url, 'select 1');
    const began = performance.now();
    for (let i = 0; i < 10; i += 1) {
      const refused = await rawGet(url);
      expect(refused.status).toBe(502);
      expect(refused.headers['retry-after']).toBe('1');
      expect(jsonOf(refused)).toMatchObject({ query: 'select 1', code: 'tsdb_unreachable' });
    }
    expect(performance.now() - began).toBeLessThan(2000);

    await questdb.restart();
    await expect.poll(() => statusOf(url), { timeout: 5000 }).toBe(200);
  }, 60_000);

  test('frozen it is answered with 504 after the time-out; thawed it serves again', async () => {
    const settings = { 'tsdb.http_url': questdb.url, 'tsdb.timeout': '500ms' };
    await using framehold = await startFramehold({ settings });
    const url = execUrl(framehold.url, 'select 1');
    expect(await statusOf(url)).toBe(200);
    await questdb.kill('SIGSTOP');
    try {
      const began = performance.now();
      const slow = await rawGet(url);
      expect(slow.status).toBe(504);
      expect(jsonOf(slow)).toMatchObject({ query: 'select 1', code: 'tsdb_timeout' });
      expect(performance.now() - began).toBeGreaterThan(400);
      // Other doors stay open meanwhile.
      expect(await statusOf(`${framehold.url}/ping`)).toBe(200);
    } finally {
      await questdb.kill('SIGCONT');
    }
    await expect.poll(() => statusOf(url), { timeout: 5000 }).toBe(200);
  }, 60_000);

  test('a client that goes away ends the statement there', async () => {
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': questdb.url } });
    const controller = new AbortController();
    const marked = 'select x, x gone_client from long_sequence(2000000000)';
    const response = await openGet(execUrl(framehold.url, marked), { signal: controller.signal });
    const running = async (): Promise<unknown> => {
      const sql =
        "select count() from query_activity() where query like '%gone_client%' and not query like '%activity%'";
      return jsonOf(await rawGet(execUrl(questdb.url, sql, { nm: 'true' })));
    };
    expect(await running()).toMatchObject({ dataset: [[1]] });
    response.on('error', () => {});
    controller.abort();
    await expect.poll(running, { timeout: 20_000 }).toMatchObject({ dataset: [[0]] });
  }, 60_000);
});

describe('an upstream that misbehaves', () => {
  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a redirect', answer('', { status: 302, headers: { Location: 'http://169.254.169.254/' } })],
    ['a refusal of our credentials', answer('Unauthorized\r\n', { status: 401 })],
  ])('%s becomes 502', async (_, bytes) => {
    await using upstream = await startUpstream(({ write }) => write(bytes));
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    const result = await rawGet(execUrl(framehold.url, 'select 1'));
    expect(result.status).toBe(502);
    expect(result.headers).not.toHaveProperty('location');
    expect(jsonOf(result)).toMatchObject({ query: 'select 1', code: 'tsdb_unreachable', hint: expect.any(String) });
    expect(upstream.requests).toHaveLength(1);
  });

  test.each(['end', 'reset'] as const)('a connection that ends by %s before the answer becomes 502', async (how) => {
    await using upstream = await startUpstream((conversation) => conversation[how]());
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    const result = await rawGet(execUrl(framehold.url, 'insert into t values (1)'));
    expect(result.status).toBe(502);
    expect(upstream.requests).toHaveLength(1);
  });

  test.each([
    ['chunked', chunkedHead()],
    ['with a length', Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')],
  ])('an answer %s that is cut short cuts the client off too', async (_, head) => {
    await using upstream = await startUpstream(async ({ write, end }) => {
      await write(Buffer.concat([head, chunk('{"dataset":[[1],')]));
      end();
    });
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    await expect(rawGet(execUrl(framehold.url, 'select 1'))).rejects.toThrow(/aborted|ECONNRESET|socket hang up/);
  });

  test('an answer that never begins becomes 504, and the upstream connection is closed', async () => {
    await using upstream = await startUpstream();
    const settings = { 'tsdb.http_url': upstream.url, 'tsdb.timeout': '100ms' };
    await using framehold = await startFramehold({ settings });
    expect(await statusOf(execUrl(framehold.url, 'select 1'))).toBe(504);
    await (await upstream.next()).closed;
  });

  test('more requests than connections and queue hold become 503 with a time to come back', async () => {
    await using upstream = await startUpstream();
    const settings = { 'tsdb.http_url': upstream.url, 'tsdb.max_connections': '1', 'tsdb.max_queue': '0' };
    await using framehold = await startFramehold({ settings });
    const first = rawGet(execUrl(framehold.url, 'slow'));
    const conversation = await upstream.next();
    const second = await rawGet(execUrl(framehold.url, 'one too many'));
    expect(second.status).toBe(503);
    expect(second.headers['retry-after']).toBe('1');
    expect(jsonOf(second)).toMatchObject({ query: 'one too many', code: 'overloaded' });
    await conversation.write(answer());
    expect((await first).status).toBe(200);
  });
});

describe('a client that goes away', () => {
  test('before the answer closes the upstream request', async () => {
    await using upstream = await startUpstream();
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    const controller = new AbortController();
    const leaving = rawGet(execUrl(framehold.url, 'slow'), { signal: controller.signal }).catch(() => {});
    const { closed } = await upstream.next();
    controller.abort();
    await closed;
    await leaving;
  });

  test('in the middle of the answer closes the upstream request', async () => {
    await using upstream = await startUpstream(({ write }) => write(Buffer.concat([chunkedHead(), chunk('{')])));
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    const response = await openGet(execUrl(framehold.url, 'long'));
    const { closed } = await upstream.next();
    response.on('error', () => {}).destroy();
    await closed;
  });
});

test('the password in the URL appears in no answer and no log line, whatever happens to the upstream', async () => {
  const secrets = ['canary-password', Buffer.from('admin:canary-password').toString('base64')];
  const said: string[] = [];
  const upstream = await startUpstream(({ write }) => write(answer('Unauthorized', { status: 401 })));
  const url = `http://admin:canary-password@127.0.0.1:${upstream.port}`;
  const settings = { 'tsdb.http_url': url, 'tsdb.timeout': '100ms', 'logging.level': 'trace' };
  await using framehold = await startFramehold({ settings });
  const ask = async (path: string): Promise<void> => {
    const { status, headers, body } = await rawGet(`${framehold.url}${path}`);
    said.push(JSON.stringify([status, headers, String(body)]));
  };
  const query = execUrl('', 'select 1');
  await ask(query);
  expect(upstream.requests[0]?.headers.get('authorization')).toBe(`Basic ${secrets[1]}`);
  upstream.script(({ write }) => write(`garbage ${secrets.join(' ')}\r\n\r\n`));
  await ask(query);
  upstream.script(({ reset }) => reset());
  await ask(query);
  upstream.script(silence);
  await ask(query);
  await upstream[Symbol.asyncDispose]();
  for (const path of [query, query, '/ping', '/nowhere', '/exec', '/metrics']) await ask(path);
  expect(framehold.log()).toContain('the external database is down');
  for (const secret of secrets) {
    expect(said.join('\n')).not.toContain(secret);
    expect(framehold.log()).not.toContain(secret);
  }
});
