import type { Random } from '../harness/random.ts';

/** Bytes that mean something to a reader of HTTP, of query strings, JSON, CSV or multipart. */
const telling = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '=',
  '&',
  '?',
  '%',
  '%00',
  '%ff',
  '%2',
  '+',
  '"',
  "'",
  '\\',
  '/',
  '..',
  '#',
  '{',
  '}',
  '[',
  ']',
  '--',
  '0',
  '-1',
  '9',
  'f',
  '\x7f',
  '\x80',
  '\xff',
  '\u2028',
  'HTTP/1.1',
  '\r\n\r\n',
  '\r\n ',
  '0\r\n\r\n',
  'null',
  '1e999',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Host: b\r\n',
] as const;

type Mutation = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

const mutations: readonly Mutation[] = [
  function flip(bytes, random) {
    const at = random.between(0, bytes.length - 1);
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.between(0, 7));
    return flipped;
  },
  function insert(bytes, random) {
    const at = random.between(0, bytes.length);
    return replaced(
      bytes,
      at,
      at,
      random.chance(0.7) ? text(random.pick(telling)) : random.bytes(random.between(1, 9)),
    );
  },
  function remove(bytes, random) {
    const at = random.between(0, bytes.length - 1);
    return replaced(bytes, at, at + lengthOf(random), text(''));
  },
  function replace(bytes, random) {
    const at = random.between(0, bytes.length - 1);
    return replaced(bytes, at, at + lengthOf(random), text(random.pick(telling)));
  },
  function repeat(bytes, random) {
    const at = random.between(0, bytes.length - 1);
    const piece = bytes.subarray(at, at + lengthOf(random));
    const times = random.chance(0.05) ? 20_000 / Math.max(1, piece.length) : random.between(1, 5);
    return replaced(bytes, at, at, Buffer.concat(Array.from({ length: times }, () => piece)));
  },
  function repeatLine(bytes, random) {
    const lines = bytes.toString('latin1').split('\r\n');
    const line = random.pick(lines);
    lines.splice(random.between(0, lines.length), random.between(0, 1), line);
    return text(lines.join('\r\n'));
  },
  function splice(bytes, random, others) {
    const other = random.pick(others);
    const at = random.between(0, bytes.length);
    return Buffer.concat([bytes.subarray(0, at), other.subarray(random.between(0, other.length))]);
  },
  function follow(bytes, random, others) {
    return Buffer.concat([bytes, random.pick(others)]);
  },
  function truncate(bytes, random) {
    return bytes.subarray(0, random.between(0, bytes.length));
  },
];

/** One to four changes, each small, of a kind that tools and bad networks make and attackers look for. */
export function mutate(bytes: Buffer, random: Random, others: readonly Buffer[]): Buffer {
  const times = random.chance(0.6) ? 1 : random.between(2, 4);
  let mutated = bytes;
  for (let time = 0; time < times && mutated.length > 0; time++)
    mutated = random.pick(mutations)(mutated, random, others);
  return mutated;
}

/** Mostly a byte or a few. */
function lengthOf(random: Random): number {
  return random.chance(0.7) ? random.between(1, 3) : random.between(1, 40);
}

function replaced(bytes: Buffer, from: number, to: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);
}

function text(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}
