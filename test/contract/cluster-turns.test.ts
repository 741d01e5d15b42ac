import { expect, test } from 'vitest';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { batchOf, type ConnectCall, scriptedConnectServer } from '../support/scripted-connect-server.ts';

/** Which of the statements an execution is for: `SELECT 17` is 17. */
function numberOf({ request }: ConnectCall): number {
  const text = Buffer.from(request).toString('latin1');
  return Number(/SELECT (\d+)/i.exec(text)?.[1]);
}

async function answer(call: ConnectCall): Promise<void> {
  await call.send(batchOf([1], 'r0'));
  await call.send({ resultComplete: {} });
  call.end();
}

test('a client with many waiting statements on a cluster holds up no other address', async () => {
  const begun: number[] = [];
  let first: ConnectCall | undefined;
  await using cluster = await scriptedConnectServer(async (call) => {
    if (call.method !== 'ExecutePlan') return;
    begun.push(numberOf(call));
    if (begun.length === 1) first = call;
    else await answer(call);
  });
  const toml = `[engines.spark]\nkind = "spark-connect"\nurl = "${cluster.url}"\nmax_concurrent = 1\n`;
  await using server = await startFramehold({ toml });
  const sql = (n: number, localAddress: string) =>
    ask(`${server.url}/exec?${new URLSearchParams({ query: `SELECT ${n}`, fmt: 'json', engine: 'spark' })}`, {
      localAddress,
    });
  const waiting = async (count: number): Promise<void> => {
    const queries = async () => ((await ask(`${server.url}/queries`)).json() as { queries: unknown[] }).queries.length;
    await expect.poll(queries).toBe(count);
  };

  const heavy = [sql(100, '127.0.0.1')];
  await expect.poll(() => begun).toEqual([100]);
  for (let n = 101; n < 112; n++) {
    heavy.push(sql(n, '127.0.0.1'));
    await waiting(heavy.length);
  }
  const light = [sql(200, '127.0.0.2')];
  await waiting(heavy.length + 1);
  light.push(sql(201, '127.0.0.2'));
  await waiting(heavy.length + 2);

  if (first !== undefined) await answer(first);
  const statuses = await Promise.all([...heavy, ...light].map(async (each) => (await each).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(begun.slice(0, 5)).toEqual([100, 101, 200, 102, 201]);
});
