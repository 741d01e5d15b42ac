import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { data, grpcHeaders, headerBlock, headers } from '../faults/grpc/http2-frames.ts';
import { RawConnection } from '../faults/grpc/raw-connection.ts';
import { GrpcClient } from '../support/grpc-client.ts';
import { startTestListener } from '../support/grpc-listener.ts';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** One HTTP/2 frame. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const none = Buffer.alloc(0);
const settings = frame(4, 0, 0, none);
const hello = Buffer.concat([preface, settings]);

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  return socket;
}

async function closesWithin(socket: Socket, ms: number): Promise<boolean> {
  if (socket.closed) return true;
  return Promise.race([new Promise<true>((resolve) => socket.once('close', () => resolve(true))), sleep(ms, false)]);
}

describe('the number of connections', () => {
  it('is capped: one more is refused at once, and those open go on', async () => {
    await using listener = await startTestListener({ maxConnections: 2 });
    using first = new GrpcClient(listener.port);
    const second = new GrpcClient(listener.port);
    const third = new GrpcClient(listener.port);
    const echo = (client: GrpcClient) => client.unary('/test.Test/Echo', Buffer.from('x'), { deadlineMs: 10_000 });
    expect(await echo(first)).toMatchObject({ code: status.OK });
    expect(await echo(second)).toMatchObject({ code: status.OK });

    const started = performance.now();
    expect(await echo(third)).toMatchObject({ code: status.UNAVAILABLE });
    expect(performance.now() - started).toBeLessThan(2000);
    expect(await echo(first)).toMatchObject({ code: status.OK });

    second[Symbol.dispose]();
    third[Symbol.dispose]();
    const anotherCode = async (): Promise<number> => {
      using another = new GrpcClient(listener.port);
      return (await echo(another)).code;
    };
    await expect.poll(anotherCode, { timeout: 10_000 }).toBe(status.OK);
  });
});

describe('a connection is closed', () => {
  it('when its client says nothing', async () => {
    await using listener = await startTestListener({ timeouts: { handshakeTimeoutMs: 100 } });
    const silent = open(listener.port);
    const half = open(listener.port);
    half.write(preface.subarray(0, 10));
    expect(await closesWithin(silent, 5000)).toBe(true);
    expect(await closesWithin(half, 5000)).toBe(true);
  });

  it('when its client sends a message in crumbs, and not for any number of short calls', async () => {
    await using listener = await startTestListener();
    using crumbs = RawConnection.open(listener.port);
    crumbs.write(headers(1, headerBlock(grpcHeaders('/test.Test/Echo'))), data(1, Uint8Array.of(0, 0, 1, 0, 0)));
    crumbs.write(Buffer.concat(Array.from({ length: 3000 }, () => data(1, Uint8Array.of(0)))));
    expect(await crumbs.closesWithin(10_000)).toBe(true);

    using client = new GrpcClient(listener.port);
    const echo = () => client.unary('/test.Test/Echo', Buffer.from('x'), { deadlineMs: 10_000 });
    for (let calls = 0; calls < 3000; calls += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, echo));
      expect(answers.every(({ code }) => code === status.OK)).toBe(true);
    }
  });

  it('when its client answers no ping, and not when it does', async () => {
    await using listener = await startTestListener({ timeouts: { keepaliveMs: 50 } });
    const dead = open(listener.port);
    dead.write(hello);
    const alive = connectHttp2(`http://127.0.0.1:${listener.port}`);
    expect(await closesWithin(dead, 5000)).toBe(true);
    await sleep(300);
    expect(alive.closed).toBe(false);
    alive.destroy();
  });

  it('when it is without calls, but not during one', async () => {
    await using listener = await startTestListener({ timeouts: { idleTimeoutMs: 100 } });
    using client = new GrpcClient(listener.port);
    const idle = connectHttp2(`http://127.0.0.1:${listener.port}`);
    const answer = client.unary('/test.Test/Slow', Buffer.from('x'));
    await once(idle, 'close');
    expect(await answer).toMatchObject({ code: status.OK });
  });
});

/** Whether a new connection gets an answer. (Clients of grpc-js that were refused go on connecting, closed or not, and take the place.) */
async function isServed(port: number): Promise<boolean> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  const stream = session.request({ ':method': 'POST', ':path': '/test.Test/Echo', 'content-type': 'application/grpc' });
  stream.on('error', () => {});
  stream.end();
  const answered = await new Promise<boolean>((resolve) => {
    stream.once('response', () => resolve(true)).once('close', () => resolve(false));
  });
  session.destroy();
  return answered;
}

