import { valueBytes } from '../../types/arrow-type.ts';
import { InvalidArrow } from '../format/flatbuffer-reader.ts';
import { bitAt, isPresent } from './bits.ts';
import { type ArrowColumn, int32View } from './column.ts';
import { indexAt } from './dictionary.ts';

/** DuckDB refuses to read a map with a null key or a key twice, so none may get in. */
export function checkMapKeys({ field, length, validity, offsets, children }: ArrowColumn): void {
  const entries = children[0] as ArrowColumn;
  const keys = entries.children[0] as ArrowColumn;
  for (let row = 0; row < length; row++) {
    if (!isPresent(validity, row)) continue;
    const from = offsets[row] as number;
    const to = offsets[row + 1] as number;
    const seen = new Set<string>();
    for (let entry = from; entry < to; entry++) {
      if (isNull(entries, entry) || isNull(keys, entry)) {
        throw new InvalidArrow(`${field.label} has a null key at row ${row}`);
      }
      if (to - from > 1) seen.add(valueText(keys, entry));
    }
    if (to - from > 1 && seen.size < to - from) throw new InvalidArrow(`${field.label} has a key twice at row ${row}`);
  }
}

/** Whether a value is null, be it by its column, its dictionary or the member of a union. */
function isNull(column: ArrowColumn, row: number): boolean {
  const { field, validity, dictionary, data, offsets, children } = column;
  if (!isPresent(validity, row)) return true;
  if (dictionary !== undefined) return isNull(dictionary, indexAt(column, row));
  if (field.type.kind !== 'union') return field.type.kind === 'null';
  const member = field.type.typeIds.indexOf(data[row] as number);
  return isNull(children[member] as ArrowColumn, field.type.dense ? (offsets[row] as number) : row);
}

/** A text that two values of a column share when they are the same. */
function valueText(column: ArrowColumn, row: number): string {
  return isNull(column, row) ? '' : `=${presentText(column, row)}`;
}

function presentText(column: ArrowColumn, row: number): string {
  const { data, offsets, children, viewed } = column;
  if (column.dictionary !== undefined) return presentText(column.dictionary, indexAt(column, row));
  const { type } = column.field;
  switch (type.kind) {
    case 'bool':
      return bitAt(data, row) ? '1' : '0';
    case 'bytes':
      return latin1(data.subarray(offsets[row], offsets[row + 1]));
    case 'view': {
      const words = int32View(data, (row + 1) * 4);
      const bytes = words[row * 4] as number;
      if (bytes <= 12) return latin1(data.subarray(row * 16 + 4, row * 16 + 4 + bytes));
      const from = words[row * 4 + 3] as number;
      return latin1((viewed[words[row * 4 + 2] as number] as Uint8Array).subarray(from, from + bytes));
    }
    case 'struct':
      return JSON.stringify(children.map((child) => valueText(child, row)));
    case 'list':
    case 'map':
      return rangeText(children[0] as ArrowColumn, offsets[row] as number, offsets[row + 1] as number);
    case 'fixedList':
      return rangeText(children[0] as ArrowColumn, row * type.size, (row + 1) * type.size);
    case 'union': {
      const member = type.typeIds.indexOf(data[row] as number);
      const at = type.dense ? (offsets[row] as number) : row;
      return JSON.stringify([member, valueText(children[member] as ArrowColumn, at)]);
    }
    default: {
      const bytes = valueBytes(type);
      return latin1(data.subarray(row * bytes, (row + 1) * bytes));
    }
  }
}

function rangeText(column: ArrowColumn, from: number, to: number): string {
  return JSON.stringify(Array.from({ length: to - from }, (_, index) => valueText(column, from + index)));
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
