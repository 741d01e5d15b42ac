import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startUpstream } from '../../../test/support/upstream.ts';
import { answer, chunk, chunkedHead } from '../../../test/support/upstream-answer.ts';
import { bodyOf, exec, recordingLogger, tsdbFor } from '../../../test/support/upstream-client.ts';

/** A closed port. */
async function deadUrl(): Promise<string> {
  await using upstream = await startUpstream();
  return upstream.url;
}

describe('before the answer begins', () => {
  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['two lengths at once', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}'],
    ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['a status below 100', answer('{}', { status: 99 })],
    ['a body in a coding of its own', chunkedHead({ headers: { 'Transfer-Encoding': 'gzip, chunked' } })],
    ['a redirect', answer('', { status: 302, headers: { Location: 'http://169.254.169.254/' } })],
    ['a refusal of our credentials', answer('Unauthorized\r\n', { status: 401 })],
  ])('%s is tsdb_unreachable', async (_, bytes) => {
    await using upstream = await startUpstream(({ write }) => write(bytes));
    await using tsdb = tsdbFor(upstream.url);
    await expect(exec(tsdb)).rejects.toMatchObject({ code: 'tsdb_unreachable', retryAfterSeconds: undefined });
    expect(upstream.requests).toHaveLength(1);
    await upstream.idle();
  });

  test.each(['end', 'reset'] as const)(
    'a connection that ends by %s is tsdb_unreachable, and nothing is sent twice',
    async (how) => {
      await using upstream = await startUpstream((conversation) => conversation[how]());
      await using tsdb = tsdbFor(upstream.url);
      await expect(exec(tsdb, 'insert into t values (1)')).rejects.toMatchObject({ code: 'tsdb_unreachable' });
      expect(upstream.requests).toHaveLength(1);
    },
  );

  test('one request that the upstream hangs up on does not stop the others', async () => {
    await using upstream = await startUpstream(({ request, write, reset }) =>
      request.parameters.get('query') === 'too long' ? reset() : write(answer()),
    );
    await using tsdb = tsdbFor(upstream.url);
    await expect(exec(tsdb, 'too long')).rejects.toMatchObject({ code: 'tsdb_unreachable' });
    expect((await exec(tsdb)).status).toBe(200);
  });

  test('an upstream that never answers is tsdb_timeout, its connection is closed, and the next request is tried', async () => {
    await using upstream = await startUpstream();
    await using tsdb = tsdbFor(upstream.url, { timeoutMs: 500 });
    await expect(exec(tsdb)).rejects.toMatchObject({ code: 'tsdb_timeout' });
    await (await upstream.next()).closed;
    upstream.script(({ write }) => write(answer()));
    await using patient = tsdbFor(upstream.url);
    expect((await exec(patient)).status).toBe(200);
    expect((await exec(tsdb)).status).toBe(200);
  });

  test('a name that does not resolve is tsdb_unreachable', async () => {
    await using tsdb = tsdbFor('http://framehold-test.invalid:9000');
    await expect(exec(tsdb)).rejects.toMatchObject({ code: 'tsdb_unreachable', retryAfterSeconds: 1 });
  });
});

describe('a connection kept open', () => {
  test.each(['end', 'reset'] as const)('that the upstream closed by %s meanwhile costs no request', async (how) => {
    await using upstream = await startUpstream(({ write }) => write(answer()));
    await using tsdb = tsdbFor(upstream.url, { maxConnections: 1 });
    for (let round = 0; round < 20; round += 1) {
      const body = await exec(tsdb, `insert ${round}`);
      const conversation = await upstream.next();
      await bodyOf(body);
      conversation[how]();
      // A reset is on the wire at once, and found by the next request; an end goes out later and could cross with it.
      if (how === 'end') await conversation.closed;
    }
    const sent = upstream.requests.map(({ parameters }) => parameters.get('query'));
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent).toHaveLength(20);
  });
});

