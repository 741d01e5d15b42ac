import { http2Options } from '@framehold/grpc';

/** As long as the server takes them. */
export const maxFrame = http2Options.settings?.maxFrameSize ?? 16_384;

/** Frames of HTTP/2 as bytes, also those that nobody should send. */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, acknowledge: 1, endHeaders: 4, padded: 8 } as const;

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const headBytes = 9;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

/** Pairs of the setting's number and its value. */
export function settings(...pairs: readonly (readonly [number, number])[]): Buffer {
  return frame(
    frameType.settings,
    0,
    0,
    Buffer.concat(
      pairs.map(([number, value]) => {
        const pair = Buffer.alloc(6);
        pair.writeUInt16BE(number, 0);
        pair.writeUInt32BE(value, 2);
        return pair;
      }),
    ),
  );
}

export const setting = { headerTableSize: 1, enablePush: 2, maxConcurrentStreams: 3, initialWindowSize: 4 } as const;

export function ping(flags = 0): Buffer {
  return frame(frameType.ping, flags, 0, Buffer.alloc(8, 7));
}

export function reset(stream: number, code = 8): Buffer {
  return frame(frameType.rstStream, 0, stream, uint32(code));
}

export function windowUpdate(stream: number, increment: number): Buffer {
  return frame(frameType.windowUpdate, 0, stream, uint32(increment));
}

export function data(stream: number, payload: Uint8Array, flags = 0): Buffer {
  return frame(frameType.data, flags, stream, payload);
}

export function goaway(lastStream: number, code = 0): Buffer {
  return frame(frameType.goaway, 0, 0, Buffer.concat([uint32(lastStream), uint32(code)]));
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0, 0);
  return bytes;
}

export type Header = readonly [name: string, value: string];

export function grpcHeaders(path: string, ...more: readonly Header[]): Header[] {
  return [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'localhost'],
    [':path', path],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ...more,
  ];
}

/** HPACK with literals alone: no table, no Huffman. With `indexed`, every field goes into the other side's table. */
export function headerBlock(headers: readonly Header[], { indexed = false } = {}): Buffer {
  return Buffer.concat(
    headers.map(([name, value]) => Buffer.concat([Uint8Array.of(indexed ? 0x40 : 0), text(name), text(value)])),
  );
}

/** In one frame, or in one and its continuations where it is larger than a frame may be. */
export function headers(stream: number, block: Uint8Array, flags = 0): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += maxFrame) {
    const isLast = at + maxFrame >= block.length;
    const type = at === 0 ? frameType.headers : frameType.continuation;
    const own = (at === 0 ? flags : 0) | (isLast ? flag.endHeaders : 0);
    pieces.push(frame(type, own, stream, block.subarray(at, at + maxFrame)));
  }
  return Buffer.concat(pieces);
}

/** A whole call as it stands on the wire. */
export function callFrames(stream: number, path: string, body: Uint8Array, ...more: readonly Header[]): Buffer {
  const pieces = [headers(stream, headerBlock(grpcHeaders(path, ...more)))];
  for (let at = 0; at === 0 || at < body.length; at += maxFrame) {
    const isLast = at + maxFrame >= body.length;
    pieces.push(data(stream, body.subarray(at, at + maxFrame), isLast ? flag.endStream : 0));
  }
  return Buffer.concat(pieces);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([prefixedInteger(bytes.length), bytes]);
}

/** Of a prefix of seven bits. */
function prefixedInteger(value: number): Uint8Array {
  if (value < 127) return Uint8Array.of(value);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
