import { describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { startQuestDb } from '../support/questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { startUpstream } from '../support/upstream.ts';
import { answer, chunk, chunkedHead } from '../support/upstream-answer.ts';

const expUrl = ({ url }: { readonly url: string }, parameters: Readonly<Record<string, string>>): string =>
  `${url}/exp?${new URLSearchParams(parameters)}`;

describe('GET /exp?query=… with an external database', () => {
  test('it answers itself, and gets only what is its own', async () => {
    const headers = {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="x.csv"',
      'X-Inside': 'secret',
    };
    await using upstream = await startUpstream(({ write }) => write(answer('"a"\r\n1\r\n', { headers })));
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': `${upstream.url}/base` } });
    const own = {
      query: 'select 1 a',
      fmt: 'csv',
      limit: '0,10',
      nm: 'true',
      filename: 'x',
      timeout: '5',
      rmode: 'nodelay',
    };
    const result = await ask(expUrl(framehold, { ...own, engine: 'tsdb', escapeFormulas: 'true' }));
    expect(result).toMatchObject({ status: 200, text: '"a"\r\n1\r\n' });
    expect(result.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="x.csv"',
    });
    expect(result.headers['x-inside']).toBeUndefined();
    expect(upstream.requests[0]).toMatchObject({ method: 'GET', path: '/base/exp' });
    expect(Object.fromEntries(upstream.requests[0]?.parameters ?? [])).toEqual(own);
    expect(upstream.requests[0]?.headers.get('accept')).toBe('*/*');
  });

  test('an answer that it breaks off is broken off', async () => {
    await using upstream = await startUpstream(async ({ write, reset }) => {
      await write(Buffer.concat([chunkedHead({ headers: { 'Content-Type': 'text/csv' } }), chunk('a\r\n')]));
      reset();
    });
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    await expect(ask(expUrl(framehold, { query: 'select 1' }))).rejects.toThrow();
  });

  test('handle= and engine=local never reach it', async () => {
    await using upstream = await startUpstream(({ write }) => write(answer()));
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    await putSql(framehold.frames, 'one', 'SELECT 1 AS a');
    expect((await ask(expUrl(framehold, { handle: 'one' }))).text).toBe('a\r\n1\r\n');
    expect((await ask(expUrl(framehold, { query: 'SELECT 2 AS a', engine: 'local' }))).text).toBe('a\r\n2\r\n');
    expect(upstream.requests).toEqual([]);
  });
});

describe.skipIf(await questdbUnavailable())('against QuestDB itself', () => {
  test('exports pass unchanged, and ours page alike', async () => {
    await using questdb = await startQuestDb();
    await using framehold: Framehold = await startFramehold({ settings: { 'tsdb.http_url': questdb.url } });
    await putSql(framehold.frames, 'ids', 'SELECT range + 1 AS x FROM range(30)');
    const query = 'select x from long_sequence(30)';
    for (const parameters of [
      {},
      { limit: '10,20' },
      { limit: '3' },
      { limit: '0' },
      { nm: 'true' },
      { limit: '25,' },
    ]) {
      const direct = await ask(expUrl(questdb, { query, ...parameters }));
      const passed = await ask(expUrl(framehold, { query, ...parameters }));
      expect([passed.status, passed.headers['content-type'], passed.text]).toEqual([
        direct.status,
        direct.headers['content-type'],
        direct.text,
      ]);
      const ours = await ask(expUrl(framehold, { handle: 'ids', ...parameters }));
      expect(ours.text).toBe(direct.text.replaceAll('"', ''));
    }
    const wrong = await ask(expUrl(framehold, { query: 'select nothing' }));
    expect(wrong).toMatchObject({ status: 400, headers: { 'content-type': 'application/json; charset=utf-8' } });
  });
});
