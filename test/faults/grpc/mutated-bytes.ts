import type { Random } from '../harness/random.ts';

/** Numbers at which code goes wrong. */
export const edges: readonly bigint[] = [
  0n,
  1n,
  7n,
  8n,
  127n,
  128n,
  255n,
  256n,
  2047n,
  2048n,
  2049n,
  65_535n,
  65_536n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 40n,
  2n ** 53n,
  2n ** 62n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
  2n ** 64n - 8n,
];

/** Bytes with a few changes: bits, whole numbers of every width, pieces cut out, doubled, moved or made up. */
export function mutatedBytes(random: Random, bytes: Uint8Array, from = 0): Buffer {
  let out: Buffer = Buffer.from(bytes);
  for (let changes = random.between(1, 4); changes > 0; changes--) out = changed(random, out, from);
  return out;
}

function changed(random: Random, bytes: Buffer, from: number): Buffer {
  if (bytes.length <= from) return Buffer.concat([bytes, random.bytes(random.between(1, 16))]);
  const at = random.between(from, bytes.length - 1);
  const length = random.between(1, Math.min(32, bytes.length - at));
  switch (random.between(0, 7)) {
    case 0:
      bytes[at] = (bytes[at] as number) ^ (1 << random.between(0, 7));
      return bytes;
    case 1:
      bytes[at] = random.between(0, 255);
      return bytes;
    case 2:
    case 3:
      return withNumber(random, bytes, from);
    case 4:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 5:
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    case 6:
      return bytes.subarray(0, at);
    default:
      return Buffer.concat([bytes.subarray(0, at), random.bytes(length), bytes.subarray(at)]);
  }
}

/** An aligned number of 2, 4 or 8 bytes becomes an edge, or a neighbour of itself. Little-endian, as Arrow has them. */
export function withNumber(random: Random, bytes: Buffer, from = 0): Buffer {
  const width = random.pick([2, 4, 4, 8]);
  const first = Math.ceil(from / width);
  const last = Math.floor(bytes.length / width) - 1;
  if (last < first) return bytes;
  const at = random.between(first, last) * width;
  const now = BigInt(bytes.readUIntLE(at, Math.min(width, 6)));
  const value = random.chance(0.4) ? now + BigInt(random.between(-9, 9)) : random.pick(edges);
  for (let n = 0; n < width; n++) bytes[at + n] = Number((BigInt.asUintN(64, value) >> BigInt(8 * n)) & 255n);
  return bytes;
}
