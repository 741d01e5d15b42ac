import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesField, messagePrefix, varintField } from '@framehold/grpc';
import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FlightClient, flightDataOf } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { privateFiles } from '../support/private-files.ts';

let server: Framehold;
let client: FlightClient;
let session: ClientHttp2Session;
beforeEach(async () => {
  server = await startFramehold();
  client = new FlightClient(server.grpcAddress.port);
  session = connect(`http://127.0.0.1:${server.grpcAddress.port}`);
  session.on('error', () => {});
});
afterEach(async () => {
  session.destroy();
  client[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const ids = Int32Array.from({ length: 1000 }, (_, index) => index);
const [schema, batch] = flightDataOf(
  tableToIPC(tableFromArrays({ id: ids, twice: ids.map((id) => id * 2) }), 'stream'),
);
const descriptor = Buffer.concat([varintField(1, 1), bytesField(3, 'broken')]);
const first = framed(bytesField(1, descriptor), bytesField(2, schema?.dataHeader ?? ''));
const next = framed(bytesField(2, batch?.dataHeader ?? ''), bytesField(1000, batch?.dataBody ?? ''));

function framed(...fields: Uint8Array[]): Buffer {
  const message = Buffer.concat(fields);
  return Buffer.concat([messagePrefix(message.length), message]);
}

function startPut(): ClientHttp2Stream {
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': '/arrow.flight.protocol.FlightService/DoPut',
      'content-type': 'application/grpc',
      te: 'trailers',
    },
    { endStream: false },
  );
  stream.on('error', () => {});
  return stream;
}

async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  let code = Number.NaN;
  stream.on('response', (headers) => {
    if (headers['grpc-status'] !== undefined) code = Number(headers['grpc-status']);
  });
  stream.on('trailers', (trailers) => {
    code = Number(trailers['grpc-status']);
  });
  stream.resume();
  await once(stream, 'close');
  return code;
}

/** No frame, no half of one, no temporary file; and the server serves on. */
async function expectNothingLeft(): Promise<void> {
  await expect.poll(() => privateFiles(join(server.dataDir, 'cold'), 'tmp')).toEqual([]);
  expect(await client.list()).toMatchObject({ status: { code: status.OK }, messages: [] });
  expect((await client.get('broken')).code).toBe('handle_not_found');
}

it.each([
  ['cancelled', constants.NGHTTP2_CANCEL],
  ['reset without an error', constants.NGHTTP2_NO_ERROR],
])('an upload that is %s between two messages leaves nothing', async (_, code) => {
  const stream = startPut();
  stream.write(Buffer.concat([first, next]));
  await sleep(300);
  stream.close(code);
  await sleep(300);
  await expectNothingLeft();
});

it('an upload whose connection is lost leaves nothing', async () => {
  const stream = startPut();
  stream.write(Buffer.concat([first, next]));
  await sleep(300);
  session.destroy();
  await sleep(300);
  await expectNothingLeft();
});

it('an upload that is cancelled before its first message leaves nothing', async () => {
  const stream = startPut();
  await sleep(50);
  stream.close(constants.NGHTTP2_CANCEL);
  await sleep(100);
  await expectNothingLeft();
});

it.each([
  ['without a message', Buffer.alloc(0)],
  ['without a schema', framed(bytesField(1, descriptor))],
  ['with a batch before the schema', Buffer.concat([framed(bytesField(1, descriptor)), next])],
  ['inside a message', Buffer.concat([first, next.subarray(0, 100)])],
  ['with a body that has no header', Buffer.concat([first, framed(bytesField(1000, 'body'))])],
  [
    'with a header that is no flatbuffer',
    Buffer.concat([first, framed(bytesField(2, Buffer.alloc(64, 0xee)), bytesField(1000, 'body'))]),
  ],
  [
    'with a body that is too short',
    Buffer.concat([first, framed(bytesField(2, batch?.dataHeader ?? ''), bytesField(1000, 'body'))]),
  ],
  ['with a message that is no protobuf', Buffer.concat([first, framed(Buffer.alloc(20, 0xff))])],
])('an upload that ends %s is refused and leaves nothing', async (_, body) => {
  const stream = startPut();
  stream.end(body);
  expect(await statusOf(stream)).toBe(status.INVALID_ARGUMENT);
  await expectNothingLeft();
});

it('an upload with a message over the limit is refused before the message has come', async () => {
  const stream = startPut();
  stream.write(Buffer.concat([first, messagePrefix(300 * 1024 * 1024)]));
  expect(await statusOf(stream)).toBe(status.RESOURCE_EXHAUSTED);
  await expectNothingLeft();
});

it('an upload past its deadline is ended and leaves nothing', async () => {
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': '/arrow.flight.protocol.FlightService/DoPut',
      'content-type': 'application/grpc',
      'grpc-timeout': '300m',
      te: 'trailers',
    },
    { endStream: false },
  );
  stream.write(Buffer.concat([first, next]));
  expect(await statusOf(stream)).toBe(status.DEADLINE_EXCEEDED);
  await expectNothingLeft();
});

it('a refused upload ends at once, however much is still to come', async () => {
  const whole = startPut();
  whole.end(Buffer.concat([first, next]));
  expect(await statusOf(whole)).toBe(status.OK);
  const again = startPut();
  const chunk = Buffer.concat(Array.from({ length: 100 }, () => next));
  let sent = 0;
  const pump = (): void => {
    let takesMore = true;
    while (takesMore && !again.closed && !again.destroyed) {
      takesMore = again.write(chunk);
      sent += chunk.length;
    }
    again.once('drain', pump);
  };
  again.write(first);
  pump();
  expect(await statusOf(again)).toBe(status.ALREADY_EXISTS);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  expect((await client.getTable('broken')).numRows).toBe(1000);
});
