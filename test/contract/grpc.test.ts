import { once } from 'node:events';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { messagePrefix } from '@framehold/grpc';
import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it, vi } from 'vitest';
import { data, flag, frameType, grpcHeaders, headerBlock, headers } from '../faults/grpc/http2-frames.ts';
import { RawCalls } from '../faults/grpc/raw-calls.ts';
import { RawConnection } from '../faults/grpc/raw-connection.ts';
import { GrpcClient } from '../support/grpc-client.ts';
import { startTestListener } from '../support/grpc-listener.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('a call', () => {
  it('is answered, also when its message is as long as allowed', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const long = Buffer.alloc(4 * 1024 * 1024, 'x');
    const answer = await client.unary('/test.Test/Echo', long);
    expect(answer.code).toBe(status.OK);
    expect(answer.messages[0]?.equals(long)).toBe(true);
    expect((await client.unary('/test.Test/Echo', bytes(''))).messages).toEqual([bytes('')]);
  });

  it('streams messages both ways, in pieces and in order', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const requests = Array.from({ length: 200 }, (_, i) => Buffer.alloc(i * 50, `${i}`));
    const answer = await client.stream('/test.Test/EchoAll', requests);
    expect(answer.code).toBe(status.OK);
    expect(Buffer.concat(answer.messages).equals(Buffer.concat(requests))).toBe(true);
    expect(answer.messages).toHaveLength(200);
  });

  it('may answer with no message at all', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    expect(await client.stream('/test.Test/None', [])).toMatchObject({ code: status.OK, messages: [] });
  });

  it('fails with the status, code and hint of its error', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const answer = await client.unary('/test.Test/Missing', bytes(''));
    expect(answer).toMatchObject({ code: status.NOT_FOUND, message: 'no frame "é" (put it first)' });
    expect(answer.trailers.get('framehold-code')).toEqual(['handle_not_found']);
    expect(answer.trailers.get('framehold-hint')).toEqual(['put it first']);
  });

  it('that breaks in the middle says INTERNAL behind what was sent, and nothing of the inside', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const answer = await client.stream('/test.Test/Broken', []);
    expect(answer).toMatchObject({ code: status.INTERNAL, message: 'internal error', messages: [bytes('one')] });
    expect(answer.trailers.get('x-request-id')[0]).toMatch(/^[0-9A-Z]{8}-[0-9a-z]+$/);
    expect(JSON.stringify(answer.trailers.toJSON())).not.toContain('secret');
  });

  it('that is refused leaves no timer behind', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const refuse = () => client.stream('/test.Test/RefuseSecond', [bytes('one'), bytes('two')]);
    expect(await refuse()).toMatchObject({ code: status.ALREADY_EXISTS });
    const before = timers();
    for (let n = 0; n < 20; n++) await refuse();
    await expect.poll(timers).toBeLessThan(before + 10);
  });

  it('that is refused stops an upload under way, and the connection serves on', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const upload = Array.from({ length: 200 }, () => Buffer.alloc(100_000));
    for (let i = 0; i < 5; i += 1) {
      expect(await client.stream('/test.Test/Refuse', upload)).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    }
    expect((await client.unary('/test.Test/Echo', bytes('on'))).messages).toEqual([bytes('on')]);
  });

  it('that is answered while its client sends is reset a while later, unless the client ends by itself', async () => {
    await using listener = await startTestListener();
    using connection = RawConnection.open(listener.port);
    const start = (stream: number) => [
      headers(stream, headerBlock(grpcHeaders('/test.Test/Refuse'))),
      data(stream, Buffer.alloc(1000)),
    ];
    const resets = () => connection.received.get(frameType.rstStream) ?? 0;
    connection.write(...start(1), ...start(3));
    await vi.waitFor(() => expect(connection.ended).toEqual(new Set([1, 3])));
    expect(resets()).toBe(0);
    connection.write(data(1, Buffer.alloc(1000), flag.endStream));
    await vi.waitFor(() => expect(resets()).toBeGreaterThan(0), 10_000);
    expect(await connection.pings(10_000)).toBe(true);
    expect(resets()).toBe(1);
  });

  it('that is refused before its message has come leaves the connection as it was, however many there are', async () => {
    await using listener = await startTestListener();
    using calls = new RawCalls(listener.port);
    const tooLong = Buffer.concat([messagePrefix(5 * 1024 * 1024), Buffer.alloc(5 * 1024 * 1024)]);
    for (let i = 0; i < 150; i += 1) {
      expect(await calls.send('/test.Test/EchoAll', tooLong)).toMatchObject({ status: status.RESOURCE_EXHAUSTED });
    }
    expect(calls.connections).toBe(1);
  });

  it('that is refused, and whose client goes on in crumbs, costs it the connection', async () => {
    await using listener = await startTestListener();
    using connection = RawConnection.open(listener.port);
    connection.write(headers(1, headerBlock(grpcHeaders('/test.Test/Refuse'))));
    connection.write(Buffer.concat(Array.from({ length: 3000 }, () => data(1, Uint8Array.of(0)))));
    expect(await connection.closesWithin(10_000)).toBe(true);
  });

  it.each([
    ['of an unknown method', '/test.Test/Nothing', 1, status.UNIMPLEMENTED],
    ['of an unknown service', '/nobody/Echo', 1, status.UNIMPLEMENTED],
    ['named like a property of every object', '/test.Test/constructor', 1, status.UNIMPLEMENTED],
    ['with an over-long message', '/test.Test/Echo', 4 * 1024 * 1024 + 1, status.RESOURCE_EXHAUSTED],
  ])('%s is refused', async (_, path, length, code) => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    expect(await client.unary(path, Buffer.alloc(length))).toMatchObject({ code });
  });

  it('of one message refuses none and two', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    expect(await client.stream('/test.Test/Echo', [])).toMatchObject({ code: status.UNIMPLEMENTED });
    const two = [bytes('a'), bytes('b')];
    expect(await client.stream('/test.Test/Echo', two)).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('that is compressed is refused, and the client told what is accepted', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port, { 'grpc.default_compression_algorithm': 2 });
    expect(await client.unary('/test.Test/Echo', Buffer.alloc(5000))).toMatchObject({ code: status.UNIMPLEMENTED });
  });
});

