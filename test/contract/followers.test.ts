import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startClosedServer } from '../support/closed-server.ts';
import { EventSource } from '../support/event-source.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { soon } from '../support/soon.ts';
import { tenantCaller } from '../support/tenants.ts';

const imp = (server: Framehold, query: string, body = 'n\n1\n') =>
  ask(`${server.url}/imp?fmt=json&${query}`, { method: 'POST', body });

test('followers have a limit of their own and are not among the requests under way', async () => {
  await using server = await startFramehold({
    settings: { 'server.max_followers': '4', 'http.max_concurrent_requests': '2' },
  });
  await imp(server, 'name=ticks');
  const url = `${server.url}/handles/ticks/rows?from=end&live=`;
  const sources: EventSource[] = [];
  for (let n = 0; n < 4; n++) sources.push(await EventSource.open(`${url}sse`));
  const refused = await ask(`${url}sse`);
  expect([refused.status, refused.json().code, refused.headers['retry-after']]).toEqual([503, 'overloaded', '1']);
  expect((await ask(`${server.url}/handles/ticks/rows`)).status).toBe(200);
  sources.pop()?.[Symbol.dispose]();
  await soon(async () => expect((await ask(`${url}long-poll&wait=0s`)).status).toBe(204));
  const poll = ask(`${server.url}/handles/ticks/rows?from=1&live=long-poll&wait=60s`);
  await imp(server, 'name=ticks&append=true');
  expect((await poll).text).toBe('{"n":1}\n');
  for (const source of sources) await soon(() => expect(source.rows).toEqual(['{"n":1}']));
  for (const source of sources) source[Symbol.dispose]();
});

test('the stop of the server ends followers at once, with the reason', async () => {
  const server = await startFramehold({ settings: { 'server.shutdown_grace': '60s' } });
  await imp(server, 'name=ticks');
  using source = await EventSource.open(`${server.url}/handles/ticks/rows?live=sse`);
  const poll = ask(`${server.url}/handles/ticks/rows?from=1&live=long-poll&wait=60s`);
  await soon(() => expect(source.rows).toHaveLength(1));
  await server[Symbol.asyncDispose]();
  expect([(await poll).status, source.hasEnded]).toEqual([503, true]);
  expect(JSON.parse(source.of('end')[0]?.data ?? '')).toMatchObject({ code: 'overloaded' });
});

test('a frame does not expire while it is followed, and does afterwards', async () => {
  await using server = await startFramehold();
  await imp(server, 'name=short&ttl=500ms');
  const source = await EventSource.open(`${server.url}/handles/short/rows?live=sse`);
  const begun = Date.now();
  const state = async () => (await ask(`${server.url}/handles/short`)).status;
  await soon(() => expect(Date.now() - begun).toBeGreaterThan(1500));
  expect(await state()).toBe(200);
  source[Symbol.dispose]();
  await soon(async () => expect(await state()).toBe(410));
});

test('a client that takes nothing is cut off, and one that waits for rows is not', async () => {
  await using server = await startFramehold({
    settings: { 'http.stall_timeout': '1s', 'server.progress_interval': '10s' },
  });
  const wide = 'x'.repeat(10_000);
  await imp(server, 'name=large', `text\n${`${wide}\n`.repeat(3000)}`);
  await imp(server, 'name=quiet');
  using idle = await EventSource.open(`${server.url}/handles/quiet/rows?live=sse&from=end`);
  const { hostname, port } = new URL(server.url);
  const stalled = connect(Number(port), hostname);
  stalled.write('GET /handles/large/rows?live=sse HTTP/1.1\r\nHost: localhost\r\n\r\n');
  stalled.on('error', () => {});
  await soon(() => expect(server.log()).toContain('it took nothing for 1000 ms'));
  stalled.destroy();
  await imp(server, 'name=quiet&append=true');
  await soon(() => expect(idle.rows).toHaveLength(1));
}, 30_000);

test('a follower ends with its token, and with the share of the frame', async () => {
  await using closed = await startClosedServer();
  const { server } = closed;
  using research = await tenantCaller(server, 'research');
  const admin = closed.token('admin');
  await closed.as(admin, 'POST', '/imp?name=ticks', 'n\n1\n');
  await closed.as(admin, 'PUT', '/handles/ticks/shares/research');
  const { token, record } = await closed.makeToken('read');
  await closed.untilKnown(token);
  using own = await EventSource.open(`${server.url}/handles/ticks/rows?live=sse`, {
    authorization: `Bearer ${token}`,
  });
  const shared = `${server.url}/handles/default%2Fticks/rows?live=sse`;
  using other = await EventSource.open(shared, research.headers);
  await soon(() => expect([own.rows.length, other.rows.length]).toEqual([1, 1]));
  await closed.as(admin, 'POST', '/imp?name=ticks&append=true', 'n\n2\n');
  await soon(() => expect([own.rows.length, other.rows.length]).toEqual([2, 2]));
  await closed.as(admin, 'DELETE', '/handles/ticks/shares/research');
  await soon(() => expect(other.of('end')[0]?.data).toContain('handle_gone'));
  await closed.records.revokeToken(record.id);
  await soon(() => expect(own.of('end')[0]?.data).toContain('unauthenticated'));
});
