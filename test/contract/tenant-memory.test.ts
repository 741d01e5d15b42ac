import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { messagePrefix } from '@framehold/grpc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { FlightClient } from '../support/flight-client.ts';

const memoryBytes = 4_200_000;
const mostOfOneTenant = 0.9 * memoryBytes;
/** Five of them fit into the memory of one tenant. */
const bodyBytes = 740_000;
const isFull = (held: number): boolean => held > 3_300_000;

let closed: ClosedServer;
let heavy: Record<string, string>;
let light: string | undefined;
/** How long the slowest request takes without anybody else. */
let quietMs = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  const settings = { 'server.body_memory': String(memoryBytes), 'write.max_body': String(bodyBytes + 10_000) };
  closed = await startClosedServer({ settings });
  heavy = closed.headers('otherTenant');
  light = closed.token('writer');
  quietMs = await assertOthersGoOn();
});
afterAll(async () => closed[Symbol.asyncDispose]());

async function figure(name: string): Promise<number> {
  const { text } = await closed.as(closed.token('operator'), 'GET', '/metrics');
  return Number(new RegExp(`^${name}(?:_total)?\\{capacity="memory"\\} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Sends the beginning of bodies, and waits until the server holds it, or `isHeld`. */
async function startBodies(
  path: string,
  count: number,
  sent: Buffer,
  isHeld: (held: number) => boolean,
  headers: Record<string, string> = {},
): Promise<Disposable & { readonly all: readonly ClientRequest[] }> {
  const all = Array.from({ length: count }, () => {
    const outgoing = request(`${closed.server.url}${path}`, {
      agent: false,
      method: 'POST',
      headers: { ...heavy, ...headers, 'transfer-encoding': 'chunked' },
    });
    outgoing.on('error', () => {});
    outgoing.write(sent);
    return outgoing;
  });
  await expect.poll(async () => isHeld(await figure('framehold_shared_held')), { interval: 10 }).toBe(true);
  return { all, [Symbol.dispose]: () => all.forEach((outgoing) => void outgoing.destroy()) };
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const beganAt = performance.now();
  await work();
  return performance.now() - beganAt;
}

/** Another tenant is served at once, whatever it sends. */
async function assertOthersGoOn(): Promise<number> {
  const lines = (bytes: number) => `${'# nothing\n'.repeat(Math.ceil(bytes / 10))}light x=1`;
  const write = async (bytes: number): Promise<void> => {
    const answer = await closed.as(light, 'POST', '/write', lines(bytes));
    expect([answer.status, answer.text]).toEqual([204, '']);
  };
  const sql = async (bytes: number): Promise<void> => {
    const answer = await closed.as(
      light,
      'POST',
      '/sql',
      JSON.stringify({ sql: 'select 1', params: [] }).padEnd(bytes),
    );
    expect(answer.status).toBe(200);
  };
  await sql(100);
  let slowestMs = 0;
  for (const bytes of [10, 100_000, bodyBytes - 1000]) {
    slowestMs = Math.max(slowestMs, await msOf(() => write(bytes)), await msOf(() => sql(bytes)));
  }
  expect(slowestMs).toBeLessThan(Math.max(1000, 5 * quietMs));
  return slowestMs;
}

async function assertAllIsFree(): Promise<void> {
  await expect.poll(() => figure('framehold_shared_held'), { interval: 10 }).toBe(0);
}

test('a tenant that is alone has nearly all memory, and its silent bodies of lines hold up nobody else', async () => {
  // A few bytes become 740 KB, and their end does not come.
  const packed = gzipSync(`${'#'.repeat(bodyBytes)}\n`);
  {
    using _ = await startBodies('/write', 8, packed.subarray(0, -10), isFull, { 'content-encoding': 'gzip' });
    expect(await figure('framehold_shared_held')).toBeLessThanOrEqual(mostOfOneTenant);
    await assertOthersGoOn();
  }
  await assertAllIsFree();
});

test('silent bodies of JSON hold no more than that, at every door that takes JSON', async () => {
  const sent = Buffer.alloc(bodyBytes, ' ');
  for (const path of ['/sql', '/plot', '/tickets', '/tokens']) {
    using _ = await startBodies(path, 6, sent, isFull);
    expect(await figure('framehold_shared_held')).toBeLessThanOrEqual(mostOfOneTenant);
    if (path === '/sql') await assertOthersGoOn();
  }
  await assertAllIsFree();
});

test('uploads that are unpacked or written to disk take memory for that, and no more than others', async () => {
  const rows = `a,b\n${'1,2\n'.repeat(200_000)}`;
  const packed = brotliCompressSync(rows, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  {
    using _ = await startBodies('/imp', 4, Buffer.from(rows), (held) => held === 2 * 1024 * 1024);
    await assertOthersGoOn();
  }
  {
    const isCounted = (held: number): boolean => held > 2 * 1024 * 1024 + 100_000;
    using _ = await startBodies('/imp', 1, packed.subarray(0, -100), isCounted, { 'content-encoding': 'br' });
  }
  await assertAllIsFree();
});

test('within a tenant, bodies that send nothing for two seconds make room for one that does', async () => {
  using _ = await startBodies('/sql', 6, Buffer.alloc(bodyBytes, ' '), isFull);
  const lines = `${'#'.repeat(700_000)}\nown x=1`;
  const answer = await closed.as(closed.token('otherTenant'), 'POST', '/write', lines);
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(await figure('framehold_shared_revocations')).toBeGreaterThan(0);
});

test('a body that is ended for others is told so, and its connection gives back all', async () => {
  using bodies = await startBodies('/write', 8, Buffer.alloc(bodyBytes, '#'), isFull);
  const answers: IncomingMessage[] = [];
  for (const outgoing of bodies.all) outgoing.on('response', (answer) => answers.push(answer));
  await assertOthersGoOn();
  await expect.poll(() => answers.length).toBeGreaterThan(0);
  expect([answers[0]?.statusCode, answers[0]?.headers['retry-after']]).toEqual([503, '1']);
});

test('first messages of uploads that stop hold no more memory than what is needed of them', async () => {
  const { port } = closed.server.grpcAddress;
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  try {
    // A field that the protocol does not know.
    const ballast = Buffer.concat([Buffer.from([0x7a, 0xa0, 0x95, 0x2d]), Buffer.alloc(bodyBytes)]);
    const upload = (bytes: Buffer): void => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/arrow.flight.protocol.FlightService/DoPut',
        'content-type': 'application/grpc',
        te: 'trailers',
        ...heavy,
      });
      stream.on('error', () => {});
      stream.write(bytes);
    };
    for (let n = 0; n < 10; n++) upload(Buffer.concat([messagePrefix(ballast.length), ballast]));
    await assertAllIsFree();
    // And some that do not come to their end.
    for (let n = 0; n < 10; n++) upload(Buffer.concat([messagePrefix(ballast.length), ballast]).subarray(0, -1));
    await expect.poll(() => figure('framehold_shared_held'), { interval: 10 }).toBeGreaterThan(3_300_000);
    await assertOthersGoOn();
    using flight = new FlightClient(port, closed.headers('writer'));
    const query = { type: 'CMD', cmd: Buffer.from(JSON.stringify({ sql: `select 1 --${'x'.repeat(300_000)}` })) };
    expect((await flight.info(query)).code).toBeUndefined();
  } finally {
    session.destroy();
  }
  await assertAllIsFree();
});
