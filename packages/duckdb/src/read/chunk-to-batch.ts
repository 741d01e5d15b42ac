import { type Batch, type Column, childTypes, type DataType, fixedSizeBytes, type Vector } from '@framehold/columns';
import koffi from 'koffi';
import { api, copyMemory, type Pointer, pointer, releaseArrow } from '../c/c-api.ts';
import { DuckDbError } from '../c/duckdb-error.ts';
import { vectorApi } from '../c/vector-api.ts';
import { clearNulls } from './clear-nulls.ts';
import { enumIndexBytes, enumTexts } from './enum-texts.ts';
import { type FlatLayout, readFlatVector } from './flat-vectors.ts';
import type { NativeSlab } from './native-slab.ts';
import { checkIntervals, holdsIntervals } from './nested-intervals.ts';

/** Fields of the C struct ArrowArray: 80 bytes, ten 8-byte fields. */
const arrowArrayBytes = 80;
const nullCountAt = 8;
const bufferCountAt = 24;
const childCountAt = 32;
const buffersAt = 40;
const childrenAt = 48;
const dictionaryAt = 56;
const releaseAt = 64;
const mostBuffers = 3;

/** A DuckDB chunk as a batch in the slab's memory: one copy a buffer, no object a value. The chunk is destroyed. */
export function chunkToBatch(
  chunk: Pointer,
  arrowOptions: Pointer,
  columns: readonly Column[],
  layouts: readonly FlatLayout[] | undefined,
  slab: NativeSlab,
): Batch {
  return layouts === undefined
    ? throughArrow(chunk, arrowOptions, columns, slab)
    : fromVectors(chunk, columns, layouts, slab);
}

/** DuckDB's own conversion calls several functions for each value. */
function fromVectors(
  chunk: Pointer,
  columns: readonly Column[],
  layouts: readonly FlatLayout[],
  slab: NativeSlab,
): Batch {
  try {
    slab.reset();
    const rows = Number(api.chunkSize(chunk));
    const vectors = columns.map((column, index) =>
      readFlatVector(chunk, index, column, layouts[index] as FlatLayout, rows, slab),
    );
    return { columns, rows, vectors };
  } finally {
    api.destroyChunk([chunk]);
  }
}

function throughArrow(chunk: Pointer, arrowOptions: Pointer, columns: readonly Column[], slab: NativeSlab): Batch {
  const root = Buffer.alloc(arrowArrayBytes);
  const rows = Number(api.chunkSize(chunk));
  slab.reset();
  const intervals = takeIntervals(chunk, columns, rows, slab);
  const error = pointer(api.chunkToArrow(arrowOptions, chunk, root));
  api.destroyChunk([chunk]);
  if (error !== 0n) {
    const message = api.errorMessage(error);
    api.destroyError([error]);
    throw DuckDbError.ofException(message);
  }
  try {
    const children = readAddresses(Number(root.readBigUInt64LE(childrenAt)), columns.length);
    const vectors = columns.map(
      (column, index) => intervals[index] ?? importVector(slab, column.type, children[index] as number, rows),
    );
    return { columns, rows, vectors };
  } finally {
    releaseArrow(root, root.readBigUInt64LE(releaseAt));
  }
}

/** DuckDB's conversion multiplies the microseconds of an interval without a look at the limit. */
function takeIntervals(
  chunk: Pointer,
  columns: readonly Column[],
  rows: number,
  slab: NativeSlab,
): readonly (Vector | undefined)[] {
  try {
    return columns.map((column, index) => {
      if (column.type.kind === 'interval') return readFlatVector(chunk, index, column, 'intervals', rows, slab);
      if (holdsIntervals(column.type)) checkIntervals(vectorApi.chunkVector(chunk, index), column, rows, slab);
      return undefined;
    });
  } catch (error) {
    api.destroyChunk([chunk]);
    throw error;
  }
}

