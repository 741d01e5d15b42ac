import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../harness/random.ts';
import {
  callFrames,
  data,
  flag,
  frame,
  frameType,
  goaway,
  grpcHeaders,
  type Header,
  headerBlock,
  headers,
  maxFrame,
  ping,
  preface,
  reset,
  setting,
  settings,
  uint32,
  windowUpdate,
} from './http2-frames.ts';
import { RawConnection } from './raw-connection.ts';

/** Does its worst until the given moment of `performance.now()`, or until it is cut off. */
export type Attack = (port: number, untilMs: number, random: Random) => Promise<void>;

const doGet = '/arrow.flight.protocol.FlightService/DoGet';
const doPut = '/arrow.flight.protocol.FlightService/DoPut';
const listFlights = '/arrow.flight.protocol.FlightService/ListFlights';
/** The message of a call that wants a frame. */
const wanted = (handle: string): Buffer =>
  Buffer.concat([Uint8Array.of(0, 0, 0, 0, handle.length + 2, 0x0a, handle.length), Buffer.from(handle)]);
const emptyMessage = Buffer.alloc(5);

/** Repeats pieces for ever, many at a time. */
function* endless(piece: (round: number) => Uint8Array, atOnce = 200): Generator<Buffer, never> {
  for (let round = 0; ; round += atOnce) {
    yield Buffer.concat(Array.from({ length: atOnce }, (_, index) => piece(round + index)));
  }
}

const flooding =
  (piece: (round: number) => Uint8Array, begin: Uint8Array = Buffer.alloc(0), atOnce = 200): Attack =>
  async (port, untilMs) => {
    using connection = RawConnection.open(port);
    connection.write(begin);
    await connection.flood(endless(piece, atOnce), untilMs);
  };

const sendingOnce =
  (...pieces: readonly Uint8Array[]): Attack =>
  async (port, untilMs) => {
    using connection = new RawConnection(port);
    connection.write(...pieces);
    await connection.closesWithin(Math.max(0, untilMs - performance.now()));
  };

const streamAt = (round: number): number => (2 * round + 1) % 0x7fff_ffff;
const post = headerBlock(grpcHeaders(listFlights));
const openCall = (stream: number, path: string, ...more: readonly Header[]): Buffer =>
  headers(stream, headerBlock(grpcHeaders(path, ...more)));
const announced = (bytes: number): Buffer => Buffer.concat([Uint8Array.of(0), uint32(bytes)]);

