import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startClosedServer } from '../support/closed-server.ts';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';

async function held(url: string, capacity: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { text } = await ask(`${url}/metrics`, { headers });
  return Number(new RegExp(`^framehold_shared_held\\{capacity="${capacity}"\\} (.*)$`, 'm').exec(text)?.[1]);
}

test('clients that leave in the midst of their bodies leave no memory behind', async () => {
  await using server = await startFramehold();
  const port = Number(new URL(server.url).port);
  const body = gzipSync(Buffer.alloc(3_000_000, 'a b=1 1\n'));
  for (let n = 0; n < 150; n++) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    const length = body.length + (n % 2);
    socket.write(
      `POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: ${length}\r\n\r\n`,
    );
    socket.write(body);
    for (let turn = 0; turn < n % 5; turn++) await new Promise(setImmediate);
    if (n % 2 === 0) socket.destroy();
    else socket.resetAndDestroy();
  }
  await expect.poll(() => held(server.url, 'memory'), { timeout: 10_000 }).toBe(0);
});

test('calls whose clients leave before they are identified leave no places behind', async () => {
  await using closed = await startClosedServer();
  for (let n = 0; n < 80; n++) {
    const { token: unseen } = await closed.makeToken('write');
    const client = connectHttp2(`http://127.0.0.1:${closed.server.grpcAddress.port}`);
    client.on('error', () => {});
    await once(client, 'connect');
    for (let call = 0; call < 3; call++) {
      const stream = client.request({
        ':method': 'POST',
        ':path': '/arrow.flight.protocol.FlightService/DoPut',
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${unseen}`,
      });
      stream.on('error', () => {});
      if (n % 2 === 0) stream.close(constants.NGHTTP2_CANCEL);
    }
    // At any time of the look-up of the token.
    await delay(n % 4);
    client.destroy();
  }
  await expect.poll(() => held(closed.server.url, 'calls', closed.headers('operator')), { timeout: 10_000 }).toBe(0);
});

test('packed downloads that nobody reads, or whose clients leave, and broken uploads keep nobody from packing', async () => {
  await using server = await startFramehold();
  const sql = 'create table numbers as select i, hash(i) as h from range(200000) t(i)';
  expect((await ask(`${server.url}/sql`, { method: 'POST', body: JSON.stringify({ sql }) })).status).toBe(200);
  const port = Number(new URL(server.url).port);
  const download = async (coding: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `GET /exp?handle=numbers&fmt=csv HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n\r\n`,
    );
    await once(socket, 'readable');
    return socket;
  };
  const unread = await Promise.all(['br', 'gzip', 'br', 'gzip'].map(download));
  for (const coding of ['br', 'gzip', 'br', 'gzip']) (await download(coding)).destroy();
  const upload = (name: string, body: Buffer) =>
    ask(`${server.url}/imp?name=${name}&format=csv`, { method: 'POST', headers: { 'content-encoding': 'gzip' }, body });
  const packed = gzipSync('a\n1\n'.repeat(100_000));
  for (let n = 0; n < 4; n++) expect((await upload('cut', packed.subarray(0, -20))).status).toBe(400);
  expect((await upload('whole', packed)).status).toBe(200);
  const answer = await ask(`${server.url}/exp?handle=numbers&fmt=csv`, { headers: { 'accept-encoding': 'br' } });
  expect(brotliDecompressSync(answer.body).length).toBeGreaterThan(3_000_000);
  for (const socket of unread) socket.destroy();
});