describe('a client that never closes its side', () => {
  const openForGood = async (port: number): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    socket.resume();
    socket.write(hello);
    await once(socket, 'data');
    return socket;
  };

  it('holds up no stop', async () => {
    const listener = await startTestListener({});
    const socket = await openForGood(listener.port);
    await listener[Symbol.asyncDispose]();
    socket.destroy();
  });

  it('loses its place when it has been idle', async () => {
    // Long enough for the next client to make its call on a busy machine.
    await using listener = await startTestListener({ maxConnections: 1, timeouts: { idleTimeoutMs: 500 } });
    const socket = await openForGood(listener.port);
    await expect.poll(() => isServed(listener.port), { timeout: 10_000 }).toBe(true);
    socket.destroy();
  });
});

describe('a client that breaks off', () => {
  it.each([
    ['after data on no stream', frame(0, 0, 0, Buffer.from('x'))],
    ['after headers that cannot be read', frame(1, 4, 1, Buffer.alloc(6, 255))],
    ['inside a frame', frame(0, 0, 1, Buffer.alloc(100)).subarray(0, 50)],
  ])('%s leaves no socket behind', async (_, bytes) => {
    await using listener = await startTestListener({ timeouts: { probeMs: 50 } });
    const socket = open(listener.port);
    socket.end(Buffer.concat([hello, bytes]));
    expect(await closesWithin(socket, 5000)).toBe(true);
  });

  it('is not one that is merely quiet', async () => {
    await using listener = await startTestListener({ timeouts: { probeMs: 20 } });
    const quiet = connectHttp2(`http://127.0.0.1:${listener.port}`);
    await once(quiet, 'remoteSettings');
    await sleep(300);
    expect(quiet.closed).toBe(false);
    quiet.destroy();
  });
});

describe('a reader that grants no window', () => {
  it('is cut off, although it answers pings, and until then at most 1 MiB waits for it', async () => {
    await using listener = await startTestListener({ timeouts: { stallTimeoutMs: 400, keepaliveMs: 50 } });
    const session = connectHttp2(`http://127.0.0.1:${listener.port}`, { settings: { initialWindowSize: 0 } });
    const started = performance.now();
    const streams = [0, 1].map(() =>
      session.request({ ':method': 'POST', ':path': '/test.Test/Flood', 'content-type': 'application/grpc' }),
    );
    const cut = streams.map(async (stream) => {
      stream.on('error', () => {});
      stream.end();
      await once(stream, 'close');
      return performance.now() - started;
    });
    for (const afterMs of await Promise.all(cut)) {
      expect(afterMs).toBeGreaterThan(350);
      expect(afterMs).toBeLessThan(3000);
    }
    expect(listener.floodedBytes()).toBeLessThanOrEqual(streams.length * 2 ** 20);
    session.destroy();
  });
});

describe('a reader that takes nothing of one call while it reads others', () => {
  it('loses that one in the end, and the others go on', async () => {
    await using listener = await startTestListener({ timeouts: { stallTimeoutMs: 300 } });
    const session = connectHttp2(`http://127.0.0.1:${listener.port}`);
    const headers = { ':method': 'POST', 'content-type': 'application/grpc' };
    const unread = session.request({ ...headers, ':path': '/test.Test/Flood' });
    unread.on('error', () => {});
    unread.end();
    let isCut = false;
    const cut = once(unread, 'close').then(() => {
      isCut = true;
    });
    const body = Buffer.alloc(5 + 5000);
    body.writeUInt32BE(5000, 1);
    const ask = async (): Promise<void> => {
      const other = session.request({ ...headers, ':path': '/test.Test/Echo' });
      other.end(body);
      let bytes = 0;
      for await (const chunk of other) bytes += (chunk as Buffer).length;
      expect(bytes).toBe(body.length);
    };
    const started = performance.now();
    while (!isCut && performance.now() - started < 20_000) {
      await ask();
      await sleep(10);
    }
    await cut;
    // Long after it would be cut if nothing were read at all.
    expect(performance.now() - started).toBeGreaterThan(2000);
    await ask();
    session.destroy();
  });
});

