import { expect, test } from 'vitest';
import { startClosedServer } from '../support/closed-server.ts';
import { EventSource } from '../support/event-source.ts';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { soon } from '../support/soon.ts';
import { tenantCaller } from '../support/tenants.ts';

const changes = (source: EventSource) =>
  source.events
    .filter(({ event }) => event !== 'progress')
    .map(({ event, data }) => ({
      event,
      ...(JSON.parse(data) as { readonly handle: string; readonly rowsAdded?: number }),
    }));

test('puts and drops are told at once, and the appends of a second as one', async () => {
  await using server = await startFramehold({ settings: { 'server.max_followers': '1' } });
  const imp = (query: string) => ask(`${server.url}/imp?${query}`, { method: 'POST', body: 'n\n1\n2\n' });
  await imp('name=before');
  using source = await EventSource.open(`${server.url}/handles?live=sse&prefix=t`);
  expect([source.status, source.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect((await ask(`${server.url}/handles?live=sse`)).status).toBe(503);
  await imp('name=ticks');
  await imp('name=other');
  await soon(() =>
    expect(changes(source)).toMatchObject([{ event: 'put', handle: 'ticks', version: 1, rows: 2, rowsAdded: 2 }]),
  );
  const begunAt = performance.now();
  for (let n = 0; n < 5; n++) await imp('name=ticks&append=true');
  await soon(() => expect(changes(source).at(-1)).toMatchObject({ event: 'append', rows: 12 }));
  const appends = changes(source).slice(1);
  expect(appends.length).toBeLessThanOrEqual(1 + (performance.now() - begunAt) / 1000);
  expect(appends.reduce((sum, { rowsAdded = 0 }) => sum + rowsAdded, 0)).toBe(10);
  await imp('name=ticks&overwrite=true');
  await soon(() => expect(changes(source).at(-1)).toMatchObject({ event: 'put', rows: 2 }));
  await ask(`${server.url}/handles/ticks`, { method: 'DELETE' });
  await soon(() => expect(changes(source).at(-1)).toEqual({ event: 'drop', handle: 'ticks' }));
});

test('a tenant hears of its own frames and of those that are shared with it, and a token of those with its prefix', async () => {
  await using closed = await startClosedServer();
  const { server } = closed;
  using research = await tenantCaller(server, 'research');
  const { token } = await closed.makeToken('read', { prefix: 'open_' });
  await closed.untilKnown(token);
  const admin = closed.token('admin');
  const put = (name: string) => closed.as(admin, 'POST', `/imp?name=${name}`, 'n\n1\n');
  using prefixed = await EventSource.open(`${server.url}/handles?live=sse`, { authorization: `Bearer ${token}` });
  using other = await EventSource.open(`${server.url}/handles?live=sse`, research.headers);
  await put('secret');
  await put('open_ticks');
  await soon(() => expect(changes(prefixed)).toMatchObject([{ event: 'put', handle: 'open_ticks' }]));
  await closed.as(admin, 'PUT', '/handles/open_ticks/shares/research');
  await soon(() => expect(changes(other)).toMatchObject([{ event: 'put', handle: 'default/open_ticks' }]));
  await closed.as(admin, 'POST', '/imp?name=open_ticks&append=true', 'n\n2\n');
  await soon(() => expect(changes(other).at(-1)).toMatchObject({ event: 'append', rows: 2 }));
  await closed.as(admin, 'DELETE', '/handles/open_ticks/shares/research');
  await soon(() => expect(changes(other).at(-1)).toEqual({ event: 'drop', handle: 'default/open_ticks' }));
  expect(JSON.stringify([changes(prefixed), changes(other)])).not.toContain('secret');
});