describe('time', () => {
  it('that the client sets ends the call, and its handler is told', async () => {
    await using listener = await startTestListener();
    const session = connect(`http://127.0.0.1:${listener.port}`);
    const answer = await rawCall(session, { ':path': '/test.Test/Hang', 'grpc-timeout': '50m' }, framed('x'));
    expect(answer).toMatchObject({ 'grpc-status': `${status.DEADLINE_EXCEEDED}` });
    expect(listener.aborted).toEqual(['DEADLINE_EXCEEDED']);
    session.close();
  });

  it('also ends a call whose request never comes to its end', async () => {
    await using listener = await startTestListener({ timeouts: { requestTimeoutMs: 100 } });
    const session = connect(`http://127.0.0.1:${listener.port}`);
    const byDeadline = { ':path': '/test.Test/EchoAll', 'grpc-timeout': '50m' };
    expect(await rawCall(session, byDeadline, undefined)).toMatchObject({
      'grpc-status': `${status.DEADLINE_EXCEEDED}`,
    });
    expect(await rawCall(session, { ':path': '/test.Test/Echo' }, undefined)).toMatchObject({
      'grpc-status': `${status.INVALID_ARGUMENT}`,
    });
    session.close();
  });

  it('that cannot be read is refused', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const headers = new Metadata();
    headers.set('grpc-timeout', 'soon');
    expect(await client.unary('/test.Test/Echo', bytes('x'), { headers })).toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
  });

  it('runs out for a client that reads nothing', async () => {
    await using listener = await startTestListener({ timeouts: { stallTimeoutMs: 200 } });
    const session = connect(`http://127.0.0.1:${listener.port}`);
    const stream = session.request(callHeaders('/test.Test/Flood'));
    stream.on('error', () => {});
    stream.pause();
    stream.end(framed('x'));
    await once(stream, 'close');
    expect(stream.rstCode).not.toBe(0);
    session.close();
  });
});

describe('cancelling', () => {
  it('aborts the handler', async () => {
    await using listener = await startTestListener();
    using client = new GrpcClient(listener.port);
    const call = client.open('/test.Test/Flood', bytes('x'));
    await once(call, 'data');
    call.cancel();
    await expect.poll(() => listener.aborted).toEqual(['CANCELLED']);
  });

  it('by cutting the connection does, too', async () => {
    await using listener = await startTestListener();
    const session = connect(`http://127.0.0.1:${listener.port}`);
    const stream = session.request(callHeaders('/test.Test/Flood'));
    stream.on('error', () => {});
    stream.end(framed('x'));
    await once(stream, 'data');
    session.destroy();
    await expect.poll(() => listener.aborted).toEqual(['CANCELLED']);
  });
});

describe('what is not gRPC', () => {
  it('is refused by content type and method', async () => {
    await using listener = await startTestListener();
    const session = connect(`http://127.0.0.1:${listener.port}`);
    const path = { ':path': '/test.Test/Echo' };
    for (const type of ['application/json', 'application/grpc-web', 'application/grpc+json', '']) {
      expect(await rawCall(session, { ...path, 'content-type': type }, framed('x'))).toMatchObject({ ':status': 415 });
    }
    expect(await rawCall(session, { ...path, ':method': 'GET' }, undefined)).toMatchObject({ ':status': 405 });
    expect(await rawCall(session, { ...path, 'content-type': 'application/grpc+proto' }, framed('x'))).toMatchObject({
      ':status': 200,
      'grpc-status': '0',
    });
    session.close();
  });
});

function framed(text: string): Buffer {
  return Buffer.concat([messagePrefix(text.length), bytes(text)]);
}

function callHeaders(path: string): Record<string, string> {
  return { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
}

/** Headers and trailers of the answer; with no body the request is left open. */
async function rawCall(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body: Buffer | undefined,
): Promise<IncomingHttpHeaders> {
  const stream = session.request({ ...callHeaders(''), ...headers }, { endStream: false });
  const found: IncomingHttpHeaders = {};
  stream.on('response', (response) => Object.assign(found, response));
  stream.on('trailers', (trailers) => Object.assign(found, trailers));
  stream.resume();
  if (body !== undefined) stream.end(body);
  await once(stream, 'close');
  return found;
}
