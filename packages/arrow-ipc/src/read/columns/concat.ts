import { joinBytes } from '@framehold/columns';
import { valueBytes } from '../../types/arrow-type.ts';
import { InvalidArrow } from '../format/flatbuffer-reader.ts';
import { allBits, bitAt, clearBit, isPresent } from './bits.ts';
import { type ArrowColumn, int32View, noOffsets } from './column.ts';

const maxRows = 2 ** 31 - 1;
const maxOffset = 2 ** 31 - 1;

/** Columns of one field behind each other: a dictionary and its deltas. */
export function concatColumns(parts: readonly ArrowColumn[]): ArrowColumn {
  const [first] = parts;
  if (first === undefined) throw new Error('nothing to join');
  if (parts.length === 1) return first;
  const { field } = first;
  const { type } = field;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length > maxRows) throw new InvalidArrow(`${field.label} has a dictionary of more than ${maxRows} values`);
  const base = { field, length, validity: joinValidity(parts, length), dictionary: joinDictionaries(parts) };
  const joinChildren = (): ArrowColumn[] =>
    field.children.map((_, index) => concatColumns(parts.map((part) => part.children[index] as ArrowColumn)));
  const fixed = (bytes: number): ArrowColumn => {
    const data = joinBytes(parts.map((part) => part.data.subarray(0, part.length * bytes)));
    return { ...base, data, offsets: noOffsets, viewed: [], children: [] };
  };

  if (field.dictionary !== undefined) return fixed(field.dictionary.index.bits / 8);
  switch (type.kind) {
    case 'bool':
      return { ...base, data: joinBits(parts, length), offsets: noOffsets, viewed: [], children: [] };
    case 'bytes': {
      const data = joinBytes(parts.map(({ data, offsets, length }) => data.subarray(offsets[0], offsets[length])));
      return { ...base, data, offsets: joinOffsets(parts), viewed: [], children: [] };
    }
    case 'view':
      return { ...fixed(16), data: joinViews(parts), viewed: parts.flatMap((part) => part.viewed) };
    case 'null':
      return fixed(0);
    case 'list':
    case 'map':
      return { ...fixed(0), offsets: joinOffsets(parts), children: [concatColumns(parts.map(elements))] };
    case 'struct':
    case 'fixedList':
      return { ...fixed(0), children: trimmed(parts, type.kind === 'struct' ? 1 : type.size) };
    case 'union': {
      if (!type.dense) return { ...fixed(1), children: trimmed(parts, 1) };
      return { ...fixed(1), offsets: joinUnionOffsets(parts, type.typeIds), children: joinChildren() };
    }
    default:
      return fixed(valueBytes(type));
  }
}

/** Children may be longer than their parent's rows need, which would shift the next part. */
function trimmed(parts: readonly ArrowColumn[], perRow: number): ArrowColumn[] {
  const fields = (parts[0] as ArrowColumn).field.children;
  return fields.map((_, index) =>
    concatColumns(parts.map((part) => ({ ...(part.children[index] as ArrowColumn), length: part.length * perRow }))),
  );
}

function joinValidity(parts: readonly ArrowColumn[], length: number): Uint8Array | null {
  if (parts.every((part) => part.validity === null)) return null;
  const out = allBits(length);
  eachRow(parts, (part, row, at) => {
    if (!isPresent(part.validity, row)) clearBit(out, at);
  });
  return out;
}

function joinBits(parts: readonly ArrowColumn[], length: number): Uint8Array {
  const out = allBits(length);
  eachRow(parts, (part, row, at) => {
    if (!bitAt(part.data, row)) clearBit(out, at);
  });
  return out;
}

/** The elements of a column of lists, without those behind its last list. */
function elements({ field, length, offsets, children }: ArrowColumn): ArrowColumn {
  if (offsets[0] !== 0) throw new InvalidArrow(`${field.label} has a dictionary whose lists do not start at 0`);
  return { ...(children[0] as ArrowColumn), length: offsets[length] as number };
}

function joinOffsets(parts: readonly ArrowColumn[]): Int32Array {
  const out = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0) + 1);
  let at = 0;
  for (const { length, offsets } of parts) {
    const shift = (out[at] as number) - (offsets[0] as number);
    if (shift + (offsets[length] as number) > maxOffset) throw new InvalidArrow('a dictionary is longer than 2 GiB');
    for (let row = 1; row <= length; row++) out[at + row] = (offsets[row] as number) + shift;
    at += length;
  }
  return out;
}

function joinUnionOffsets(parts: readonly ArrowColumn[], typeIds: readonly number[]): Int32Array {
  const out = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  const bases = new Map(typeIds.map((id) => [id, 0]));
  let at = 0;
  for (const part of parts) {
    for (let row = 0; row < part.length; row++) {
      out[at++] = (part.offsets[row] as number) + (bases.get(part.data[row] as number) ?? 0);
    }
    typeIds.forEach((id, index) => {
      bases.set(id, (bases.get(id) ?? 0) + (part.children[index] as ArrowColumn).length);
    });
  }
  return out;
}

function joinViews(parts: readonly ArrowColumn[]): Uint8Array {
  const data = joinBytes(parts.map((part) => part.data.subarray(0, part.length * 16)));
  const words = int32View(data, data.length / 4);
  let at = 0;
  let buffers = 0;
  for (const part of parts) {
    for (let row = 0; row < part.length; row++, at += 4) {
      if ((words[at] as number) > 12) words[at + 2] = (words[at + 2] as number) + buffers;
    }
    buffers += part.viewed.length;
  }
  return data;
}

function joinDictionaries(parts: readonly ArrowColumn[]): ArrowColumn | undefined {
  const [first] = parts;
  for (const part of parts) {
    if (part.dictionary !== first?.dictionary) {
      throw new InvalidArrow(`${part.field.label} has a dictionary within a dictionary that changes`);
    }
  }
  return first?.dictionary;
}

function eachRow(parts: readonly ArrowColumn[], visit: (part: ArrowColumn, row: number, at: number) => void): void {
  let at = 0;
  for (const part of parts) for (let row = 0; row < part.length; row++) visit(part, row, at++);
}