describe('stopping', () => {
  it('lets a call under way finish, and takes no new connection', async () => {
    const listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const answer = client.unary('/test.Test/Slow', Buffer.alloc(1_000_000));
    await sleep(100);
    const closed = listener.close({ graceMs: 10_000 });
    using late = new GrpcClient(listener.port);
    expect(await late.unary('/test.Test/Echo', Buffer.from('x'))).toMatchObject({ code: status.UNAVAILABLE });
    expect(await answer).toMatchObject({ code: status.OK });
    expect((await answer).messages[0]).toHaveLength(1_000_000);
    await closed;
  });

  it('ends what outlasts the grace as UNAVAILABLE, on time', async () => {
    const listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const flood = client.open('/test.Test/Flood', Buffer.from('x'));
    const answer = client.unary('/test.Test/Hang', Buffer.from('x'));
    await once(flood, 'data');
    flood.pause();
    const started = performance.now();
    await listener.close({ graceMs: 200 });
    expect(performance.now() - started).toBeLessThan(1500);
    expect(await answer).toMatchObject({ code: status.UNAVAILABLE, message: 'the server is stopping' });
    expect(listener.aborted.sort()).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  });
});

describe('abuse', () => {
  // Headers of a POST to "/" with literal fields, as HPACK.
  const post = frame(1, 4, 1, Buffer.from([0x83, 0x84, 0x86, 0x41, 1, 0x61]));
  const withStream = (id: number): Buffer => frame(1, 4, id, post.subarray(9));
  const resets = Array.from({ length: 20_000 }, (_, i) =>
    Buffer.concat([withStream(2 * i + 1), frame(3, 0, 2 * i + 1, Buffer.from([0, 0, 0, 8]))]),
  );
  const continuation = (id: number): Buffer => frame(9, 0, id, Buffer.alloc(16_000, 0x40));

  it.each([
    ['an HTTP/1.1 request', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex')],
    ['a frame longer than agreed', Buffer.concat([hello, frame(0, 0, 1, Buffer.alloc(100_000))])],
    ['20,000 streams that are reset at once', Buffer.concat([hello, ...resets])],
    ['settings without end', Buffer.concat([hello, ...Array.from({ length: 50_000 }, () => settings)])],
    [
      'pings without end',
      Buffer.concat([hello, ...Array.from({ length: 50_000 }, () => frame(6, 0, 0, Buffer.alloc(8)))]),
    ],
    [
      'headers without end',
      Buffer.concat([hello, frame(1, 0, 1, post.subarray(9)), ...Array.from({ length: 500 }, () => continuation(1))]),
    ],
    ['data on a stream that is not open', Buffer.concat([hello, frame(0, 0, 7, none)])],
  ])('by %s ends that connection and no other', async (_, bytes) => {
    await using listener = await startTestListener({ timeouts: { keepaliveMs: 50 } });
    using client = new GrpcClient(listener.port);
    const socket = open(listener.port);
    socket.write(bytes);
    expect(await closesWithin(socket, 5000)).toBe(true);
    expect(await client.unary('/test.Test/Echo', Buffer.from('x'))).toMatchObject({ code: status.OK });
  });

  it('by random and mutated bytes harms nobody else', async () => {
    await using listener = await startTestListener({ timeouts: { handshakeTimeoutMs: 100, keepaliveMs: 20 } });
    using client = new GrpcClient(listener.port);
    const valid = Buffer.concat([hello, post, frame(0, 1, 1, Buffer.from([0, 0, 0, 0, 1, 65]))]);
    for (let round = 0; round < 20; round += 1) {
      const sockets = Array.from({ length: 20 }, (_, i) => {
        const socket = open(listener.port);
        const mutated = Buffer.from(valid);
        for (let n = 0; n < 3; n += 1) {
          const at = preface.length + Math.floor(Math.random() * (valid.length - preface.length));
          mutated[at] = Math.floor(Math.random() * 256);
        }
        socket.end(i % 4 === 0 ? randomBytes(200) : mutated);
        return socket;
      });
      await Promise.all(sockets.map((socket) => closesWithin(socket, 500)));
      for (const socket of sockets) socket.destroy();
    }
    expect(await client.unary('/test.Test/Echo', Buffer.from('x'))).toMatchObject({ code: status.OK });
  });
});
