import { CodedError, copyBytes, fixedSizeBytes, type Vector, vectorPart } from '@framehold/columns';
import { allBits, bitAt, clearBit, isPresent } from '../columns/bits.ts';
import { maxBodyBytes } from '../format/messages.ts';

const mostElements = 2 ** 26;

/** The rows of a vector that `at` lists, in its order; -1 gives a null. */
export function gatherVector(vector: Vector, at: Int32Array): Vector {
  const { type, children } = vector;
  const base = { type, length: at.length, validity: validityOf(vector, at), offsets: null, data: null, children: [] };
  switch (type.kind) {
    case 'null':
      return { ...base, validity: new Uint8Array((at.length + 7) >> 3) };
    case 'boolean':
      return { ...base, data: gatheredBits(vectorPart(vector.data), at) };
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary':
      return { ...base, ...gatheredBytes(vector, at) };
    case 'list':
    case 'map': {
      const { offsets, elements } = gatheredElements(vectorPart(vector.offsets), at);
      return { ...base, offsets, children: [gatherVector(vectorPart(children[0]), elements)] };
    }
    case 'array':
      return { ...base, children: [gatherVector(vectorPart(children[0]), arrayElements(at, type.size))] };
    case 'struct':
      return { ...base, children: children.map((child) => gatherVector(child, at)) };
    case 'union':
      return {
        ...base,
        validity: null,
        data: gatheredValues(vectorPart(vector.data), 1, at),
        children: children.map((child) => gatherVector(child, at)),
      };
    default:
      return { ...base, data: gatheredValues(vectorPart(vector.data), fixedSizeBytes(type), at) };
  }
}

function validityOf({ validity }: Vector, at: Int32Array): Uint8Array | null {
  let bits: Uint8Array | null = null;
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    if (row >= 0 && isPresent(validity, row)) continue;
    bits ??= allBits(at.length);
    clearBit(bits, index);
  }
  return bits;
}

function gatheredBits(bits: Uint8Array, at: Int32Array): Uint8Array {
  const out = allBits(at.length);
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    if (row < 0 || !bitAt(bits, row)) clearBit(out, index);
  }
  return out;
}

function gatheredValues(data: Uint8Array, width: number, at: Int32Array): Uint8Array {
  if (at.length * width > maxBodyBytes) throw tooLarge();
  const out = new Uint8Array(at.length * width);
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    if (row < 0) continue;
    for (let n = 0; n < width; n++) out[index * width + n] = data[row * width + n] as number;
  }
  return out;
}

function gatheredBytes(vector: Vector, at: Int32Array): Pick<Vector, 'offsets' | 'data'> {
  const from = vectorPart(vector.offsets);
  const data = vectorPart(vector.data);
  const offsets = new Int32Array(at.length + 1);
  let bytes = 0;
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    if (row >= 0) bytes += (from[row + 1] as number) - (from[row] as number);
    if (bytes > maxBodyBytes) throw tooLarge();
    offsets[index + 1] = bytes;
  }
  const out = new Uint8Array(bytes);
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    const start = offsets[index] as number;
    if (row >= 0) copyBytes(data, from[row] as number, out, start, (offsets[index + 1] as number) - start);
  }
  return { offsets, data: out };
}

function gatheredElements(from: Int32Array, at: Int32Array): { offsets: Int32Array; elements: Int32Array } {
  const offsets = new Int32Array(at.length + 1);
  let count = 0;
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    if (row >= 0) count += (from[row + 1] as number) - (from[row] as number);
    if (count > mostElements) throw tooLarge();
    offsets[index + 1] = count;
  }
  const elements = new Int32Array(count);
  let filled = 0;
  for (const row of at) {
    if (row < 0) continue;
    for (let element = from[row] as number; element < (from[row + 1] as number); element++) {
      elements[filled++] = element;
    }
  }
  return { offsets, elements };
}

function arrayElements(at: Int32Array, size: number): Int32Array {
  if (at.length * size > mostElements) throw tooLarge();
  const elements = new Int32Array(at.length * size);
  for (let index = 0; index < elements.length; index++) {
    const row = at[Math.floor(index / size)] as number;
    elements[index] = row < 0 ? -1 : row * size + (index % size);
  }
  return elements;
}

/** A dictionary can make many long values out of few bytes. */
function tooLarge(): CodedError {
  return new CodedError('too_large', 'a record batch unfolds to more values than can be held', {
    hint: 'have the rows sent in smaller record batches',
  });
}
