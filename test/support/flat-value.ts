import type { Vector } from '@framehold/columns';

/** A value of a type that is not nested: a number, or a bigint where it has 64 bits and is no double; a string; null. */
export function flatValue({ type, validity, offsets, data }: Vector, row: number): unknown {
  if (data === null || (validity !== null && !bitAt(validity, row))) return null;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  switch (type.kind) {
    case 'boolean':
      return bitAt(bytes, row);
    case 'float':
      return type.bits === 64 ? bytes.readDoubleLE(8 * row) : bytes.readFloatLE(4 * row);
    case 'utf8':
      return bytes.toString('utf8', offsets?.[row], offsets?.[row + 1]);
    case 'int':
      return type.bits === 64 ? bytes.readBigInt64LE(8 * row) : bytes.readIntLE((row * type.bits) / 8, type.bits / 8);
    case 'date':
      return bytes.readInt32LE(4 * row);
    case 'timestamp':
      return bytes.readBigInt64LE(8 * row);
    default:
      throw new Error(`values of the type ${type.kind} are not read here`);
  }
}

function bitAt(bits: Uint8Array, row: number): boolean {
  return (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}
