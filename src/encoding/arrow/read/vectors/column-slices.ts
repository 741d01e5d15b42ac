import { bitAt, sliceBits } from '../columns/bits.ts';
import { type ArrowColumn, int32View, valueBytes } from '../columns/column.ts';
import { indexAt } from '../columns/dictionary.ts';
import type { ArrowType } from '../format/schema.ts';

const nestedKinds: ReadonlySet<ArrowType['kind']> = new Set(['list', 'fixedList', 'map', 'struct', 'union']);
const mostRows = 8192;
const mostBytes = 8 * 1024 * 1024;

/**
 * Where rows are cut apart, so that what dictionaries and views stand for can be held: few bytes of them may stand for
 * many. The last end is that of all rows.
 */
export function sliceEnds(columns: readonly ArrowColumn[], rows: number): number[] {
  if (columns.some(({ field }) => nestedKinds.has(field.type.kind))) return [rows];
  const sizes = columns.map(unfoldedSize).filter((size) => size !== undefined);
  if (sizes.length === 0) return [rows];
  const ends: number[] = [];
  let from = 0;
  let bytes = 0;
  for (let row = 0; row < rows; row++) {
    let size = 0;
    for (const sizeAt of sizes) size += sizeAt(row);
    if (row > from && (row - from === mostRows || bytes + size > mostBytes)) {
      ends.push(row);
      from = row;
      bytes = 0;
    }
    bytes += size;
  }
  ends.push(rows);
  return ends;
}

/** The rows [from, to) of a column without children. */
export function sliceColumn(column: ArrowColumn, from: number, to: number): ArrowColumn {
  const { field, data, validity } = column;
  const length = to - from;
  const base = { ...column, length, validity: validity === null ? null : sliceBits(validity, from, length) };
  const values = (width: number): ArrowColumn => ({ ...base, data: data.subarray(from * width, to * width) });
  if (field.dictionary !== undefined) return values(field.dictionary.index.bits / 8);
  switch (field.type.kind) {
    case 'null':
      return base;
    case 'bool':
      return { ...base, data: sliceBits(data, from, length) };
    case 'bytes': {
      const offsets = column.offsets.slice(from, to + 1);
      const start = offsets[0] as number;
      for (let row = 0; row <= length; row++) offsets[row] = (offsets[row] as number) - start;
      return { ...base, offsets, data: data.subarray(start, start + (offsets[length] as number)) };
    }
    default:
      return values(valueBytes(field.type));
  }
}

type SizeAt = (row: number) => number;

/** The bytes that a row becomes; undefined where it has them already. */
function unfoldedSize(column: ArrowColumn): SizeAt | undefined {
  const { dictionary, validity, field } = column;
  if (dictionary === undefined) return field.type.kind === 'view' ? sizeOf(column) : undefined;
  const size = sizeOf(dictionary);
  return (row) => (validity === null || bitAt(validity, row) ? size(indexAt(column, row)) : 0);
}

function sizeOf({ field, offsets, data, length, validity }: ArrowColumn): SizeAt {
  switch (field.type.kind) {
    case 'bytes':
      return (row) => (offsets[row + 1] as number) - (offsets[row] as number);
    case 'view': {
      const words = int32View(data, length * 4);
      return (row) => (validity === null || bitAt(validity, row) ? (words[row * 4] as number) : 0);
    }
    case 'null':
    case 'bool':
      return () => 1;
    default: {
      const bytes = valueBytes(field.type);
      return () => bytes;
    }
  }
}
