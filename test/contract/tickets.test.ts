import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClosedServer, otherTenant, startClosedServer } from '../support/closed-server.ts';
import { startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let closed: ClosedServer;
let folder: TemporaryDirectory;
let auditFile: string;

beforeAll(async () => {
  folder = await temporaryDirectory();
  auditFile = join(folder.path, 'audit.jsonl');
  closed = await startClosedServer({ settings: { 'audit.file': auditFile } });
  await closed.as(closed.token('writer'), 'POST', '/imp?name=trades', 'price\n1\n2\n');
});

afterAll(async () => {
  await closed[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const path = '/exp?handle=trades&fmt=csv';

async function ticketFor(token: string | undefined, target = path): Promise<string> {
  const answer = await closed.as(token, 'POST', '/tickets', JSON.stringify({ path: target }));
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toContain('no-store');
  return String(answer.json().ticket);
}

/** Without credentials. */
const get = (target: string, ticket: string, method = 'GET') =>
  closed.as(undefined, method, `${target}&ticket=${ticket}`);

test('a link with a ticket is served as the caller who asked for it, once, and leaves no trace of the ticket', async () => {
  const ticket = await ticketFor(closed.token('reader'));
  const first = await get(path, ticket);
  expect([first.status, first.text]).toEqual([200, 'price\r\n1\r\n2\r\n']);
  expect(first.headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'cache-control': expect.stringContaining('no-store'),
  });
  const second = await get(path, ticket);
  expect([second.status, second.json().code]).toEqual([401, 'unauthenticated']);
  await expect.poll(() => readFile(auditFile, 'utf8')).toMatch(/"route":"\/exp",.*"name":"read",/);
  const audit = await readFile(auditFile, 'utf8');
  for (const text of [audit, closed.server.log(), second.text]) expect(text).not.toContain(ticket);
});

test('a ticket is good for its own request alone, and used up by any other', async () => {
  for (const [target, method] of [
    ['/exp?handle=trades&fmt=parquet', 'GET'],
    ['/exp?handle=trades', 'GET'],
    ['/exec?handle=trades&fmt=csv', 'GET'],
    [path, 'HEAD'],
  ] as const) {
    const ticket = await ticketFor(closed.token('reader'));
    expect((await get(target, ticket, method)).status, `${method} ${target}`).toBe(401);
    expect((await get(path, ticket)).status).toBe(401);
  }
});

test('order and encoding of the parameters do not matter, as browsers change them', async () => {
  const query = "/exec?query=select 'a' as a&engine=local&fmt=json&nm=true";
  const ticket = await ticketFor(closed.token('reader'), query);
  const answer = await closed.as(
    undefined,
    'GET',
    `/exec?ticket=${ticket}&fmt=json&nm=true&engine=local&query=select%20%27a%27+as+a`,
  );
  expect(answer.json().dataset).toEqual([['a']]);
});

test('a ticket gives no more than its caller has', async () => {
  const { token } = await closed.makeToken('read', { prefix: 'other.' });
  await closed.untilKnown(token);
  expect((await get(path, await ticketFor(token))).status).toBe(403);
  expect((await get(path, await ticketFor(closed.token('otherTenant')))).status).toBe(404);
  const asOperator = await ask(`${closed.server.url}/tickets`, {
    method: 'POST',
    body: JSON.stringify({ path }),
    headers: { ...closed.headers('operator'), 'content-type': 'application/json', 'x-framehold-tenant': otherTenant },
  });
  expect((await get(path, String(asOperator.json().ticket))).status).toBe(404);
});

test('a revoked token takes its tickets with it', async () => {
  const { token, record } = await closed.makeToken('read');
  await closed.untilKnown(token);
  const ticket = await ticketFor(token);
  await closed.as(closed.token('admin'), 'DELETE', `/tokens/${record.id}`);
  await closed.untilKnown(token, false);
  expect((await get(path, ticket)).status).toBe(401);
});

test.each([
  ['{}', 'missing_parameter'],
  ['{"path":1}', 'invalid_parameter'],
  ['{"path":"/imp?name=x"}', 'invalid_parameter'],
  ['{"path":"/exp"}', 'invalid_parameter'],
  ['{"path":"http://evil.example/exp?a=b"}', 'invalid_parameter'],
  ['{"path":"/exp?handle=a&handle=b"}', 'invalid_parameter'],
  ['{"path":"/exp?handle=a&ticket=b"}', 'invalid_parameter'],
])('%s gets none', async (body, code) => {
  expect((await closed.as(closed.token('reader'), 'POST', '/tickets', body)).json().code).toBe(code);
});

test('a tenant cannot heap them up, and others still get theirs', async () => {
  const body = JSON.stringify({ path });
  let refused: Awaited<ReturnType<ClosedServer['as']>> | undefined;
  for (let count = 0; count <= 200 && refused === undefined; count++) {
    const answer = await closed.as(closed.token('otherTenant'), 'POST', '/tickets', body);
    if (answer.status !== 200) refused = answer;
  }
  expect([refused?.status, refused?.json().code]).toEqual([429, 'rate_limited']);
  await ticketFor(closed.token('reader'));
});

test('where there is no authentication tickets work as well', async () => {
  await using open = await startFramehold();
  await putSql(open.frames, 'trades', 'SELECT 1 AS price');
  const made = await ask(`${open.url}/tickets`, {
    method: 'POST',
    body: JSON.stringify({ path }),
    headers: { 'content-type': 'application/json' },
  });
  expect((await ask(`${open.url}${path}&ticket=${made.json().ticket}`)).status).toBe(200);
});
