import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startUpstream } from '../../../test/support/upstream.ts';
import { answer, chunk, chunkedHead, lastChunk } from '../../../test/support/upstream-answer.ts';
import { bodyOf, exec, tsdbFor } from '../../../test/support/upstream-client.ts';

test('the request carries the parameters in order, our headers and nothing else', async () => {
  await using upstream = await startUpstream(({ write }) => write(answer()));
  await using tsdb = tsdbFor(upstream.url);
  const parameters = [
    ['query', "select 'ä&=+ %' --\n"],
    ['fmt', 'json'],
    ['limit', '1,10'],
  ] as const;
  await bodyOf(await exec(tsdb, '', { parameters }));
  const [request] = upstream.requests;
  expect(request).toMatchObject({ method: 'GET', path: '/exec' });
  expect([...(request?.parameters ?? [])]).toEqual(parameters);
  expect(Object.fromEntries(request?.headers ?? [])).toEqual({
    host: upstream.url.slice('http://'.length),
    connection: 'keep-alive',
    accept: 'application/json',
    'accept-encoding': 'identity',
  });
});

test('credentials and base path of the URL go where they belong', async () => {
  await using upstream = await startUpstream(({ write }) => write(answer()));
  await using tsdb = tsdbFor(`http://admin:s%40crt@127.0.0.1:${upstream.port}/proxy/`);
  await bodyOf(await exec(tsdb));
  expect(upstream.requests[0]?.path).toBe('/proxy/exec');
  expect(upstream.requests[0]?.headers.get('authorization')).toBe(
    `Basic ${Buffer.from('admin:s@crt').toString('base64')}`,
  );
});

test.each([200, 204, 400, 403, 404, 429, 500, 503])(
  'status %i passes with its body and content type',
  async (status) => {
    const body = status === 204 ? '' : '{"error":"so"}';
    const headers = { 'Content-Type': 'text/odd', 'Set-Cookie': 'a=b' };
    await using upstream = await startUpstream(({ write }) => write(answer(body, { status, headers })));
    await using tsdb = tsdbFor(upstream.url);
    const response = await exec(tsdb);
    expect({ ...response, body: String(await bodyOf(response)) }).toEqual({
      status,
      contentType: 'text/odd',
      contentEncoding: undefined,
      contentLength: String(body.length),
      body,
    });
  },
);

test('interim answers are passed over', async () => {
  await using upstream = await startUpstream(async ({ write }) => {
    await write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n');
    await write(answer('{"real":1}'));
  });
  await using tsdb = tsdbFor(upstream.url);
  const response = await exec(tsdb);
  expect(response.status).toBe(200);
  expect(String(await bodyOf(response))).toBe('{"real":1}');
});

test('an encoded body passes as the bytes that came', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  await using upstream = await startUpstream(({ write }) =>
    write(answer(bomb, { headers: { 'Content-Encoding': 'gzip' } })),
  );
  await using tsdb = tsdbFor(upstream.url);
  const response = await exec(tsdb, 'select 1', { acceptEncoding: 'gzip, br' });
  expect(upstream.requests[0]?.headers.get('accept-encoding')).toBe('gzip, br');
  expect(response.contentEncoding).toBe('gzip');
  expect((await bodyOf(response)).equals(bomb)).toBe(true);
});

test('an answer sent byte by byte arrives whole', async () => {
  const bytes = Buffer.concat([chunkedHead(), chunk('{"dataset":'), chunk('[]}'), lastChunk]);
  await using upstream = await startUpstream(async ({ write }) => {
    for (const byte of bytes) await write(Buffer.of(byte));
  });
  await using tsdb = tsdbFor(upstream.url);
  expect(String(await bodyOf(await exec(tsdb)))).toBe('{"dataset":[]}');
});

test('a reader that does not read holds the upstream back', async () => {
  const megabyte = chunk(Buffer.alloc(1_000_000, 'x'));
  let sent = 0;
  await using upstream = await startUpstream(async ({ write }) => {
    await write(chunkedHead());
    for (; sent < 200; sent += 1) await write(megabyte);
    await write(lastChunk);
  });
  await using tsdb = tsdbFor(upstream.url);
  const response = await exec(tsdb);
  // Once the buffers of both sockets are full, a second request can come and go while the first is blocked.
  for (let before = -1; before !== sent; ) {
    before = sent;
    upstream.script(({ write }) => write(answer()));
    await bodyOf(await exec(tsdb));
  }
  expect(sent).toBeLessThan(50);
  expect((await bodyOf(response)).length).toBe(200_000_000);
});

test('requests one after the other reuse connections', async () => {
  await using upstream = await startUpstream(({ write }) => write(answer()));
  await using tsdb = tsdbFor(upstream.url);
  for (let i = 0; i < 10; i += 1) await bodyOf(await exec(tsdb));
  // A connection is free again only a turn after its answer has ended, so two may take turns.
  expect(upstream.connections).toBeLessThanOrEqual(2);
});

test('a statement time-out never shares its connection, neither with those before nor after', async () => {
  await using upstream = await startUpstream(({ write }) => write(answer()));
  await using tsdb = tsdbFor(upstream.url);
  const connections = new Map<string | undefined, Set<number>>();
  for (const statementTimeout of [undefined, '1', undefined, '2', '3', undefined]) {
    await bodyOf(await exec(tsdb, 'select 1', { statementTimeout }));
    const { connection, request } = await upstream.next();
    expect(request.headers.get('statement-timeout')).toBe(statementTimeout);
    connections.set(statementTimeout, (connections.get(statementTimeout) ?? new Set()).add(connection));
  }
  const perKind = [...connections.values()].flatMap((numbers) => [...numbers]);
  expect(new Set(perKind).size).toBe(perKind.length);
});

test('statements with and without a time-out share the connections that there may be', async () => {
  await using upstream = await startUpstream(({ write }) => write(answer()));
  await using tsdb = tsdbFor(upstream.url, { maxConnections: 2 });
  await Promise.all(['1', '2'].map((query) => exec(tsdb, query).then(bodyOf)));
  const kept = [await upstream.next(), await upstream.next()];
  upstream.script(() => {});
  const timed = ['3', '4'].map((query) => exec(tsdb, query, { statementTimeout: '1000' }).then(bodyOf));
  const conversations = [await upstream.next(), await upstream.next()];
  await Promise.all(kept.map(({ closed }) => closed));
  for (const { write } of conversations) await write(answer());
  await Promise.all(timed);
});

test('beyond the connections requests wait, and beyond the queue they are refused', async () => {
  await using upstream = await startUpstream();
  await using tsdb = tsdbFor(upstream.url, { maxConnections: 2, maxQueue: 1 });
  const [first, second, third] = [exec(tsdb, '1'), exec(tsdb, '2'), exec(tsdb, '3')];
  await expect(exec(tsdb, '4')).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
  const conversations = [await upstream.next(), await upstream.next()];
  expect(upstream.requests).toHaveLength(2);
  for (const { write } of conversations) await write(answer());
  await Promise.all([first.then(bodyOf), second.then(bodyOf)]);
  const last = await upstream.next();
  expect(last.request.parameters.get('query')).toBe('3');
  await last.write(answer());
  await third.then(bodyOf);
  expect(upstream.connections).toBe(2);
});
