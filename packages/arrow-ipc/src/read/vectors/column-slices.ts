import { valueBytes } from '../../types/arrow-type.ts';
import { isPresent, sliceBits } from '../columns/bits.ts';
import { type ArrowColumn, int32View } from '../columns/column.ts';
import { indexAt } from '../columns/dictionary.ts';
import { maxBodyBytes } from '../format/messages.ts';
import { type ReceivedField, unsupported } from '../format/schema.ts';

const mostBytes = 8 * 1024 * 1024;

/**
 * Cuts rows into slices whose expanded values fit into memory: a few bytes of dictionaries, views and nulls may expand to many.
 * The last end is that of all rows.
 */
export function sliceEnds(columns: readonly ArrowColumn[], rows: number, mostRows = 8192): number[] {
  const ends: number[] = [];
  let count = mostRows;
  for (let from = 0; from < rows; from += count) {
    count = Math.min(count * 2, mostRows, rows - from);
    while (count > 1 && bytesOfColumns(columns, from, from + count, mostBytes) > mostBytes) count >>= 1;
    const tooLarge =
      count === 1 && columns.find((column) => bytesOfRows(column, from, from + 1, maxBodyBytes) > maxBodyBytes);
    if (tooLarge) throw unsupported(tooLarge.field, `a list with too many elements (row ${from})`);
    ends.push(from + count);
  }
  return ends;
}

/** Whether its values may take more bytes than they have in the message. */
export function isFolded({ field, dictionary, children }: ArrowColumn): boolean {
  const { type } = field;
  const isPointed = type.kind === 'view' || (type.kind === 'union' && type.dense);
  return isPointed || dictionary !== undefined || children.some(isFolded);
}

/** The rows [from, to) of a column. */
export function sliceColumn(column: ArrowColumn, from: number, to: number): ArrowColumn {
  const { field, data, validity, children, firstRow = 0 } = column;
  const { type } = field;
  const length = to - from;
  const base = {
    ...column,
    length,
    firstRow: firstRow + from,
    validity: validity === null ? null : sliceBits(validity, from, length),
  };
  const values = (width: number): ArrowColumn => ({ ...base, data: data.subarray(from * width, to * width) });
  const withChildren = (first: number, end: number): ArrowColumn => {
    return { ...base, children: children.map((child) => sliceColumn(child, first, end)) };
  };
  if (field.dictionary !== undefined) return values(field.dictionary.index.bits / 8);
  switch (type.kind) {
    case 'null':
      return base;
    case 'bool':
      return { ...base, data: sliceBits(data, from, length) };
    case 'bytes':
    case 'list':
    case 'map': {
      const offsets = column.offsets.slice(from, to + 1);
      const first = offsets[0] as number;
      const end = offsets[length] as number;
      for (let row = 0; row <= length; row++) offsets[row] = (offsets[row] as number) - first;
      return type.kind === 'bytes'
        ? { ...base, offsets, data: data.subarray(first, end) }
        : { ...withChildren(first, end), offsets };
    }
    case 'struct':
      return withChildren(from, to);
    case 'fixedList':
      return withChildren(from * type.size, to * type.size);
    case 'union': {
      const members = data.subarray(from, to);
      // The offsets of a dense one may point to any value of a member.
      if (type.dense) return { ...base, data: members, offsets: column.offsets.subarray(from, to) };
      return { ...withChildren(from, to), data: members };
    }
    default:
      return values(valueBytes(type));
  }
}

/**
 * The bytes of rows [from, to), with each value of a dictionary and each view counted per use. Ends early beyond `most`: nested
 * dictionaries can expand to more values than can be counted.
 */
function bytesOfRows(column: ArrowColumn, from: number, to: number, most: number): number {
  const { field, validity, data, offsets, children, dictionary } = column;
  const { type } = field;
  const least = vectorBytes(field);
  const counted = (sizeAt: (row: number, left: number) => number): number => {
    let bytes = 0;
    for (let row = from; row < to && bytes <= most; row++) {
      bytes += least + (isPresent(validity, row) ? sizeAt(row, most - bytes) : 0);
    }
    return bytes;
  };
  if (dictionary !== undefined) {
    return counted((row, left) => {
      const index = indexAt(column, row);
      return bytesOfRows(dictionary, index, index + 1, left);
    });
  }
  switch (type.kind) {
    case 'bytes':
      return (to - from) * least + (offsets[to] as number) - (offsets[from] as number);
    case 'view': {
      const words = int32View(data, to * 4);
      return counted((row) => words[row * 4] as number);
    }
    case 'list':
    case 'map':
      return (to - from) * least + bytesOfColumns(children, offsets[from] as number, offsets[to] as number, most);
    case 'fixedList':
      return bytesOfColumns(children, from * type.size, to * type.size, most);
    case 'struct':
      return bytesOfColumns(children, from, to, most);
    case 'union':
      if (!type.dense) return to - from + bytesOfColumns(children, from, to, most);
      return counted((row, left) => {
        const member = children[type.typeIds.indexOf(data[row] as number)] as ArrowColumn;
        const at = offsets[row] as number;
        return bytesOfRows(member, at, at + 1, left);
      });
    default:
      return (to - from) * least;
  }
}

function bytesOfColumns(columns: readonly ArrowColumn[], from: number, to: number, most: number): number {
  let bytes = 0;
  for (const column of columns) {
    if (bytes <= most) bytes += bytesOfRows(column, from, to, most - bytes);
  }
  return bytes;
}

/** Bytes that a value takes in a vector of DuckDB. The values that a list points to count as one. */
export function vectorBytes({ type, children }: ReceivedField): number {
  const ofChildren = (): number => children.reduce((sum, child) => sum + vectorBytes(child), 0);
  switch (type.kind) {
    case 'bool':
      return 1;
    case 'null':
      return 4;
    case 'int':
      return type.bits / 8;
    case 'float':
      return type.bits === 64 ? 8 : 4;
    case 'list':
    case 'map':
      return 16 + ofChildren();
    case 'fixedList':
      return type.size * ofChildren();
    case 'struct':
      return ofChildren();
    case 'union':
      return 1 + ofChildren();
    default:
      return 16;
  }
}
