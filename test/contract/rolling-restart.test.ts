import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { BalancedClient } from '../support/balanced-client.ts';
import { FlightClient } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { GrpcClient } from '../support/grpc-client.ts';
import { ask } from '../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const baseRows = 40_000;
/** Another server may show what was before for a second after an acknowledgement; the rest is for a busy machine. */
const boundMs = 2000;

test('while two servers of one directory are restarted in turn, no request fails and no row is lost or doubled', async () => {
  await using fleet = await startFleet();
  const { client } = fleet;
  const load = new Load();
  const ok = async (...[method, path, more]: Parameters<BalancedClient['send']>): Promise<string> => {
    const answer = await client.send(method, path, more);
    if (answer.status !== 200) throw new Error(`${method} ${path} was answered ${answer.status} ${answer.text}`);
    return answer.text;
  };
  const count = async (frame: string): Promise<number> => {
    const sql = `select count(*) as n from ${frame}`;
    return Number(JSON.parse(await ok('POST', '/sql', { body: JSON.stringify({ sql }) })).dataset[0][0]);
  };
  const lines = Array.from({ length: baseRows }, (_, n) => `${n},${'x'.repeat(20)}${n}\n`).join('');
  await ok('POST', '/imp?name=base', { body: `id,text\n${lines}` });
  await ok('POST', '/imp?name=appended', { body: 'who,n\nnobody,0\n' });
  await ok('POST', '/imp?name=replaced', { body: 'n\n-1\n' });

  /** Rows, and when each was. */
  const acknowledged: string[] = [];
  const acknowledgedMs: number[] = [];
  const append = (producer: string) => async (turn: number) => {
    const headers = { 'producer-id': producer, 'producer-epoch': '0', 'producer-seq': String(turn) };
    await ok('POST', '/imp?name=appended&append=true', { headers, body: `who,n\n${producer},${turn}\n` });
    acknowledged.push(`${producer},${turn}`);
    acknowledgedMs.push(performance.now());
  };
  let replaced = -1;
  const page = async (turn: number): Promise<void> => {
    const from = turn % 100;
    const answer = JSON.parse(await ok('GET', `/exec?handle=base&fmt=json&limit=${from + 1},${from + 50}`));
    same(answer.dataset[0][0], from);
    same(answer.dataset.length, 50);
  };
  const work = [
    // Many, so that one is on its way whenever a connection ends.
    ...Array.from({ length: 6 }, () => load.keep('page', page)),
    load.keep('statement', async () => same(await count('base'), baseRows)),
    load.keep('export', async () => same((await ok('GET', '/exp?handle=base')).split('\r\n').length, baseRows + 2)),
    load.keep('append a', append('a')),
    load.keep('append b', append('b')),
    load.keep('overwrite', async (turn) => {
      await ok('POST', '/imp?name=replaced&overwrite=true', { body: `n\n${turn}\n` });
      replaced = turn;
    }),
    load.keep('read of what is appended', async () => {
      const dueMs = performance.now() - boundMs;
      const due = acknowledgedMs.filter((atMs) => atMs < dueMs).length;
      const shown = (await count('appended')) - 1;
      if (shown < due) throw new Error(`${shown} rows are shown ${boundMs} ms after ${due} were acknowledged`);
    }),
    load.keep('flight', async () => {
      for (;;) {
        const ended = await fleet
          .flightOf(await client.pick())
          .get(JSON.stringify({ handle: 'base', columns: ['id'] }));
        // What gRPC's own retries repeat.
        if (ended.status.code !== status.UNAVAILABLE) return same(ended.status.code, status.OK);
        await delay(20);
      }
    }),
  ];
  for (const at of [0, 1, 0, 1]) {
    if (load.failures.length > 0) break;
    // Each has served something of each kind since.
    await load.afterMore(1);
    await fleet.restart(at);
  }
  await load.end(work);
  expect(load.failures).toEqual([]);
  for (const { url } of fleet.servers) {
    const rows = async (handle: string) =>
      (await ask(`${url}/exec?handle=${handle}&fmt=json&limit=1,`)).json().dataset as unknown[][];
    await expect.poll(() => rows('replaced')).toEqual([[replaced]]);
    await expect.poll(async () => (await rows('appended')).length).toBe(acknowledged.length + 1);
    expect(new Set((await rows('appended')).map((row) => row.join()))).toEqual(new Set(['nobody,0', ...acknowledged]));
  }
}, 120_000);

describe.concurrent('during server.shutdown_delay', () => {
  test('a server says that it is not ready, serves all the same, and ends each connection with its answer', async () => {
    // It serves for three seconds more, too few for the start of a process on a busy machine.
    const server = await startFramehold({ settings: { 'server.shutdown_delay': '3s' }, startsWorkers: true });
    using health = new GrpcClient(server.grpcAddress.port);
    const seen: number[] = [];
    const watch = health.open('/grpc.health.v1.Health/Watch', Buffer.alloc(0));
    watch.on('error', () => {}).on('data', (message: Buffer) => seen.push(message[1] ?? 0));
    await expect.poll(() => seen).toEqual([1]);
    const agent = new Agent({ keepAlive: true });
    expect(await connectionOf(server, agent)).toBe('keep-alive');

    const stopped = server[Symbol.asyncDispose]();
    await expect.poll(async () => (await ask(`${server.url}/readyz`)).status, { interval: 5 }).toBe(503);
    await expect.poll(() => seen, { interval: 5 }).toEqual([1, 2]);
    expect((await ask(`${server.url}/livez`)).status).toBe(200);
    expect(await connectionOf(server, agent)).toBe('close');
    expect((await ask(`${server.url}/imp?name=late`, { method: 'POST', body: 'a\n1\n' })).status).toBe(200);
    using flight = new FlightClient(server.grpcAddress.port);
    expect((await flight.get('late')).status.code).toBe(status.OK);
    await stopped;
    await expect(ask(`${server.url}/ping`)).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });

  test('an answer that is given before a body has come does not cut off its sender', async () => {
    const server = await startFramehold({ settings: { 'server.shutdown_delay': '3s' } });
    const stopped = server[Symbol.asyncDispose]();
    await expect.poll(async () => (await ask(`${server.url}/readyz`)).status, { interval: 5 }).toBe(503);
    const answer = await sendSlowly(server, 'POST /nowhere HTTP/1.1');
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    await stopped;
  });
});

