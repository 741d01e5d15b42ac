import type { Random } from '../harness/random.ts';
import { edges, mutatedBytes } from './mutated-bytes.ts';

interface WireField {
  readonly number: number;
  readonly wire: number;
  /** The value as it stands, without a length before it. */
  readonly value: Buffer;
}

/** A message that is wrong as messages are: fields of other types, numbers and lengths, repeated, unknown, nested too deep. */
export function mutatedProtobuf(random: Random, message: Uint8Array): Buffer {
  const fields = fieldsIn(message);
  if (fields === undefined || fields.length === 0) return mutatedBytes(random, message);
  const at = random.between(0, fields.length - 1);
  const field = fields[at] as WireField;
  const isNested = field.wire === 2 && (fieldsIn(field.value)?.length ?? 0) > 0;
  if (isNested && random.chance(0.7)) {
    return written([
      ...fields.slice(0, at),
      { ...field, value: mutatedProtobuf(random, field.value) },
      ...fields.slice(at + 1),
    ]);
  }
  const replaced = (value: Partial<WireField>): Buffer =>
    written([...fields.slice(0, at), { ...field, ...value }, ...fields.slice(at + 1)]);
  switch (random.between(0, 11)) {
    case 0:
      return replaced({ wire: random.between(0, 7) });
    case 1:
      return replaced({ number: random.pick([0, 1, 2, 3, 4, 5, 6, 7, 1000, 0x1fff_ffff, 0x2000_0000, 0x3fff_ffff]) });
    case 2:
      return replaced({ wire: 0, value: varint(random.pick(edges)) });
    case 3:
      return replaced({ wire: 2, value: random.bytes(random.between(0, 40)) });
    case 4:
      return replaced({ wire: 2, value: mutatedBytes(random, field.value) });
    case 5:
      return written(fields.filter((_, index) => index !== at));
    case 6:
      return written([...fields, ...Array.from({ length: random.between(1, 300) }, () => field)]);
    case 7:
      return replaced({ wire: 2, value: deep(field.number, random.between(1, 3000)) });
    case 8:
      return Buffer.concat([written(fields), tag(field.number, 2), varint(random.pick(edges)), random.bytes(3)]);
    case 9:
      return Buffer.concat([written(fields), tag(random.between(1, 2000), 2), varint(5n), Buffer.from('extra')]);
    case 10:
      return replaced({
        wire: 2,
        value: Buffer.alloc(random.between(1, 20_000), random.pick([0, 0x20, 0x41, 0x7b, 0xff])),
      });
    default:
      return mutatedBytes(random, message);
  }
}

function deep(number: number, levels: number): Buffer {
  let value: Buffer = Buffer.from('x');
  for (let level = 0; level < levels; level++) value = written([{ number, wire: 2, value }]);
  return value;
}

/** Undefined where the bytes are no message. */
function fieldsIn(message: Uint8Array): WireField[] | undefined {
  const bytes = Buffer.from(message);
  const fields: WireField[] = [];
  let at = 0;
  const number = (): number | undefined => {
    let value = 0;
    for (let scale = 1; at < bytes.length && scale < 2 ** 50; scale *= 128) {
      const byte = bytes[at++] as number;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const head = number();
    if (head === undefined || head < 8) return undefined;
    const wire = head % 8;
    const begin = at;
    if (wire === 0) {
      if (number() === undefined) return undefined;
      fields.push({ number: Math.floor(head / 8), wire, value: bytes.subarray(begin, at) });
      continue;
    }
    const length = wire === 1 ? 8 : wire === 5 ? 4 : wire === 2 ? number() : undefined;
    if (length === undefined || length > bytes.length - at) return undefined;
    fields.push({ number: Math.floor(head / 8), wire, value: bytes.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

function written(fields: readonly WireField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(({ number, wire, value }) => [
      tag(number, wire),
      ...(wire === 2 ? [varint(BigInt(value.length))] : []),
      value,
    ]),
  );
}

function tag(number: number, wire: number): Buffer {
  return varint(BigInt(number) * 8n + BigInt(wire));
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
