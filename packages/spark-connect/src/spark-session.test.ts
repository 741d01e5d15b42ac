import { expect, it } from 'vitest';
import { batchOf, scriptedConnectServer } from '../../../test/support/scripted-connect-server.ts';
import { ConnectChannel } from './connect-channel.ts';
import { parseConnectUrl } from './connect-url.ts';
import { execute } from './execution.ts';
import { rootPlan, sqlOver } from './plan.ts';
import { type SessionSettings, SparkSession } from './spark-session.ts';

const limit = { signal: AbortSignal.timeout(30_000) };
const plan = rootPlan(sqlOver('SELECT 1', [], { named: new Map(), positional: [] }));
const ansi = { pinned: { 'spark.sql.ansi.enabled': 'true' }, other: {} };

function sessionOf(url: string, settings: SessionSettings = ansi): { session: SparkSession } & Disposable {
  const channel = new ConnectChannel({ address: parseConnectUrl(url), connectTimeoutMs: 1000, userAgent: 'test' });
  const session = new SparkSession({ channel, userId: 'ann', clientType: 'test', retryForMs: 0, settings });
  return { session, [Symbol.dispose]: () => channel.close() };
}

it('gives the rows of a plan as they come', async () => {
  await using server = await scriptedConnectServer(async (call) => {
    if (call.method !== 'ExecutePlan') return;
    await call.send(batchOf([1], 'r0'));
    await call.send({ resultComplete: {} });
    call.end();
  });
  using opened = sessionOf(server.url);
  await opened.session.configure(limit);
  const rows: bigint[] = [];
  for await (const { arrowBatch } of execute(opened.session, plan, limit)) rows.push(arrowBatch?.rowCount ?? 0n);
  expect(rows).toEqual([1n]);
});

it('is not used where the server does not keep its settings', async () => {
  await using server = await scriptedConnectServer(() => {}, { isFixedSetting: (key) => key !== 'a' });
  using opened = sessionOf(server.url, { pinned: { a: '1' }, other: { b: '2' } });
  await opened.session.configure(limit);
  expect(await opened.session.change('a', '3', limit)).toBe(true);
  expect(await opened.session.change('b', '3', limit)).toBe(false);
  using refused = sessionOf(server.url, { pinned: { b: '2' }, other: {} });
  await expect(refused.session.configure(limit)).rejects.toMatchObject({ code: 'engine_unreachable' });
});
