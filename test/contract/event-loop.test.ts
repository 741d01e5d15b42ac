import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byCommand, FlightClient } from '../support/flight-client.ts';
import { any } from '../support/flight-sql-client.ts';
import { longTurnsIn } from '../support/long-turns.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let directory: TemporaryDirectory;
let server: SpawnedFramehold;
let flight: FlightClient;

beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await spawnFramehold({ dataDir: directory.path });
  flight = new FlightClient(server.grpcPort);
});

afterAll(async () => {
  flight[Symbol.dispose]();
  // No attack took a long turn: the server's end asserts it.
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/** Others are served while it lasts, and it takes no long turn. */
async function attack<T>(send: () => Promise<T>): Promise<T> {
  let isOver = false;
  const pings = (async (): Promise<number> => {
    let count = 0;
    for (; !isOver; count++) expect((await fetch(`${server.url}/ping`)).status).toBe(200);
    return count;
  })();
  const answer = await send();
  isOver = true;
  expect(await pings).toBeGreaterThan(0);
  expect(longTurnsIn(server.stderr())).toEqual([]);
  return answer;
}

async function post(path: string, body: string, type = 'application/json'): Promise<[status: number, code: string]> {
  const response = await fetch(server.url + path, { method: 'POST', headers: { 'content-type': type }, body });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text).code];
}

describe('JSON of many values is refused before they are made', () => {
  test.each(['/sql', '/plot', '/tickets'])('by %s', async (path) => {
    for (const value of ['{}', '[]', '0']) {
      const body = `{"sql":"select 1","params":[${`${value},`.repeat(1_500_000)}0]}`;
      expect(await attack(() => post(path, body))).toEqual([413, 'too_large']);
    }
  });

  test('in a ticket, a command and the options of a put', async () => {
    const json = `{"handle":"t","columns":[${'{},'.repeat(1_300_000)}0]}`;
    expect(await attack(() => flight.get(json))).toMatchObject({ code: 'too_large' });
    expect(await attack(() => flight.info({ type: 'CMD', cmd: Buffer.from(json) }))).toMatchObject({
      code: 'too_large',
    });
  });

  test('and of few values it is taken, also where many come at once', async () => {
    const body = JSON.stringify({ sql: 'select len($1)', params: [Array.from({ length: 60_000 }, (_, n) => n)] });
    const answers = await attack(() => Promise.all(Array.from({ length: 10 }, () => post('/sql', body))));
    expect(answers.map(([status]) => status)).toEqual(Array(10).fill(200));
  });
});

test('a path of two million parts is refused before they are made', async () => {
  const answer = await attack(() => flight.info({ type: 'PATH', path: Array(2_000_000).fill('') }));
  expect(answer).toMatchObject({ code: 'too_large' });
});

test('a pattern of millions of characters is refused', async () => {
  const descriptor = byCommand(any('CommandGetTables', [3, '%'.repeat(2_000_000)], [5, false]));
  const { messages } = await flight.info(descriptor);
  const ticket = messages[0]?.endpoint[0]?.ticket.ticket ?? Buffer.alloc(0);
  expect(await attack(() => flight.get(ticket))).toMatchObject({ code: 'too_large' });
});

test('more parameters than are bound in one go are refused', async () => {
  const body = JSON.stringify({ sql: `select ${'?,'.repeat(4999)}?`, params: Array(5000).fill(1) });
  expect(await attack(() => post('/sql', body))).toEqual([413, 'too_large']);
});

test('more columns than a frame may have are not selected', async () => {
  await post('/sql', '{"sql":"create table narrow as select 1 a"}');
  const ticket = JSON.stringify({ handle: 'narrow', columns: Array(30_000).fill('a') });
  expect(await attack(() => flight.get(ticket))).toMatchObject({ code: 'too_large' });
});

test('a name of a column that goes on for megabytes is refused', async () => {
  expect(await attack(() => post('/imp?name=long', 'a'.repeat(5_000_000), 'text/csv'))).toEqual([413, 'too_large']);
});

describe('lines', () => {
  const line = 'm,h=a x=1\n';

  test('of which the last one is wrong cost the others nothing, and none is kept', async () => {
    const answer = await attack(() => post('/write', `${line.repeat(3_000_000)}m x=`, 'text/plain'));
    expect(answer).toEqual([400, 'invalid']);
    expect((await fetch(`${server.url}/handles/m`)).status).toBe(404);
  });

  test('in many bodies at once cost the others nothing', async () => {
    const bodies = Array.from({ length: 6 }, (_, n) => `m${n},h=a x=1\n`.repeat(200_000));
    const answers = await attack(() => Promise.all(bodies.map((body) => post('/write', body, 'text/plain'))));
    expect(answers.map(([status]) => status)).toEqual(Array(6).fill(204));
    const page = await fetch(`${server.url}/exec?handle=m0&fmt=json&limit=199999,200000`);
    expect(await page.json()).toMatchObject({ count: 2 });
  });

  test('with a million fields are refused', async () => {
    const fields = Array.from({ length: 1_000_000 }, (_, n) => `f${n}=1`).join();
    expect(await attack(() => post('/write', `m ${fields}\n`, 'text/plain'))).toEqual([413, 'too_large']);
    expect(await attack(() => post('/write', `m ${'a=1,'.repeat(1_000_000)}a=1\n`, 'text/plain'))).toEqual([
      400,
      'invalid',
    ]);
  });
});
