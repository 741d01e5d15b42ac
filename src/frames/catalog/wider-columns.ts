import { isDeepStrictEqual } from 'node:util';
import { type Batch, type Column, type DataType, type Vector, vectorPart } from '@framehold/columns';

type NumberType = Extract<DataType, { kind: 'int' | 'float' }>;

/** Digits of a float, in bits: it can hold each integer of this many bits. */
const integerBits = { 32: 24, 64: 53 } as const;

/** Whether the columns equal the frame's except for numbers that its wider types hold exactly. */
export function widensTo(held: readonly Column[], brought: readonly Column[]): boolean {
  const fits = ({ name, type }: Column, index: number): boolean => {
    const other = held[index];
    return other?.name === name && (isDeepStrictEqual(type, other.type) || isWider(other.type, type));
  };
  return held.length === brought.length && brought.every(fits) && !isDeepStrictEqual(held, brought);
}

/** The same rows in the types of the frame, if these are wider; otherwise the same batch. */
export function widened(batch: Batch, held: readonly Column[]): Batch {
  if (batch.columns === held || !widensTo(held, batch.columns)) return batch;
  return {
    columns: held,
    rows: batch.rows,
    vectors: batch.vectors.map((vector, index) => widenedVector(vector, held[index]?.type ?? vector.type)),
  };
}

/** Every value of the one type is a value of the other. Numbers of 128 bits are left out. */
function isWider(wide: DataType, narrow: DataType): boolean {
  if (narrow.kind === 'float') return wide.kind === 'float' && wide.bits > narrow.bits;
  if (narrow.kind !== 'int') return false;
  const bits = narrow.signed ? narrow.bits - 1 : narrow.bits;
  if (wide.kind === 'float') return bits <= integerBits[wide.bits];
  if (wide.kind !== 'int' || wide.bits === 128 || (narrow.signed && !wide.signed)) return false;
  return bits < (wide.signed ? wide.bits - 1 : wide.bits);
}

function widenedVector(vector: Vector, type: DataType): Vector {
  const from = vector.type;
  if (isDeepStrictEqual(from, type) || !isNumber(from) || !isNumber(type)) return vector;
  const values = valuesOf(from, vectorPart(vector.data), vector.length);
  const wide = valuesOf(type, new Uint8Array((vector.length * type.bits) / 8), vector.length);
  if (wide instanceof BigInt64Array || wide instanceof BigUint64Array) {
    for (const [row, value] of values.entries()) wide[row] = BigInt(value);
  } else {
    for (const [row, value] of values.entries()) wide[row] = Number(value);
  }
  return { ...vector, type, data: new Uint8Array(wide.buffer, wide.byteOffset, wide.byteLength) };
}

function isNumber(type: DataType): type is NumberType {
  return type.kind === 'int' || type.kind === 'float';
}

function valuesOf(type: NumberType, { buffer, byteOffset, byteLength }: Uint8Array, length: number) {
  const isAligned = byteOffset % (type.bits / 8) === 0;
  const [start, bytes] = isAligned ? [byteOffset, buffer] : [0, buffer.slice(byteOffset, byteOffset + byteLength)];
  return new (arrayOf(type))(bytes as ArrayBuffer, start, length);
}

function arrayOf(type: NumberType) {
  if (type.kind === 'float') return type.bits === 32 ? Float32Array : Float64Array;
  switch (type.bits) {
    case 8:
      return type.signed ? Int8Array : Uint8Array;
    case 16:
      return type.signed ? Int16Array : Uint16Array;
    case 32:
      return type.signed ? Int32Array : Uint32Array;
    case 64:
      return type.signed ? BigInt64Array : BigUint64Array;
    case 128:
      throw new TypeError('numbers of 128 bits are not widened');
    default:
      return type satisfies never;
  }
}