describe('while nobody listens', () => {
  test('requests fail at once with the same error, and it is tried again after a second', async () => {
    const { logger, lines } = recordingLogger();
    const url = await deadUrl();
    await using tsdb = tsdbFor(url, { logger });
    const refused = { code: 'tsdb_unreachable', retryAfterSeconds: 1, message: expect.stringContaining('refused') };
    await expect(exec(tsdb)).rejects.toMatchObject(refused);
    await using upstream = await startUpstream(({ write }) => write(answer()), { port: Number(new URL(url).port) });
    await expect(exec(tsdb)).rejects.toMatchObject(refused);
    expect(upstream.connections).toBe(0);
    await expect
      .poll(
        () =>
          exec(tsdb).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 5000 },
      )
      .toBe(200);
    expect(lines.map(([message]) => message)).toEqual([
      'the external database is down',
      'the external database is back',
    ]);
  });
});

describe('after the answer has begun', () => {
  const begun = [chunkedHead(), chunk('{"dataset":[')];

  test.each(['end', 'reset'] as const)('a connection that ends by %s destroys the body with an error', async (how) => {
    await using upstream = await startUpstream();
    await using tsdb = tsdbFor(upstream.url);
    const executing = exec(tsdb);
    const conversation = await upstream.next();
    await conversation.write(Buffer.concat(begun));
    const response = await executing;
    conversation[how]();
    await expect(bodyOf(response)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
  });

  test('an end before the announced length destroys the body with an error', async () => {
    await using upstream = await startUpstream(async ({ write, end }) => {
      await write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"dataset":[');
      end();
    });
    await using tsdb = tsdbFor(upstream.url);
    const response = await exec(tsdb);
    await expect(bodyOf(response)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
  });

  test('a reset of an answer without a length destroys the body with an error, also right behind data', async () => {
    await using upstream = await startUpstream(async ({ write, reset }) => {
      await write('HTTP/1.1 200 OK\r\n\r\n{"dataset":[');
      reset();
    });
    await using tsdb = tsdbFor(upstream.url);
    for (let round = 0; round < 20; round += 1) {
      await expect(exec(tsdb).then(bodyOf)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
    }
  });

  test.each(['without a length', 'with a length'])(
    'an answer %s after which the connection ends reaches a slow reader whole',
    async (how) => {
      await using upstream = await startUpstream(async ({ request, write, end }) => {
        const length = Number(request.parameters.get('query'));
        const header = how === 'with a length' ? `Content-Length: ${length}\r\n` : '';
        await write(`HTTP/1.1 200 OK\r\n${header}Connection: close\r\n\r\n`);
        await write(Buffer.alloc(length));
        end();
      });
      await using tsdb = tsdbFor(upstream.url);
      // From below to above the read-ahead, so that the end comes before, while and after the reader is waited for.
      for (let length = 200_000; length < 500_000; length += 20_000) {
        const response = await exec(tsdb, String(length));
        await expect.poll(() => response.body.readableLength).toBeGreaterThan(190_000);
        // By when this is answered, the other connection has ended.
        await exec(tsdb, '0').then(bodyOf);
        let bytes = 0;
        for await (const piece of response.body) {
          bytes += piece.length;
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(bytes).toBe(length);
      }
    },
  );

  test('an error in the same packet as the headers harms nobody who reads late', async () => {
    const bytes = Buffer.concat([chunkedHead(), Buffer.from('not a chunk\r\n')]);
    await using upstream = await startUpstream(({ write }) => write(bytes));
    await using tsdb = tsdbFor(upstream.url);
    const response = await exec(tsdb);
    await new Promise((resolve) => setImmediate(resolve));
    await expect(bodyOf(response)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
  });

  test('silence destroys the body with tsdb_timeout', async () => {
    await using upstream = await startUpstream(({ write }) => write(Buffer.concat(begun)));
    await using tsdb = tsdbFor(upstream.url, { bodyIdleTimeoutMs: 200 });
    const response = await exec(tsdb);
    await expect(bodyOf(response)).rejects.toMatchObject({ code: 'tsdb_timeout' });
    await upstream.idle();
  });

  test('the time for the answer to begin does not limit the answer', async () => {
    await using upstream = await startUpstream();
    await using tsdb = tsdbFor(upstream.url, { timeoutMs: 1000, bodyIdleTimeoutMs: 60_000 });
    const executing = exec(tsdb);
    const conversation = await upstream.next();
    await conversation.write(Buffer.concat(begun));
    const response = await executing;
    // A request of its own runs into the same time-out, so that it has surely passed.
    await expect(exec(tsdb, 'slow')).rejects.toMatchObject({ code: 'tsdb_timeout' });
    await conversation.write(Buffer.concat([chunk(']}'), Buffer.from('0\r\n\r\n')]));
    expect(String(await bodyOf(response))).toBe('{"dataset":[]}');
  });
});

describe('a caller that goes away', () => {
  test('before the answer closes the upstream connection and rejects with its reason', async () => {
    await using upstream = await startUpstream();
    await using tsdb = tsdbFor(upstream.url);
    const controller = new AbortController();
    const executing = exec(tsdb, 'slow', {}, controller.signal);
    const { closed } = await upstream.next();
    controller.abort(new Error('client left'));
    await expect(executing).rejects.toThrow('client left');
    await closed;
  });

  test('in the middle of the answer closes the upstream connection and destroys the body', async () => {
    await using upstream = await startUpstream(({ write }) => write(Buffer.concat([chunkedHead(), chunk('{')])));
    await using tsdb = tsdbFor(upstream.url);
    const controller = new AbortController();
    const response = await exec(tsdb, 'long', {}, controller.signal);
    const { closed } = await upstream.next();
    controller.abort(new Error('client left'));
    await expect(bodyOf(response)).rejects.toThrow('client left');
    await closed;
  });

  test('by destroying the body closes the upstream connection and frees the place', async () => {
    await using upstream = await startUpstream(({ write }) => write(Buffer.concat([chunkedHead(), chunk('{')])));
    await using tsdb = tsdbFor(upstream.url, { maxConnections: 1, maxQueue: 0 });
    for (let round = 0; round < 3; round += 1) {
      const response = await exec(tsdb, 'long');
      const { closed } = await upstream.next();
      response.body.destroy();
      await closed;
    }
  });

  test('before it asks is not asked for', async () => {
    await using upstream = await startUpstream();
    await using tsdb = tsdbFor(upstream.url);
    await expect(exec(tsdb, 'x', {}, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(upstream.connections).toBe(0);
  });
});

test('who waits too long for a place is refused, and leaves the queue', async () => {
  await using upstream = await startUpstream(({ write }) => write(Buffer.concat([chunkedHead(), chunk('{')])));
  await using tsdb = tsdbFor(upstream.url, { maxConnections: 1, maxQueue: 1, timeoutMs: 200 });
  const { body } = await exec(tsdb, 'long');
  for (let round = 0; round < 2; round += 1) {
    await expect(exec(tsdb)).rejects.toMatchObject({
      code: 'overloaded',
      message: 'all 1 connections to the external database are in use, and none came free within 200 ms',
      retryAfterSeconds: 1,
    });
  }
  body.destroy();
  (await exec(tsdb, 'next')).body.destroy();
});

test('closing it ends what is under way', async () => {
  await using upstream = await startUpstream();
  const tsdb = tsdbFor(upstream.url);
  const executing = exec(tsdb);
  const { closed } = await upstream.next();
  const failing = expect(executing).rejects.toMatchObject({ code: 'tsdb_unreachable' });
  await tsdb[Symbol.asyncDispose]();
  await failing;
  await closed;
});

test('the password is in no error and no log line, whatever the upstream echoes', async () => {
  const { logger, lines } = recordingLogger();
  const seen: unknown[] = [];
  const withPassword = (port: number): string => `http://admin:canary@127.0.0.1:${port}`;
  const echo = (text: string): string => `${text} canary ${Buffer.from('admin:canary').toString('base64')}\r\n\r\n`;
  for (const bytes of [echo('garbage'), echo('HTTP/1.1 401'), echo('HTTP/1.1 302'), echo('HTTP/1.1 200 OK\r\nX')]) {
    await using upstream = await startUpstream(async ({ write, reset }) => {
      await write(bytes);
      reset();
    });
    await using tsdb = tsdbFor(withPassword(upstream.port), { logger });
    seen.push(
      await exec(tsdb)
        .then(bodyOf)
        .catch((error: unknown) => error),
    );
  }
  await using tsdb = tsdbFor(withPassword(Number(new URL(await deadUrl()).port)), { logger });
  seen.push(await exec(tsdb).catch((error: unknown) => error));
  const text = inspect([seen, lines], { depth: 20, showHidden: true });
  expect(seen.every((error) => error instanceof Error)).toBe(true);
  expect(lines.length).toBeGreaterThan(0);
  expect(text).not.toContain('canary');
  expect(text).not.toContain(Buffer.from('admin:canary').toString('base64'));
});
