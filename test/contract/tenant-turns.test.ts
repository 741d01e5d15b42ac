import { expect, test } from 'vitest';
import { type ClosedServer, otherTenant, startClosedServer } from '../support/closed-server.ts';

test('a tenant whose statements take every process does not shut out one that has none', async () => {
  await using closed = await startClosedServer({ settings: { 'sql.workers': '1', 'sql.timeout': '60s' } });
  const [heavy, light] = [closed.token('otherTenant'), closed.token('reader')];
  const sql = (token: string | undefined, text: string) =>
    closed.as(token, 'POST', '/sql', JSON.stringify({ sql: text }));
  const queries = async (): Promise<{ id: string }[]> =>
    ((await closed.as(heavy, 'GET', '/queries')).json() as { queries: { id: string }[] }).queries;
  const endless = Array.from({ length: 4 }, () => sql(heavy, 'select count(*) from range(1000000000000)'));
  await expect.poll(async () => (await queries()).length).toBe(4);
  for (let n = 0; n < 3; n++) expect((await sql(light, `select ${n}`)).status).toBe(200);
  const running = await queries();
  expect(running).toHaveLength(4);
  for (const { id } of running) await closed.as(heavy, 'DELETE', `/queries/${id}`);
  for (const answer of await Promise.all(endless)) expect(answer.json().code).toBe('sql_cancelled');
});

test('a tenant that fills the queue for SQL processes gets 503, and the others go on', async () => {
  await using closed = await startClosedServer({
    settings: { 'sql.workers': '1', 'sql.timeout': '60s', 'sql.max_queue': '10' },
  });
  const [heavy, light] = [closed.token('otherTenant'), closed.token('reader')];
  const sql = (token: string | undefined, text: string) =>
    closed.as(token, 'POST', '/sql', JSON.stringify({ sql: text }));
  const endless = Array.from({ length: 30 }, (_, n) => sql(heavy, `select count(*) + ${n} from range(1000000000000)`));
  const refused = await Promise.race(endless);
  expect([refused.status, refused.json().code]).toEqual([503, 'overloaded']);
  for (let n = 0; n < 3; n++) expect((await sql(light, `select ${n}`)).status).toBe(200);
  const { queries } = (await closed.as(heavy, 'GET', '/queries')).json() as { queries: { id: string }[] };
  for (const { id } of queries) await closed.as(heavy, 'DELETE', `/queries/${id}`);
  await Promise.all(endless);
});

test('the process of a tenant that pauses between its statements is not ended for one that has another process', async () => {
  await using closed = await startClosedServer({ settings: { 'sql.workers': '2' } });
  const [heavy, light] = [closed.token('otherTenant'), closed.token('reader')];
  const sql = (token: string | undefined, text: string) =>
    closed.as(token, 'POST', '/sql', JSON.stringify({ sql: text }));
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) await sql(heavy, 'select sum(hash(range)) from range(3_000_000)');
  };
  await sql(light, 'select 1');
  const others = Array.from({ length: 6 }, work);
  await sql(heavy, 'select 1');
  const before = await ended(closed);
  for (let n = 0; n < 8; n++) {
    // A client's own work between two statements.
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await sql(light, `select ${n}`)).status).toBe(200);
  }
  expect(await ended(closed)).toBe(before);
  isOver = true;
  await Promise.all(others);
});

/** How many processes for SQL were ended for others. */
async function ended(closed: ClosedServer): Promise<number> {
  const { text } = await closed.as(closed.token('operator'), 'GET', '/metrics');
  return Number(/^framehold_duckdb_worker_exits_total\{pool="sql",reason="not_needed"\} (\d+)$/m.exec(text)?.[1]);
}

test('strangers use up limits of their own, not those of the tenant that they read', async () => {
  await using closed = await startClosedServer({ settings: { 'auth.anonymous': 'other:read' } });
  await closed.records.setTenant(otherTenant, { maxRate: 5 });
  const stranger = () => closed.as(undefined, 'GET', '/handles');
  await expect.poll(async () => (await stranger()).status, { interval: 1 }).toBe(429);
  for (let n = 0; n < 3; n++)
    expect((await closed.as(closed.token('otherTenant'), 'GET', '/handles')).status).toBe(200);
});
