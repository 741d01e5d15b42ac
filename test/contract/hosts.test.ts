import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask, sendRaw } from '../support/http-client.ts';

let server: Framehold;
let declared: Framehold;

beforeAll(async () => {
  server = await startFramehold();
  declared = await startFramehold({ settings: { 'http.hosts': 'frames.corp.example,*.lab.example' } });
  for (const each of [server, declared]) await putSql(each.frames, 'ids', 'SELECT range AS id FROM range(3)');
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await declared[Symbol.asyncDispose]();
});

const read = '/exec?handle=ids&fmt=json';
const statusOf = async ({ url }: Framehold, host: string, path = read) =>
  (await ask(`${url}${path}`, { headers: { host } })).status;

describe('a server without http.hosts', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3:9000',
    '[::1]:9000',
    'localhost:9000',
    'LOCALHOST',
    'localhost.',
    'a.b.localhost:1',
  ])('answers to %s', async (host) => {
    expect(await statusOf(server, host)).toBe(200);
  });

  test.each([
    'evil.example',
    'evil.example:9000',
    'evillocalhost',
    '.localhost',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    '[::1].evil.example',
  ])('refuses to be read as %s', async (host) => {
    // One that was good just now opens nothing for others.
    expect(await statusOf(server, 'localhost')).toBe(200);
    expect(await statusOf(server, host)).toBe(421);
  });

  test('refuses every method and path before anything is looked up, and names host and remedy', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/ping'],
      ['GET', '/nosuch'],
      ['POST', '/sql'],
      ['OPTIONS', '/imp'],
      ['DELETE', '/handles/ids'],
    ] as const) {
      const answer = await ask(`${server.url}${path}`, { method, headers: { host: 'evil.example' } });
      expect([answer.status, answer.json()], `${method} ${path}`).toEqual([
        421,
        {
          error: 'this server does not answer to the name "evil.example"',
          code: 'wrong_host',
          hint: 'let the operator add the name to http.hosts, or use the address of the server',
        },
      ]);
    }
  });
});

test.each([
  ['http://evil.example/handles', 421],
  ['http://evil.example', 421],
  ['HTTPS://localhost@evil.example/handles', 421],
  ['http://localhost:9000/handles', 200],
  ['http://127.0.0.1/ping?a', 200],
])('the host of the target %s counts, not the header', async (target, status) => {
  const head = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  expect(await sendRaw(server.url, head)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

describe('http.hosts', () => {
  test('names whom the server answers to', async () => {
    for (const host of [
      'frames.corp.example',
      'Frames.Corp.Example:9000',
      'a.lab.example',
      'b.a.lab.example',
      '127.0.0.1',
    ])
      expect(await statusOf(declared, host), host).toBe(200);
    for (const host of ['corp.example', 'x.frames.corp.example', 'lab.example', '.lab.example', 'evil-lab.example'])
      expect(await statusOf(declared, host), host).toBe(421);
  });

  test('lets pages under such a name write to their own server, and no others', async () => {
    const write = (headers: Record<string, string>) =>
      ask(`${declared.url}/imp?name=sent&overwrite=true`, { method: 'POST', body: 'a\n1\n', headers });
    const host = 'frames.corp.example:9000';
    expect((await write({ host, origin: `http://${host}` })).status).toBe(200);
    expect((await write({ host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await write({ host, origin: 'http://a.lab.example' })).json().code).toBe('invalid_input');
  });

  test('may be * where a proxy knows the names', async () => {
    await using open = await startFramehold({ settings: { 'http.hosts': '*' } });
    expect(await statusOf(open, 'any.example', '/ping')).toBe(200);
  });
});
