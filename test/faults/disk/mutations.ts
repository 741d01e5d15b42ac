import type { Random } from '../harness/random.ts';

/** Ways in which bytes on a disk go wrong. Each gives new bytes; they may be equal where there was nothing to change. */
export const mutations = {
  flippedBit: (bytes, random) => changed(bytes, (copy) => flip(copy, random)),
  flippedBits: (bytes, random) =>
    changed(bytes, (copy) => {
      for (let left = random.between(2, 50); left > 0; left--) flip(copy, random);
    }),
  randomRange: (bytes, random) =>
    changed(bytes, (copy) => {
      const [from, to] = range(copy, random, 512);
      copy.set(random.bytes(to - from), from);
    }),
  zeroedPage: (bytes, random) =>
    changed(bytes, (copy) => {
      const page = 512 * random.between(0, Math.floor((copy.length - 1) / 512));
      copy.fill(0, page, Math.min(copy.length, page + 512));
    }),
  swappedRanges: (bytes, random) =>
    changed(bytes, (copy) => {
      const length = random.between(1, Math.max(1, copy.length >> 3));
      const [one, other] = [random.between(0, copy.length - length), random.between(0, copy.length - length)];
      copy.set(bytes.subarray(other, other + length), one);
      copy.set(bytes.subarray(one, one + length), other);
    }),
  flippedBitOfFooter: (bytes, random) =>
    changed(bytes, (copy) => {
      const at = copy.length - 1 - random.between(0, Math.min(copy.length - 1, 400));
      copy[at] = (copy[at] ?? 0) ^ (1 << random.between(0, 7));
    }),
  truncated: (bytes, random) => bytes.subarray(0, random.between(0, bytes.length - 1)),
  extended: (bytes, random) => Buffer.concat([bytes, random.bytes(random.between(1, 200))]),
  otherBytes: (bytes, random) => random.bytes(bytes.length),
  otherFrame: (_, random, others) => Buffer.from(random.pick(others)),
} as const satisfies Record<string, (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer>;

export type Mutation = keyof typeof mutations;

/** Those that leave the length as it is. */
const lengthKept: readonly Mutation[] = [
  'flippedBit',
  'flippedBits',
  'randomRange',
  'zeroedPage',
  'swappedRanges',
  'flippedBitOfFooter',
  'otherBytes',
];

/** Bytes that differ from those given. */
export function mutate(
  bytes: Buffer,
  random: Random,
  others: readonly Buffer[],
  { keepsLength }: { keepsLength: boolean },
): { readonly kind: Mutation; readonly bytes: Buffer } {
  for (;;) {
    const all = (Object.keys(mutations) as Mutation[]).filter((kind) => kind !== 'otherFrame' || others.length > 0);
    const kind = random.pick(keepsLength ? lengthKept : all);
    const mutated = mutations[kind](bytes, random, others);
    if (!mutated.equals(bytes)) return { kind, bytes: mutated };
  }
}

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

function flip(copy: Buffer, random: Random): void {
  const at = random.between(0, copy.length - 1);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.between(0, 7));
}

function range(copy: Buffer, random: Random, most: number): [from: number, to: number] {
  const from = random.between(0, copy.length - 1);
  return [from, Math.min(copy.length, from + random.between(1, most))];
}
