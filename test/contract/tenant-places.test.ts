import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { EventSource } from '../support/event-source.ts';
import { byPath, FlightClient } from '../support/flight-client.ts';
import { soon } from '../support/soon.ts';

let closed: ClosedServer;
const light = () => closed.token('reader');
/** A second, or a few times what it takes without anybody else. */
let mostMs = 1000;

beforeAll(async () => {
  closed = await startClosedServer({
    settings: { 'http.max_concurrent_requests': '8', 'server.max_followers': '3', 'server.max_connections': '4' },
  });
  await closed.as(closed.token('writer'), 'POST', '/imp?name=ticks', 'n\n1\n');
  await closed.as(closed.token('otherTenant'), 'POST', '/imp?name=ticks', 'n\n1\n');
  mostMs = Math.max(mostMs, 5 * (await msOf(() => closed.as(light(), 'GET', '/handles'))));
});
afterAll(async () => closed[Symbol.asyncDispose]());

async function figure(name: string, capacity: string): Promise<number> {
  const { text } = await closed.as(closed.token('operator'), 'GET', '/metrics');
  return Number(new RegExp(`^${name}(?:_total)?\\{capacity="${capacity}"\\} (\\S+)$`, 'm').exec(text)?.[1]);
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const beganAt = performance.now();
  await work();
  return performance.now() - beganAt;
}

test('a tenant whose uploads do not end cannot take all requests, and is told where one ends for others', async () => {
  const answers: IncomingMessage[] = [];
  const uploads = Array.from({ length: 12 }, () => {
    const upload = request(`${closed.server.url}/imp`, {
      agent: false,
      method: 'POST',
      headers: { ...closed.headers('otherTenant'), 'transfer-encoding': 'chunked' },
    });
    upload.on('error', () => {}).on('response', (answer) => answers.push(answer));
    upload.write('a,b\n');
    return upload;
  });
  // Those beyond its places are refused at once.
  await expect.poll(() => answers.length).toBe(4);
  const handles = () => closed.as(light(), 'GET', '/handles');
  for (let n = 0; n < 4; n++) {
    expect(await msOf(async () => expect((await handles()).status).toBe(200))).toBeLessThan(mostMs);
  }
  expect((await Promise.all([handles(), handles(), handles()])).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.length).toBeGreaterThan(4);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 503));
  for (const upload of uploads) upload.destroy();
  await expect.poll(async () => figure('framehold_shared_held', 'requests')).toBe(0);
});

test('a tenant whose followers take all places loses one to another tenant that comes', async () => {
  const url = `${closed.server.url}/handles/ticks/rows?live=sse`;
  const open = (caller: 'otherTenant' | 'reader') => EventSource.open(url, closed.headers(caller));
  const sources: EventSource[] = [];
  for (let n = 0; n < 3; n++) {
    sources.push(await open('otherTenant'));
    await soon(() => expect(sources.at(-1)?.rows).toHaveLength(1));
  }
  await expect.poll(async () => figure('framehold_shared_held', 'followers')).toBe(3);
  const refused = await closed.as(closed.token('otherTenant'), 'GET', '/handles/ticks/rows?live=sse&from=end');
  expect([refused.status, refused.json().code]).toEqual([503, 'overloaded']);
  using own = await open('reader');
  await soon(() => expect(own.rows).toHaveLength(1));
  await soon(() => expect(sources.filter(({ hasEnded }) => hasEnded)).toHaveLength(1));
  const ended = sources.find(({ hasEnded }) => hasEnded);
  expect(ended?.of('end')[0]?.data).toContain('others wait for places for followers');
  expect(await figure('framehold_shared_held', 'followers')).toBe(3);
  for (const source of sources) source[Symbol.dispose]();
});

test('a tenant whose Flight uploads do not end cannot take all calls', async () => {
  const { port } = closed.server.grpcAddress;
  using flight = new FlightClient(port, closed.headers('otherTenant'));
  const uploads = Array.from({ length: 40 }, () => flight.openPut());
  await expect.poll(async () => figure('framehold_shared_held', 'calls')).toBe(36);
  using other = new FlightClient(port, closed.headers('reader'));
  const calls = () => Promise.all(Array.from({ length: 10 }, () => other.info(byPath('ticks'))));
  expect(
    await msOf(async () => expect((await calls()).map(({ code }) => code)).toEqual(Array(10).fill(undefined))),
  ).toBeLessThan(mostMs);
  for (const upload of uploads) upload.cancel();
  await expect.poll(async () => figure('framehold_shared_held', 'calls')).toBe(0);
});
