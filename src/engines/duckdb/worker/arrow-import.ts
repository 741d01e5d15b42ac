import type { Batch, Vector } from '../../../core/batch.ts';
import type { Column, DataType } from '../../../core/data-type.ts';
import { api, copyFromNative, type Pointer, pointer, releaseArrow } from './c-api.ts';

/** Fields of the C struct ArrowArray: 80 bytes, ten 8-byte fields. */
const arrowArrayBytes = 80;
const buffersAt = 40;
const childrenAt = 48;
const releaseAt = 64;

/** A DuckDB chunk as a batch in our memory: one copy a buffer, no object a value. The chunk is destroyed. */
export function importChunk(chunk: Pointer, arrowOptions: Pointer, columns: readonly Column[]): Batch {
  const root = Buffer.alloc(arrowArrayBytes);
  const rows = Number(api.chunkSize(chunk));
  const error = pointer(api.chunkToArrow(arrowOptions, chunk, root));
  api.destroyChunk([chunk]);
  if (error !== 0n) {
    const message = api.errorMessage(error);
    api.destroyError([error]);
    throw new Error(message);
  }
  try {
    const children = readPointers(root.readBigUInt64LE(childrenAt), columns.length);
    const vectors = columns.map((column, index) => importVector(column.type, children[index] as Pointer, rows));
    return { columns, rows, vectors };
  } finally {
    releaseArrow(root, root.readBigUInt64LE(releaseAt));
  }
}

function importVector(type: DataType, array: Pointer, length: number): Vector {
  const struct = Buffer.allocUnsafe(arrowArrayBytes);
  copyFromNative(struct, array, arrowArrayBytes);
  const nullCount = Number(struct.readBigInt64LE(8));
  const bufferCount = Number(struct.readBigInt64LE(24));
  const childCount = Number(struct.readBigInt64LE(32));
  const buffers = readPointers(struct.readBigUInt64LE(buffersAt), bufferCount);
  const children = readPointers(struct.readBigUInt64LE(childrenAt), childCount);

  const hasValidity = type.kind !== 'union' && type.kind !== 'null';
  const validityPointer = hasValidity ? (buffers[0] ?? 0n) : 0n;
  const validity = validityPointer === 0n || nullCount === 0 ? null : copyBytes(validityPointer, Math.ceil(length / 8));
  const vector = (offsets: Int32Array | null, data: Uint8Array | null, kids: readonly Vector[]): Vector => ({
    type,
    length,
    validity,
    offsets,
    data,
    children: kids,
  });

  switch (type.kind) {
    case 'null':
      return { type, length, validity: new Uint8Array(Math.ceil(length / 8)), offsets: null, data: null, children: [] };
    case 'boolean':
      return vector(null, copyBytes(buffers[1] as Pointer, Math.ceil(length / 8)), []);
    case 'int':
    case 'float':
      return vector(null, copyBytes(buffers[1] as Pointer, length * (type.bits / 8)), []);
    case 'date':
      return vector(null, copyBytes(buffers[1] as Pointer, length * 4), []);
    case 'time':
    case 'timestamp':
      return vector(null, copyBytes(buffers[1] as Pointer, length * 8), []);
    case 'decimal':
    case 'interval':
      return vector(null, copyBytes(buffers[1] as Pointer, length * 16), []);
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary': {
      const offsets = copyOffsets(buffers[1] as Pointer, length);
      return vector(offsets, copyBytes(buffers[2] as Pointer, offsets[length] ?? 0), []);
    }
    case 'list': {
      const offsets = copyOffsets(buffers[1] as Pointer, length);
      return vector(offsets, null, [importVector(type.element, children[0] as Pointer, offsets[length] ?? 0)]);
    }
    case 'map': {
      const offsets = copyOffsets(buffers[1] as Pointer, length);
      const fields = [
        { name: 'key', type: type.key },
        { name: 'value', type: type.value },
      ];
      const entries = importVector({ kind: 'struct', fields }, children[0] as Pointer, offsets[length] ?? 0);
      return vector(offsets, null, [entries]);
    }
    case 'array':
      return vector(null, null, [importVector(type.element, children[0] as Pointer, length * type.size)]);
    case 'struct':
      return vector(
        null,
        null,
        type.fields.map((field, index) => importVector(field.type, children[index] as Pointer, length)),
      );
    case 'union':
      return vector(
        null,
        copyBytes(buffers[0] as Pointer, length),
        type.members.map((member, index) => importVector(member.type, children[index] as Pointer, length)),
      );
    default:
      (type) satisfies never;
      throw new Error('unreachable');
  }
}

function readPointers(at: Pointer, count: number): Pointer[] {
  if (count === 0 || at === 0n) return [];
  const bytes = copyBytes(at, count * 8);
  return Array.from({ length: count }, (_, index) => bytes.readBigUInt64LE(index * 8));
}

/** The copy starts its own memory, so that typed arrays of any width can view it. */
function copyBytes(from: Pointer, bytes: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes);
  if (bytes > 0) copyFromNative(copy, from, bytes);
  return copy;
}

function copyOffsets(from: Pointer, length: number): Int32Array {
  if (from === 0n) return new Int32Array(length + 1);
  const bytes = copyBytes(from, (length + 1) * 4);
  return new Int32Array(bytes.buffer, bytes.byteOffset, length + 1);
}
