import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type QuestDb, startQuestDb } from '../../../test/support/questdb.ts';
import { questdbUnavailable } from '../../../test/support/questdb-unavailable.ts';
import { bodyOf, exec, tsdbFor } from '../../../test/support/upstream-client.ts';
import { tsdbEngine } from './tsdb-engine.ts';

const credentials = { user: 'admin', password: 'pä:ss@w%rd' };

function failsAtRow(row: number): string {
  return `select cast(case when x=${row} then '99999999999' else '5' end as decimal(5,2)) d from long_sequence(${2 * row})`;
}

describe.skipIf(await questdbUnavailable())('with a real QuestDB that asks for a password', () => {
  let questdb: QuestDb;
  let url: string;

  beforeAll(async () => {
    questdb = await startQuestDb({ ...credentials, settings: { 'circuit.breaker.throttle': '1000' } });
    const { host } = new URL(questdb.url);
    url = `http://${credentials.user}:${encodeURIComponent(credentials.password)}@${host}`;
  }, 120_000);
  afterAll(() => questdb[Symbol.asyncDispose]());

  test('a statement is answered', async () => {
    await using tsdb = tsdbFor(url);
    const response = await exec(tsdb, "select 'grüße' a");
    expect(response).toMatchObject({ status: 200, contentType: 'application/json; charset=utf-8' });
    expect(JSON.parse(String(await bodyOf(response)))).toMatchObject({ dataset: [['grüße']], count: 1 });
  });

  test('it is up as an engine, and tells its version', async () => {
    await using tsdb = tsdbFor(url);
    const { signal } = new AbortController();
    expect(await tsdbEngine('tsdb', tsdb).health({ signal })).toEqual({
      state: 'up',
      version: expect.stringMatching(/^\d+\.\d+/),
    });
    await using refused = tsdbFor(url.replace('admin', 'somebody'));
    expect(await tsdbEngine('tsdb', refused).health({ signal })).toEqual({
      state: 'down',
      problem: 'the external database refused our credentials',
    });
  });

  test('a wrong password is told as such', async () => {
    await using tsdb = tsdbFor(url.replace('admin', 'somebody'));
    await expect(exec(tsdb)).rejects.toMatchObject({ message: 'the external database refused our credentials' });
  });

  test('a request longer than its buffer is tsdb_unreachable and stops nobody else', async () => {
    await using tsdb = tsdbFor(url);
    await expect(exec(tsdb, `select '${'x'.repeat(100_000)}'`)).rejects.toMatchObject({
      code: 'tsdb_unreachable',
      message: expect.stringContaining('closed the connection'),
    });
    expect((await exec(tsdb)).status).toBe(200);
  });

  test.each(['exec', 'exp'] as const)(
    'a statement of /%s that fails before its first rows are sent tells why',
    async (door) => {
      await using tsdb = tsdbFor(url);
      const response = await exec(tsdb, '', { door, parameters: [['query', failsAtRow(1101)]] });
      expect(response).toMatchObject({ status: 200, contentType: 'application/json; charset=utf-8' });
      expect(response.contentDisposition).toBeUndefined();
      expect(JSON.parse(String(await bodyOf(response)))).toEqual({
        query: failsAtRow(1101),
        error: 'inconvertible value: `99999999999` [STRING -> DECIMAL(5,2)]',
        position: 12,
      });
      expect((await exec(tsdb)).status).toBe(200);
    },
  );

  test('a statement that fails after its first rows were sent breaks the body off', async () => {
    await using tsdb = tsdbFor(url);
    const response = await exec(tsdb, failsAtRow(1_000_000));
    await expect(bodyOf(response)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
    expect((await exec(tsdb)).status).toBe(200);
  });

  test('killed in the middle of an answer it breaks the body off, and restarted it answers again', async () => {
    await using tsdb = tsdbFor(url);
    const response = await exec(tsdb, 'select x, x * 2, x * 3 from long_sequence(50000000)');
    const reading = expect(bodyOf(response)).rejects.toMatchObject({ code: 'tsdb_unreachable' });
    await questdb.kill('SIGKILL');
    await reading;
    await expect(exec(tsdb)).rejects.toMatchObject({ code: 'tsdb_unreachable', retryAfterSeconds: 1 });
    await questdb.restart();
    const status = () =>
      exec(tsdb).then(
        (again) => again.status,
        () => 0,
      );
    await expect.poll(status, { timeout: 5000 }).toBe(200);
  }, 60_000);

  test('frozen it is tsdb_timeout, and thawed it answers again', async () => {
    await using tsdb = tsdbFor(url, { timeoutMs: 300 });
    await questdb.kill('SIGSTOP');
    await expect(exec(tsdb)).rejects.toMatchObject({ code: 'tsdb_timeout' });
    await questdb.kill('SIGCONT');
    const status = () =>
      exec(tsdb).then(
        (again) => again.status,
        () => 0,
      );
    await expect.poll(status, { timeout: 5000 }).toBe(200);
  });
});