test('a request that comes on an open connection once the listeners are closed reads 503 with Retry-After, also with a body', async () => {
  const server = await startFramehold({ settings: { 'server.shutdown_grace': '30s' } });
  const { hostname, port } = new URL(server.url);
  // The stop waits for this one.
  const held = connect(Number(port), hostname);
  held.write('POST /imp?name=held HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\na\n');
  const late = connect(Number(port), hostname);
  await once(late, 'connect');
  await expect.poll(async () => (await ask(`${server.url}/ping`)).status).toBe(200);
  const stopped = server[Symbol.asyncDispose]();
  await expect.poll(() => ask(`${server.url}/ping`).catch((error) => error.code), { interval: 5 }).toBe('ECONNREFUSED');
  const bytes = 3_000_000;
  late.write(`POST /imp?name=late HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${bytes}\r\n\r\n`);
  late.write('x'.repeat(bytes));
  const answer = await textOf(late);
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toMatch(/^retry-after: 1\r$/im);
  expect(answer).toMatch(/^connection: close\r$/im);
  held.write('1\n');
  expect(await textOf(held)).toMatch(/^HTTP\/1\.1 200 [\s\S]*^connection: close\r$/im);
  await stopped;
});

/** Two servers of one directory behind a balancer. */
async function startFleet() {
  const directory = await temporaryDirectory();
  const client = new BalancedClient();
  const servers: SpawnedFramehold[] = [];
  const flights = new Map<SpawnedFramehold, FlightClient>();
  const start = async (at: number): Promise<void> => {
    const coldDirectory = ['--parquet-path', join(directory.path, 'cold')];
    const flags = [...coldDirectory, '--shutdown-delay', '1500ms', '--shutdown-grace', '5s'];
    const server = await spawnFramehold({ dataDir: join(directory.path, `data${at}`), flags });
    servers[at] = server;
    client.add(server);
    await client.untilReady(server);
  };
  await Promise.all([start(0), start(1)]);
  return {
    client,
    servers,
    flightOf: (server: SpawnedFramehold): FlightClient => {
      const flight = flights.get(server) ?? new FlightClient(server.grpcPort);
      flights.set(server, flight);
      return flight;
    },
    restart: async (at: number): Promise<void> => {
      const server = servers[at] as SpawnedFramehold;
      server.kill('SIGTERM');
      expect((await server.exited).code, server.stderr()).toBe(0);
      await start(at);
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      for (const flight of flights.values()) flight[Symbol.dispose]();
      for (const server of servers) await server[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Kinds of requests, each sent again and again until one fails. */
class Load {
  readonly failures: string[] = [];
  readonly #done = new Map<string, number>();
  #goesOn = true;

  async keep(what: string, task: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; this.#goesOn; turn++) {
      try {
        await task(turn);
      } catch (error) {
        this.failures.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
        this.#goesOn = false;
      }
      this.#done.set(what, turn + 1);
      await new Promise(setImmediate);
    }
  }

  /** Resolves when each kind was sent so much more often. */
  async afterMore(times: number): Promise<void> {
    await expect.poll(() => this.#done.size).toBeGreaterThan(0);
    const before = new Map(this.#done);
    const isReached = (): boolean =>
      !this.#goesOn || [...this.#done].every(([what, turns]) => turns >= (before.get(what) ?? 0) + times);
    await expect.poll(isReached, { interval: 10, timeout: 30_000 }).toBe(true);
  }

  async end(work: readonly Promise<void>[]): Promise<void> {
    this.#goesOn = false;
    await Promise.all(work);
  }
}

function same(found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${String(found).slice(0, 200)} instead of ${String(expected)}`);
}

/** What the server says of the connection on which it is asked. */
async function connectionOf({ url }: Framehold, agent: Agent): Promise<string | undefined> {
  const [incoming] = (await once(request(`${url}/ping`, { agent }).end(), 'response')) as [IncomingMessage];
  incoming.resume();
  await once(incoming, 'end');
  return incoming.headers.connection;
}

/** Half of the body is sent when the answer has begun. */
async function sendSlowly({ url }: Framehold, requestLine: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`${requestLine}\r\nhost: localhost\r\ncontent-length: 2000000\r\n\r\n${'x'.repeat(1_000_000)}`);
  await once(socket, 'readable');
  socket.write('x'.repeat(1_000_000));
  return textOf(socket);
}

/** Everything until the server closes; rejects where it resets the connection. */
async function textOf(socket: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const piece of socket) text += piece.toString();
  return text;
}
