import { fixedSizeBytes, type Vector, vectorPart } from '@framehold/columns';
import { bitAt, isPresent } from '../columns/bits.ts';

/**
 * One value as a JavaScript value: bigint for integers, decimals without their point, and counts of days or time; number for
 * floats; string, Uint8Array, boolean; an array for a list; [months, days, nanoseconds] for an interval; an object by field name
 * for a struct, entries for a map; null. No part of it is a view of the vector.
 */
export function valueAt(vector: Vector, row: number): unknown {
  const { type, validity, children } = vector;
  if (!isPresent(validity, row)) return null;
  const bytes = (width: number): Buffer =>
    Buffer.from(vectorPart(vector.data).subarray(row * width, (row + 1) * width));
  switch (type.kind) {
    case 'null':
      return null;
    case 'boolean':
      return bitAt(vectorPart(vector.data), row);
    case 'int':
      return integerOf(bytes(fixedSizeBytes(type)), type.signed);
    case 'float':
      return type.bits === 32 ? bytes(4).readFloatLE() : bytes(8).readDoubleLE();
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary': {
      const [from, to] = rangeAt(vector, row);
      const value = Uint8Array.from(vectorPart(vector.data).subarray(from, to));
      return type.kind === 'binary' ? value : Buffer.from(value.buffer).toString();
    }
    case 'decimal':
    case 'date':
    case 'time':
    case 'timestamp':
      return integerOf(bytes(fixedSizeBytes(type)), true);
    case 'interval': {
      const interval = bytes(16);
      return [interval.readInt32LE(0), interval.readInt32LE(4), interval.readBigInt64LE(8)];
    }
    case 'list':
      return valuesIn(children[0], rangeAt(vector, row));
    case 'array':
      return valuesIn(children[0], [row * type.size, (row + 1) * type.size]);
    case 'map': {
      const { children: pair } = vectorPart(children[0]);
      const values = valuesIn(pair[1], rangeAt(vector, row));
      return valuesIn(pair[0], rangeAt(vector, row)).map((key, index) => [key, values[index]]);
    }
    case 'struct':
      return Object.fromEntries(
        type.fields.map(({ name }, index) => [name, valueAt(vectorPart(children[index]), row)]),
      );
    case 'union':
      return valueAt(vectorPart(children[vectorPart(vector.data)[row] as number]), row);
    default:
      return type satisfies never;
  }
}

type Range = readonly [from: number, to: number];

function rangeAt({ offsets }: Vector, row: number): Range {
  return [vectorPart(offsets)[row] as number, vectorPart(offsets)[row + 1] as number];
}

function valuesIn(elements: Vector | undefined, [from, to]: Range): unknown[] {
  return Array.from({ length: to - from }, (_, index) => valueAt(vectorPart(elements), from + index));
}

function integerOf(littleEndian: Buffer, signed: boolean): bigint {
  const value = BigInt(`0x${littleEndian.reverse().toString('hex')}`);
  return signed ? BigInt.asIntN(littleEndian.length * 8, value) : value;
}
