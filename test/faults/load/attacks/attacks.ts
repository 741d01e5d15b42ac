import { request } from 'node:http';
import { connect, constants } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { proto } from '../../../support/flight-sql-client.ts';
import { repeatedParquet } from '../../../support/repeated-parquet.ts';
import { framed } from '../../grpc/raw-calls.ts';

/** What an attacker has: one tenant's tokens. */
export interface Target {
  readonly url: string;
  readonly grpcPort: number;
  readonly read: string;
  readonly write: string;
}

/** Goes on until the process is ended: one turn of an attack, again and again. */
export type Attack = (target: Target, turn: number) => Promise<void>;

const holdMs = 20_000;

/** Sends a body, or the beginning of one that never ends; resolves when the connection is over. */
function send(
  target: Target,
  path: string,
  { body, as = 'write', method = 'POST', headers = {}, isHeld = false }: Sent = {},
): Promise<void> {
  return new Promise((resolve) => {
    const authorization = `Bearer ${target[as]}`;
    const outgoing = request(`${target.url}${path}`, { method, agent: false, headers: { authorization, ...headers } });
    outgoing.on('response', (answer) => answer.resume().on('close', resolve));
    outgoing.on('error', () => resolve());
    outgoing.on('close', () => resolve());
    if (isHeld) {
      if (body !== undefined) outgoing.write(body);
      setTimeout(() => outgoing.destroy(), holdMs);
    } else outgoing.end(body);
  });
}

interface Sent {
  readonly body?: string | Uint8Array;
  readonly as?: 'read' | 'write';
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly isHeld?: boolean;
}

function many(count: number, one: (index: number) => Promise<void>): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}

const json = { 'content-type': 'application/json' };
const packed = { 'content-encoding': 'gzip' };

/** A statement whose parameters fill 16 MB with one kind of value. */
function jsonOf(item: string): string {
  return `{"sql":"select 1","params":[${item.repeat(Math.floor(15.9e6 / item.length))}0]}`;
}

function flightCall(
  target: Target,
  as: 'read' | 'write',
  method: string,
  body: Uint8Array,
  isHeld = false,
): Promise<void> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${target.grpcPort}`, { settings: { initialWindowSize: 1 << 22 } });
    session.on('error', () => resolve());
    const stream = session.request({
      ':method': 'POST',
      ':path': `/arrow.flight.protocol.FlightService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${target[as]}`,
    });
    stream.resume();
    stream.on('error', () => {});
    stream.on('close', () => {
      session.destroy();
      resolve();
    });
    if (isHeld) {
      stream.write(body);
      setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), holdMs);
    } else stream.end(body);
  });
}

/** A descriptor of a path whose parts are empty. */
const path = (parts: number): Buffer => Buffer.concat([proto([1, 1]), Buffer.alloc(2 * parts, Uint8Array.of(0x1a, 0))]);
const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

const bomb = once(() => repeatedParquet({ groupRows: 25_000_000, groups: 2000, overlaps: true }));
const zeros = once(() => repeatedParquet({ groupRows: 25_000_000, groups: 24 }));
const objects = once(() => jsonOf('{},'));
const lists = once(() => jsonOf('[],'));
const numbers = once(() => jsonOf('0,'));
const wrongLines = once(() => gzipSync(`${'m,h=a x=1\n'.repeat(6_000_000)}m x=`));
const wideLine = once(() => gzipSync(`m ${Array.from({ length: 2_000_000 }, (_, n) => `f${n}=1`).join(',')}\n`));
const comments = once(() => gzipSync(`# ${'c'.repeat(98)}\n`.repeat(1_000_000)));
const columns = once(() => framed(proto([1, `{"handle":"t","columns":[${'{},'.repeat(1_300_000)}0]}`])));
const manyParts = once(() => framed(path(2_000_000)));
const ballast = once(() => framed(proto([1000, Buffer.alloc(16 * 2 ** 20 - 100)])));
const longText = once(() => `select ${'1+'.repeat(30_000)}1`);
const csv = once(() => `a,b,c\n${'1,text,0.5\n'.repeat(1_000_000)}`);

export const attacks: Readonly<Record<string, Attack>> = {
  'a Parquet file that names one chunk 2,000 times': (target, turn) =>
    many(4, (n) => send(target, `/imp?name=bomb${n}_${turn}&format=parquet`, { body: bomb() })).then(() => {}),
  '600 million zeros in a megabyte': (target, turn) =>
    many(3, (n) => send(target, `/imp?name=zeros${n}&overwrite=true&format=parquet&t=${turn}`, { body: zeros() })).then(
      () => {},
    ),
  'millions of empty objects to /sql': (target) =>
    many(5, () => send(target, '/sql', { as: 'read', headers: json, body: objects() })).then(() => {}),
  'millions of empty lists to /plot': (target) =>
    many(3, () => send(target, '/plot', { as: 'read', headers: json, body: lists() })).then(() => {}),
  'millions of numbers to /tickets': (target) =>
    many(3, () => send(target, '/tickets', { as: 'read', headers: json, body: numbers() })).then(() => {}),
  'a ticket with a million columns': (target) =>
    many(4, () => flightCall(target, 'read', 'DoGet', columns())).then(() => {}),
  'a path of two million parts': (target) =>
    many(4, () => flightCall(target, 'read', 'GetFlightInfo', manyParts())).then(() => {}),
  'six million lines of which the last is wrong': (target) =>
    many(2, () => send(target, '/write', { headers: packed, body: wrongLines() })).then(() => {}),
  'a line of two million fields': (target) =>
    many(2, () => send(target, '/write', { headers: packed, body: wideLine() })).then(() => {}),
  'bodies of /write that stop before their end': (target) =>
    many(8, () => {
      const body = comments();
      return send(target, '/write', {
        headers: { ...packed, 'content-length': body.length },
        body: body.subarray(0, -10),
        isHeld: true,
      });
    }).then(() => {}),
  'bodies of /sql that stop before their end': (target) =>
    many(60, () =>
      send(target, '/sql', {
        as: 'read',
        headers: { ...json, 'content-length': 16_000_000 },
        body: Buffer.alloc(15_900_000, 0x20),
        isHeld: true,
      }),
    ).then(() => {}),
  'uploads of 16 MiB in one message, and then silence': (target) =>
    many(40, () => flightCall(target, 'write', 'DoPut', ballast(), true)).then(() => {}),
  'hundreds of heavy statements': (target, turn) =>
    many(200, (n) =>
      send(target, '/sql', {
        as: 'read',
        headers: json,
        body: JSON.stringify({ sql: `select sum(hash(range + ${turn * 1000 + n})) as n from range(50_000_000)` }),
      }),
    ).then(() => {}),
  'statements that spill': (target, turn) =>
    many(8, (n) =>
      send(target, '/sql', {
        as: 'read',
        headers: json,
        body: JSON.stringify({
          sql: `select max(a) from (select hash(range + ${turn * 10 + n}) a, repeat('x', 100) b from range(20_000_000) order by a)`,
        }),
      }),
    ).then(() => {}),
  'large CSV files': (target, turn) =>
    many(6, (n) => send(target, `/imp?name=csv${n}&overwrite=true&t=${turn}`, { body: csv() })).then(() => {}),
  'a thousand followers': (target) =>
    many(1000, () =>
      send(target, '/handles/own/rows?from=0&live=long-poll&wait=20s&fmt=json', { as: 'read', method: 'GET' }),
    ).then(() => {}),
  'long texts of SQL': (target) =>
    many(50, () => send(target, '/sql', { as: 'read', headers: json, body: JSON.stringify({ sql: longText() }) })).then(
      () => {},
    ),
};
