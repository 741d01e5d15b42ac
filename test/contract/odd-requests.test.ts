import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask, sendRaw } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'http.max_body': '1MB', 'http.request_timeout': '500ms' } });
});
afterAll(() => server[Symbol.asyncDispose]());

const answersIn = (text: string): number => text.match(/HTTP\/1\.1 \d\d\d /g)?.length ?? 0;

test.each([
  ['an unknown path', 'POST /nosuch HTTP/1.1\r\nHost: localhost'],
  ['a missing Host', 'POST /imp HTTP/1.1\r\nAccept: */*'],
  ['an unknown method', 'PATCH /ping HTTP/1.1\r\nHost: localhost\r\nExpect: a-miracle'],
])('%s whose body is broken as well is answered once', async (_, head) => {
  const text = await sendRaw(server.url, `${head}\r\nTransfer-Encoding: chunked\r\n\r\nthis is no chunk\r\n`);
  expect(answersIn(text)).toBe(1);
});

test('no answer may be taken for another type than its own: neither a good one, nor an error, nor one to no request at all', async () => {
  for (const path of ['/ping', '/', '/nosuch', '/exec?handle=none&fmt=json'])
    expect((await ask(`${server.url}${path}`)).headers['x-content-type-options'], path).toBe('nosniff');
  for (const bytes of ['nonsense\r\n\r\n', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\n\r\n`])
    expect(await sendRaw(server.url, bytes)).toContain('X-Content-Type-Options: nosniff\r\n');
});

test('a request without Host is refused in the one shape', async () => {
  const text = await sendRaw(server.url, 'GET /ping HTTP/1.1\r\n\r\n');
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(text).toContain('"code":"invalid_input"');
});

test.each(['Host: localhost', 'HOST: evil.example', 'host:'])('a second Host header "%s" is refused', async (line) => {
  const text = await sendRaw(server.url, `GET /handles HTTP/1.1\r\nHost: localhost\r\n${line}\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*"the request has more than one Host header"/);
});

test.each(['GET /ping', 'GET /pingHTTP/1.1', 'GET /ping HTTP/0.9', 'GET /ping HTTP/2.0'])(
  '"%s" is refused, and nothing behind it is read',
  async (line) => {
    const text = await sendRaw(
      server.url,
      `${line}\r\nHost: localhost\r\n\r\nGET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"code":"invalid_input"');
    expect(answersIn(text)).toBe(1);
  },
);

test.each(['gzip, chunked', ''])(
  'the Transfer-Encoding "%s" is refused, and nothing behind it is read',
  async (coding) => {
    const next = 'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const head = `POST /imp?name=coded HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: ${coding}`;
    const length = coding === '' ? '\r\nContent-Length: 5' : '';
    const text = await sendRaw(server.url, `${head}${length}\r\n\r\n0\r\n\r\n${next}`);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"code":"invalid_input"');
    expect(answersIn(text)).toBe(1);
  },
);

test('what a client expects beyond 100-continue is ignored', async () => {
  expect((await ask(`${server.url}/ping`, { headers: { expect: 'a-miracle' } })).status).toBe(200);
});

test('a precondition behind too many headers is never overlooked', async () => {
  await putSql(server.frames, 'held', 'SELECT 1 AS a');
  const text = await sendRaw(
    server.url,
    `DELETE /handles/held HTTP/1.1\r\nHost: localhost\r\n${'a:b\r\n'.repeat(100)}If-Match: "7"\r\n\r\n`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 431 /);
  expect(text).toContain('"code":"request_too_long"');
  expect((await ask(`${server.url}/handles/held`)).status).toBe(200);
});

test.each(['/sql', '/handles/held/renew'])(
  'a body to %s that comes a byte at a time must come in time',
  async (target) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(`POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"`);
    const drip = setInterval(() => socket.write('x'), 50);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    clearInterval(drip);
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 [\s\S]*the body did not come within 0\.5 s/);
  },
);

/** A client that reads only when it has sent everything. */
function sendAllThenRead(head: string, body: Buffer): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('error', reject);
    socket.write(head);
    socket.write(body, () => {
      socket.setEncoding('latin1').on('data', (piece: string) => {
        text += piece;
        socket.end();
      });
    });
    socket.on('close', () => resolve(text));
  });
}

test.each([
  ['a body that is too large', 'POST /ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n', 413],
  ['a target that is too long', 'GET /', 431],
  // The server waits only a second for a client to take notice. One that the system held up for longer may try again.
])('%s is answered so that a client that still sends can read it', { retry: 3 }, async (_, head, status) => {
  expect(await sendAllThenRead(head, Buffer.alloc(3_000_000, 'a'))).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test('a reader that takes nothing is cut off also where it sends an empty line now and then', async () => {
  await using own = await startFramehold({ settings: { 'http.stall_timeout': '400ms' } });
  await putSql(own.frames, 'big', "SELECT range AS id, repeat('x', 100) AS text FROM range(600_000)");
  const { hostname, port } = new URL(own.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write('GET /exec?handle=big&fmt=json&limit=1, HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const lines = setInterval(() => socket.write('\r\n'), 100);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(lines);
  expect(own.log()).toContain('took nothing for 400 ms');
});