export const attacks: Readonly<Record<string, Attack>> = {
  'settings without end': flooding(() => settings([setting.headerTableSize, 4096])),
  'pings without end': flooding(() => ping()),
  'streams that are reset at once': flooding((round) =>
    Buffer.concat([headers(streamAt(round), post), reset(streamAt(round))]),
  ),
  'calls that are cancelled as they run': flooding((round) =>
    Buffer.concat([callFrames(streamAt(round), doGet, wanted('canary')), reset(streamAt(round))]),
  ),
  'headers without end': flooding(
    () => frame(frameType.continuation, 0, 1, Buffer.alloc(maxFrame, 0x40)),
    frame(frameType.headers, 0, 1, post),
    4,
  ),
  'empty continuations without end': flooding(
    () => frame(frameType.continuation, 0, 1),
    frame(frameType.headers, 0, 1, post),
  ),
  'a table of headers that unfolds': async (port, untilMs) => {
    using connection = RawConnection.open(port);
    connection.write(headers(1, headerBlock([...grpcHeaders(doGet), ['x', 'y'.repeat(3900)]], { indexed: true })));
    // Field 62 is the youngest of the table: one byte for four thousand.
    const bomb = (round: number): Buffer =>
      headers(streamAt(round + 1), Buffer.concat([post, Buffer.alloc(maxFrame - 1000, 0xbe)]));
    await connection.flood(endless(bomb, 4), untilMs);
  },
  'many tiny headers': flooding(
    (round) => headers(streamAt(round), headerBlock(Array.from({ length: 3000 }, (_, n): Header => [`h${n}`, '']))),
    undefined,
    4,
  ),
  'a header of a megabyte': flooding(
    (round) => headers(streamAt(round), headerBlock([...grpcHeaders(doGet), ['x', 'y'.repeat(1e6)]])),
    undefined,
    1,
  ),
  'priorities without end': flooding((round) =>
    frame(frameType.priority, 0, streamAt(round), Buffer.concat([uint32(streamAt(round + 1)), Uint8Array.of(9)])),
  ),
  'windows of nothing': flooding(() => windowUpdate(0, 0)),
  'windows that overflow': flooding(() => windowUpdate(0, 0x7fff_ffff)),
  'windows in small steps': flooding(() => windowUpdate(0, 1)),
  'windows that overflow a stream': async (port, untilMs) => {
    using connection = RawConnection.open(port);
    const pieces = endless((round) =>
      Buffer.concat([openCall(streamAt(round), doPut), windowUpdate(streamAt(round), 0x7fff_ffff)]),
    );
    await connection.flood(pieces, untilMs);
  },
  'a first window that jumps': flooding((round) =>
    settings([setting.initialWindowSize, round % 2 === 0 ? 0 : 0x7fff_ffff]),
  ),
  'empty data without end': flooding(() => data(1, Buffer.alloc(0)), openCall(1, doPut)),
  'padding without end': flooding(
    () => frame(frameType.data, flag.padded, 1, Buffer.alloc(256, 0).fill(255, 0, 1)),
    openCall(1, doPut),
  ),
  'a message byte by byte': async (port, untilMs) => {
    using connection = RawConnection.open(port);
    const streams = Array.from({ length: 10 }, (_, index) => streamAt(index));
    for (const stream of streams) connection.write(openCall(stream, doGet), data(stream, announced(4 * 2 ** 20)));
    const one = Buffer.from('x');
    await connection.flood(
      endless((round) => data(streams[round % streams.length] as number, one), 2000),
      untilMs,
    );
  },
  'messages that are half sent': async (port, untilMs) => {
    using connection = RawConnection.open(port);
    const streams = Array.from({ length: 100 }, (_, index) => streamAt(index));
    for (const stream of streams) connection.write(openCall(stream, doPut), data(stream, announced(256 * 2 ** 20)));
    const piece = Buffer.alloc(maxFrame);
    await connection.flood(
      endless((round) => data(streams[round % streams.length] as number, piece), 10),
      untilMs,
    );
  },
  'streams that are never ended': async (port, untilMs) => {
    using connection = RawConnection.open(port);
    for (let round = 0; round < 100; round++)
      connection.write(openCall(streamAt(round), round % 2 === 0 ? doGet : doPut));
    await connection.closesWithin(Math.max(0, untilMs - performance.now()));
  },
  'more streams than are allowed': flooding((round) => openCall(streamAt(round), doPut)),
  'windows that are never granted': async (port, untilMs) => {
    using connection = RawConnection.open(port, [setting.initialWindowSize, 0]);
    for (let round = 0; round < 100; round++) connection.write(callFrames(streamAt(round), doGet, wanted('large')));
    await connection.closesWithin(Math.max(0, untilMs - performance.now()));
  },
  'a socket that is never read': async (port, untilMs) => {
    using connection = RawConnection.open(port, [setting.initialWindowSize, 0x7fff_ffff]);
    connection.write(windowUpdate(0, 0x7fff_0000 - 65_535));
    connection.socket.pause();
    for (let round = 0; round < 100; round++) connection.write(callFrames(streamAt(round), doGet, wanted('large')));
    await connection.closesWithin(Math.max(0, untilMs - performance.now()));
  },
  'data on no stream': sendingOnce(preface, settings(), data(0, Buffer.from('x'))),
  'data on a stream that is not open': sendingOnce(preface, settings(), data(7, Buffer.from('x'))),
  'frames of unknown types': flooding((round) => frame(20 + (round % 200), 255, round % 9, Buffer.alloc(50))),
  'frames that only servers send': sendingOnce(preface, settings(), frame(frameType.pushPromise, 4, 1, uint32(2))),
  'frames larger than agreed': sendingOnce(preface, settings(), data(1, Buffer.alloc(100_000))),
  'another preface': async (port, untilMs, random) => sendingOnce(random.bytes(500))(port, untilMs, random),
  'half a preface': sendingOnce(preface.subarray(0, 10)),
  'HTTP/1.1': sendingOnce(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')),
  'HTTP/1.1 that upgrades': sendingOnce(
    Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
  ),
  'a TLS hello': sendingOnce(Buffer.from('16030100a5010000a10303', 'hex'), Buffer.alloc(160, 1)),
  'a farewell and more': async (port, untilMs) => {
    using connection = RawConnection.open(port);
    connection.write(goaway(0));
    await connection.flood(
      endless((round) => callFrames(streamAt(round), listFlights, emptyMessage), 20),
      untilMs,
    );
  },
  'connections that come and go': async (port, untilMs) => {
    while (performance.now() < untilMs) {
      const connections = Array.from({ length: 20 }, () => RawConnection.open(port));
      await delay(5);
      for (const connection of connections) connection[Symbol.dispose]();
    }
  },
};