function importVector(slab: NativeSlab, type: DataType, array: number, length: number): Vector {
  copyMemory(scratchAddress, array, arrowArrayBytes);
  const nullCount = scratch.getInt32(nullCountAt, true);
  const childCount = scratch.getInt32(childCountAt, true);
  const childAddresses = addressAt(childrenAt);
  const dictionary = addressAt(dictionaryAt);
  const bufferCount = dictionary === 0 ? bufferCounts[type.kind] : 2;
  if (scratch.getInt32(bufferCountAt, true) !== bufferCount || (dictionary !== 0 && type.kind !== 'utf8')) {
    throw new TypeError(`DuckDB gives a layout that ${type.kind} has not`);
  }
  copyMemory(scratchAddress, addressAt(buffersAt), bufferCount * 8);
  const first = addressAt(0);
  const second = addressAt(8);
  const third = addressAt(16);

  const bitmapBytes = (length + 7) >> 3;
  const hasBitmap = type.kind !== 'union' && type.kind !== 'null' && first !== 0 && nullCount !== 0;
  const validity = hasBitmap ? slab.bytes(first, bitmapBytes) : null;
  const vector = (offsets: Int32Array | null, data: Uint8Array | null, children: readonly Vector[]): Vector => ({
    type,
    length,
    validity,
    offsets,
    data,
    children,
  });
  const values = (width: number): Uint8Array => {
    const data = slab.bytes(second, length * width);
    if (validity !== null) clearNulls(data, width, validity);
    return data;
  };
  const offsetsAt = (address: number): Int32Array =>
    address === 0 ? new Int32Array(length + 1) : slab.int32s(address, length + 1);
  const children = (childLength: number): Vector[] => {
    const types = childTypes(type);
    if (types.length !== childCount) throw new TypeError(`DuckDB gives ${childCount} children in a ${type.kind}`);
    const addresses = readAddresses(childAddresses, childCount);
    return types.map((childType, index) => importVector(slab, childType, addresses[index] as number, childLength));
  };

  if (dictionary !== 0) {
    const values = importVector(slab, type, dictionary, lengthOf(dictionary));
    const indexes = slab.bytes(second, length * enumIndexBytes(values.length));
    const { offsets, data } = enumTexts(values, indexes, length, validity);
    return vector(offsets, data, []);
  }
  switch (type.kind) {
    case 'null':
      return { type, length, validity: new Uint8Array(bitmapBytes), offsets: null, data: null, children: [] };
    case 'boolean': {
      const bits = slab.bytes(second, bitmapBytes);
      for (const [index, present] of (validity ?? []).entries()) bits[index] = (bits[index] as number) & present;
      const lastBits = length & 7;
      if (lastBits > 0) bits[bitmapBytes - 1] = (bits[bitmapBytes - 1] as number) & ((1 << lastBits) - 1);
      return vector(null, bits, []);
    }
    case 'int':
    case 'float':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'decimal':
    case 'interval':
      return vector(null, values(fixedSizeBytes(type)), []);
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary': {
      const offsets = offsetsAt(second);
      return vector(offsets, slab.bytes(third, offsets[length] as number), []);
    }
    case 'list':
    case 'map': {
      const offsets = offsetsAt(second);
      return vector(offsets, null, children(offsets[length] as number));
    }
    case 'array':
      return vector(null, null, children(length * type.size));
    case 'struct':
      return vector(null, null, children(length));
    case 'union':
      return vector(null, slab.bytes(first, length), children(length));
    default: {
      (type) satisfies never;
      throw new Error('unreachable');
    }
  }
}

const bufferCounts = {
  null: 0,
  boolean: 2,
  int: 2,
  float: 2,
  decimal: 2,
  date: 2,
  time: 2,
  timestamp: 2,
  interval: 2,
  utf8: 3,
  json: 3,
  uuid: 3,
  binary: 3,
  list: 2,
  map: 2,
  array: 1,
  struct: 1,
  union: 1,
} as const satisfies Record<DataType['kind'], number>;

/** Holds one struct at a time; all that is needed of it is read before the next. */
const scratchMemory = new ArrayBuffer(Math.max(arrowArrayBytes, mostBuffers * 8));
const scratch = new DataView(scratchMemory);
const scratchAddress = Number(koffi.address(scratchMemory));

/** An address in the scratch memory. Addresses have at most 48 bits, and numbers are cheaper than bigints. */
function addressAt(at: number): number {
  return scratch.getUint32(at, true) + scratch.getUint32(at + 4, true) * 2 ** 32;
}

function lengthOf(array: number): number {
  copyMemory(scratchAddress, array, 8);
  return scratch.getInt32(0, true);
}

function readAddresses(at: number, count: number): number[] {
  const addresses: number[] = [];
  for (let index = 0; index < count; index++) {
    copyMemory(scratchAddress, at + index * 8, 8);
    addresses.push(addressAt(0));
  }
  return addresses;
}
