import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import type { Answer } from '../support/http-client.ts';

const memoryBytes = 16_000_000;
/** An answer far larger than what the system takes of it for a client that reads nothing. */
const longRows = 12_000;

let closed: ClosedServer;
beforeAll(async () => {
  closed = await startClosedServer({
    settings: { 'server.body_memory': String(memoryBytes), 'write.max_body': '1MB' },
  });
});
afterAll(async () => closed[Symbol.asyncDispose]());

async function held(): Promise<number> {
  const { text } = await closed.as(closed.token('operator'), 'GET', '/metrics');
  return Number(/^framehold_shared_held\{capacity="memory"\} (\S+)$/m.exec(text)?.[1]);
}

function run(caller: 'writer' | 'otherTenant', sql: string): Promise<Answer> {
  return closed.as(closed.token(caller), 'POST', '/sql', JSON.stringify({ sql }));
}

function returning(rows: number): string {
  return `insert into returned select repeat('x', 1000) as x from range(${rows}) returning x`;
}

/** Runs it, and reads nothing of the rows. */
async function leaveUnread(sql: string): Promise<IncomingMessage> {
  const outgoing = request(`${closed.server.url}/sql`, {
    agent: false,
    method: 'POST',
    headers: closed.headers('otherTenant'),
  });
  outgoing.end(JSON.stringify({ sql }));
  return new Promise((resolve, reject) => void outgoing.once('response', resolve).once('error', reject));
}

test('rows of RETURNING that nobody reads leave memory to others, and a statement without memory changes nothing', async () => {
  for (const caller of ['writer', 'otherTenant'] as const) {
    expect((await run(caller, 'create table returned (x varchar)')).status).toBe(200);
  }
  const unread = await leaveUnread(returning(longRows));
  expect(unread.statusCode).toBe(200);
  expect(await held()).toBeGreaterThan(longRows * 1000);

  const refused = await run('otherTenant', returning(longRows));
  expect([refused.status, refused.json().code]).toEqual([503, 'overloaded']);
  expect((await run('otherTenant', returning(10))).status).toBe(200);
  const count = await run('otherTenant', 'select count(*) from returned');
  expect(count.json().dataset).toEqual([[longRows + 10]]);

  // Another tenant gets its share: the answer that is not taken is cut off.
  const wasCut = new Promise((resolve) => void unread.once('error', resolve));
  const other = await run('writer', returning(longRows / 2));
  expect([other.status, other.json().updated]).toEqual([200, longRows / 2]);
  unread.resume();
  await wasCut;
  await expect.poll(held, { interval: 10 }).toBe(0);
});
