import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startUpstream } from '../../../test/support/upstream.ts';
import { answer, chunk, lastChunk } from '../../../test/support/upstream-answer.ts';
import { bodyOf, exec, tsdbFor } from '../../../test/support/upstream-client.ts';

const error = '{"query":"q","error":"inconvertible value: `9` [STRING -> DECIMAL(5,2)]","position":12}';
const begun = [
  'HTTP/1.1 200 OK',
  'Server: questDB/1.0',
  'Transfer-Encoding: chunked',
  'Content-Type: text/csv; charset=utf-8',
  'Content-Disposition: attachment; filename="q.csv"',
  'Keep-Alive: timeout=5, max=10000',
];
const again = [
  'HTTP/1.1 400 Bad request',
  'Server: questDB/1.0',
  'Transfer-Encoding: chunked',
  'Content-Type: application/json; charset=utf-8',
  'Keep-Alive: timeout=5, max=10000',
];

function head(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

const begunTwice = Buffer.concat([head(...begun, ...again), chunk(error), lastChunk]);

describe('an answer that QuestDB begins twice', () => {
  test('is the first status with the headers and the body of the second', async () => {
    await using upstream = await startUpstream(({ write }) => write(begunTwice));
    await using tsdb = tsdbFor(upstream.url);
    const response = await exec(tsdb);
    expect({ ...response, body: String(await bodyOf(response)) }).toEqual({
      status: 200,
      contentType: 'application/json; charset=utf-8',
      body: error,
    });
  });

  test('is the same cut into pieces anywhere', async () => {
    await using upstream = await startUpstream(async ({ request, write }) => {
      const at = Number(request.parameters.get('query'));
      await write(begunTwice.subarray(0, at));
      await delay(2);
      await write(begunTwice.subarray(at));
    });
    await using tsdb = tsdbFor(upstream.url);
    for (let at = 1; at < begunTwice.length; at += 7) {
      const response = await exec(tsdb, String(at));
      expect([response.status, String(await bodyOf(response))]).toEqual([200, error]);
    }
  });

  test('leaves its connection to the next request', async () => {
    await using upstream = await startUpstream(({ request, write }) =>
      write(request.parameters.get('query') === 'bad' ? begunTwice : answer('{"good":1}')),
    );
    await using tsdb = tsdbFor(upstream.url, { maxConnections: 1 });
    for (const query of ['good', 'bad', 'bad', 'good', 'bad']) {
      expect(String(await bodyOf(await exec(tsdb, query)))).toBe(query === 'bad' ? error : '{"good":1}');
    }
    expect(upstream.connections).toBe(1);
  });

  test('keeps its compression', async () => {
    const gzip = 'Content-Encoding: gzip';
    const bytes = gzipSync(error);
    await using upstream = await startUpstream(({ write }) =>
      write(Buffer.concat([head(...begun, gzip, ...again, gzip), chunk(bytes), lastChunk])),
    );
    await using tsdb = tsdbFor(upstream.url);
    const response = await exec(tsdb, 'q', { acceptEncoding: 'gzip' });
    expect(response.contentEncoding).toBe('gzip');
    expect(await bodyOf(response)).toEqual(bytes);
  });

  test.each([
    ['three heads', head(...begun, ...again, ...again)],
    ['a second head of another version', head(...begun, 'HTTP/1.0 400 Bad request', ...again.slice(1))],
    ['a second head that is no error', head(...begun, 'HTTP/1.1 200 OK', ...again.slice(1))],
    ['a second head with a line that is none', head(...begun, ...again, 'HTTP 1.1')],
    ['a first head that is an error', head('HTTP/1.1 500 Oops', ...begun.slice(1), ...again)],
    ['two lengths in the second head', head(...begun, ...again, 'Content-Length: 3')],
    ['another transfer coding in the second head', head(...begun, ...again, 'Transfer-Encoding: gzip')],
    ['more than a head may have', head(...begun, `X: ${'x'.repeat(20_000)}`, ...again)],
  ])('%s is tsdb_unreachable', async (_, bytes) => {
    await using upstream = await startUpstream(({ write }) => write(Buffer.concat([bytes, chunk(error), lastChunk])));
    await using tsdb = tsdbFor(upstream.url);
    await expect(exec(tsdb)).rejects.toMatchObject({ code: 'tsdb_unreachable', retryAfterSeconds: undefined });
    await upstream.idle();
  });

  test.each(['end', 'reset'] as const)('that breaks off by %s within its heads is tsdb_unreachable', async (how) => {
    const heads = begunTwice.indexOf('\r\n\r\n');
    await using upstream = await startUpstream(async (conversation) => {
      await conversation.write(begunTwice.subarray(0, Number(conversation.request.parameters.get('query'))));
      conversation[how]();
    });
    await using tsdb = tsdbFor(upstream.url);
    for (let at = 1; at < heads + 4; at += 11) {
      await expect(exec(tsdb, String(at))).rejects.toMatchObject({ code: 'tsdb_unreachable' });
    }
  });

  test('that breaks off within its body destroys the body with an error', async () => {
    await using upstream = await startUpstream(async ({ write, end }) => {
      await write(begunTwice.subarray(0, -20));
      end();
    });
    await using tsdb = tsdbFor(upstream.url);
    await expect(exec(tsdb).then(bodyOf)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
  });

  test('and stops in its first head is tsdb_timeout', async () => {
    await using upstream = await startUpstream(({ write }) => write(begunTwice.subarray(0, 100)));
    await using tsdb = tsdbFor(upstream.url, { timeoutMs: 300 });
    await expect(exec(tsdb)).rejects.toMatchObject({ code: 'tsdb_timeout' });
  });
});

test('a second head after rows were sent destroys the body with an error', async () => {
  const bytes = Buffer.concat([head(...begun), Buffer.from('8\r\n["5.00"]'), head(...again), chunk(error), lastChunk]);
  await using upstream = await startUpstream(({ write }) => write(bytes));
  await using tsdb = tsdbFor(upstream.url);
  await expect(exec(tsdb).then(bodyOf)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
});
