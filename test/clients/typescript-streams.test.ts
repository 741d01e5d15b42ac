import { once } from 'node:events';
import { createServer, request as forward, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect as connectByFetch } from '#client/index.ts';
import { type Connection, connect } from '#client/node.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(() => server[Symbol.asyncDispose]());

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** What is to go wrong with the next requests, in turn: their answers are lost, or they never reach the server. */
  readonly faults: ('lost' | 'cut')[];
  readonly bodies: string[];
}

/** Between a client and the server. */
async function startProxy(): Promise<Proxy> {
  const faults: ('lost' | 'cut')[] = [];
  const bodies: string[] = [];
  const listener: RequestListener = async (incoming, outgoing) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const fault = faults.shift();
    if (fault === 'cut') {
      incoming.socket.destroy();
      return;
    }
    bodies.push(body.toString());
    const { method, url = '', headers } = incoming;
    const onward = forward(new URL(url, server.url), { method, headers: { ...headers, host: 'localhost' } });
    onward.end(body);
    const [answer] = await once(onward, 'response');
    if (fault === 'lost') {
      answer.resume();
      await once(answer, 'end');
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  };
  const proxy = createServer((incoming, outgoing) => void listener(incoming, outgoing)).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    faults,
    bodies,
    async [Symbol.asyncDispose]() {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}

const ways: readonly [string, (url: string) => Connection][] = [
  ['over fetch', (url) => connectByFetch(url)],
  ['in Node', (url) => connect(url)],
];

describe.each(ways)('an appender %s', (way, open) => {
  const named = (name: string): string => `${name}_${way.replaceAll(/\W/g, '_')}`;
  const numbers = async (db: Connection, name: string): Promise<number[]> =>
    (await db.get<{ n: bigint }>(name).rows()).map(({ n }) => Number(n));

  test('adds each row once and in order, whatever the connection does', async () => {
    await using proxy = await startProxy();
    const db = open(proxy.url);
    const appender = db.append<{ n: number }>(named('once'));
    expect(await appender.write({ n: 0 })).toEqual({ seq: 0, rows: 1, version: 1, repeated: false });
    proxy.faults.push('lost', 'cut', 'lost');
    expect(await appender.write([{ n: 1 }, { n: 2 }])).toEqual({ seq: 1, rows: 2, version: 2, repeated: true });
    proxy.faults.push('cut');
    expect(await appender.write({ n: 3 })).toEqual({ seq: 2, rows: 1, version: 3, repeated: false });
    await appender.close();
    expect(await numbers(db, named('once'))).toEqual([0, 1, 2, 3]);
    await expect(appender.write({ n: 4 })).rejects.toThrow('closed');
    db.close();
  });

  test('sends together what is written while it waits', async () => {
    await using proxy = await startProxy();
    const db = open(proxy.url);
    await using appender = db.append<{ n: number }>(named('together'));
    const acks = await Promise.all(Array.from({ length: 500 }, (_, n) => appender.write({ n })));
    expect(proxy.bodies.length).toBeLessThan(10);
    expect(acks.map(({ rows }) => rows)).toEqual(acks.map(() => 1));
    expect(await numbers(db, named('together'))).toEqual(acks.map((_, n) => n));
  });

  test('tells of the write that is refused alone, and goes on', async () => {
    const db = open(server.url);
    await using appender = db.append(named('refused'));
    await appender.write({ n: 0 });
    const writes = [{ n: 1 }, { n: 'no number' }, { n: 2 }].map((row) => appender.write(row));
    const settled = await Promise.allSettled(writes);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(writes[1]).rejects.toMatchObject({ code: expect.any(String), status: expect.any(Number) });
    expect(await numbers(db, named('refused'))).toEqual([0, 1, 2]);
    db.close();
  });

  test('takes no more when it is not known what became of its rows, and a later epoch goes on', async () => {
    await using proxy = await startProxy();
    const db = open(proxy.url);
    const producer = named('producer');
    const appender = db.append<{ n: number }>(named('lost'), { producer, epoch: 1, retryMs: 0 });
    await appender.write({ n: 0 });
    proxy.faults.push('lost');
    await expect(appender.write({ n: 1 })).rejects.toMatchObject({ code: 'broken_connection', isSent: true });
    await expect(appender.write({ n: 2 })).rejects.toMatchObject({ code: 'broken_connection' });
    await expect(appender.close()).rejects.toMatchObject({ code: 'broken_connection' });
    await using next = db.append<{ n: number }>(named('lost'), { producer, epoch: 2 });
    await next.write({ n: 3 });
    const older = db.append<{ n: number }>(named('lost'), { producer, epoch: 1 });
    await expect(older.write({ n: 4 })).rejects.toMatchObject({ code: 'producer_fenced' });
    expect(await numbers(db, named('lost'))).toEqual([0, 1, 3]);
    db.close();
  });

  test('stops by its signal', async () => {
    await using proxy = await startProxy();
    const db = open(proxy.url);
    const stop = new AbortController();
    const appender = db.append<{ n: number }>(named('stopped'), { signal: stop.signal });
    proxy.faults.push(...Array.from({ length: 100 }, () => 'cut' as const));
    const write = appender.write({ n: 0 });
    write.catch(() => {});
    await expect.poll(() => proxy.faults.length).toBeLessThan(100);
    stop.abort();
    await expect(write).rejects.toBeDefined();
    await expect(open(server.url).info(named('stopped'))).rejects.toMatchObject({ code: 'handle_not_found' });
    db.close();
  });
});

describe.each(ways)('a follower %s', (way, open) => {
  const named = (name: string): string => `${name}_${way.replaceAll(/\W/g, '_')}`;

  test('gives rows that are there and those that come, those columns of them for which the predicate holds', async () => {
    const db = open(server.url);
    await db.sql(`CREATE TABLE ${named('ticks')} AS SELECT range AS n, 'row ' || range AS text FROM range(3)`);
    const found: unknown[] = [];
    for await (const row of db.follow(named('ticks'), { columns: ['text', 'n'], where: 'n <> 1' })) {
      found.push(row);
      if (found.length === 2) await db.sql(`INSERT INTO ${named('ticks')} VALUES (1, 'no'), (9007199254740993, 'yes')`);
      if (found.length === 3) break;
    }
    expect(found).toEqual([
      { text: 'row 0', n: 0n },
      { text: 'row 2', n: 2n },
      { text: 'yes', n: 9007199254740993n },
    ]);
    db.close();
  });

  test('gets longer answers while it is far behind', async () => {
    const db = open(server.url);
    await db.sql(`CREATE TABLE ${named('behind')} AS SELECT range AS n FROM range(200_000)`);
    const counts: number[] = [];
    for await (const { rows, next } of db.follow(named('behind')).batches()) {
      counts.push(rows.length);
      if (next === 200_000) break;
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200_000);
    expect(counts.length).toBeLessThan(6);
    db.close();
  });

  test('goes on where it was after the server was away, and ends when the rows are replaced', async () => {
    await using directory = await temporaryDirectory();
    let other = await startFramehold({ dataDir: directory.path });
    const { port } = new URL(other.url);
    const db = open(other.url);
    await db.put('ticks', [{ n: 0 }]);
    const lost: number[] = [];
    const found: number[] = [];
    let place: { next: number; lineage: string } | undefined;
    const followed = (async () => {
      const follower = db.follow<{ n: bigint }>('ticks', { onRetry: (_, next) => lost.push(next) });
      for await (const { rows, next, lineage } of follower.batches()) {
        found.push(...rows.map(({ n }) => Number(n)));
        place = { next, lineage };
      }
    })();
    followed.catch(() => {});
    await expect.poll(() => found).toEqual([0]);
    await other[Symbol.asyncDispose]();
    await expect.poll(() => lost).toEqual([1]);
    other = await startFramehold({ dataDir: directory.path, settings: { 'http.bind_address': `127.0.0.1:${port}` } });
    const again = open(other.url);
    await again.put('ticks', [{ n: 1 }], { mode: 'append' });
    await expect.poll(() => found).toEqual([0, 1]);
    expect(place).toMatchObject({ next: 2 });
    await again.put('ticks', [{ n: 5 }], { mode: 'overwrite' });
    await expect(followed).rejects.toMatchObject({ code: 'handle_gone' });
    const late = again.follow('ticks', { start: place?.next, lineage: place?.lineage });
    await expect(late[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'handle_gone' });
    db.close();
    again.close();
    await other[Symbol.asyncDispose]();
  });

  test('stops by its signal', async () => {
    const db = open(server.url);
    await db.put(named('quiet'), [{ n: 0 }]);
    const stop = new AbortController();
    const follower = db.follow(named('quiet'), { start: 'end', signal: stop.signal })[Symbol.asyncIterator]();
    const next = follower.next();
    next.catch(() => {});
    setImmediate(() => stop.abort());
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    db.close();
  });
});
