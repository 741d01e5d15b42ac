import { isUtf8 } from 'node:buffer';
import { InvalidArrow } from '../format/flatbuffer-reader.ts';
import type { UnfoldBudget } from '../format/unfold-budget.ts';
import { isPresent } from './bits.ts';
import { checkJson, checkStrings } from './check-text.ts';
import { type ArrowColumn, int32View } from './column.ts';
import { checkMapKeys } from './map-keys.ts';

const inlineBytes = 12;

/** Refuses values that DuckDB would follow out of bounds, or accept and fail on later. The children are checked already. */
export function checkColumn(column: ArrowColumn, budget: UnfoldBudget): void {
  const { type } = column.field;
  if (column.dictionary !== undefined) return;
  switch (type.kind) {
    case 'bytes':
      checkOffsets(column, column.data.length);
      if (type.text) checkStrings(column);
      return;
    case 'view':
      checkViews(column, type.text, budget);
      return;
    case 'list':
    case 'map':
      checkOffsets(column, (column.children[0] as ArrowColumn).length);
      if (type.kind === 'map') checkMapKeys(column);
      return;
    case 'struct':
      checkChildLengths(column, column.length);
      return;
    case 'fixedList':
      checkChildLengths(column, column.length * type.size);
      return;
    case 'union':
      if (type.dense) checkDenseUnion(column, type.typeIds);
      else {
        checkChildLengths(column, column.length);
        checkTypeIds(column, type.typeIds);
      }
      return;
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
    case 'decimal':
    case 'fixedBytes':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
    case 'interval':
      return;
    default:
      (type) satisfies never;
  }
}

function checkOffsets({ field, length, offsets }: ArrowColumn, end: number): void {
  let before = 0;
  for (let row = 0; row <= length; row++) {
    const offset = offsets[row] as number;
    if (offset < before) throw new InvalidArrow(`${field.label} has offsets that go back at row ${row}`);
    before = offset;
  }
  if (before > end) throw new InvalidArrow(`${field.label} has offsets outside its data`);
}

function checkChildLengths({ field, children }: ArrowColumn, length: number): void {
  for (const child of children) {
    if (child.length < length)
      throw new InvalidArrow(`${field.label} has a child of ${child.length} values, not ${length}`);
  }
}

function checkTypeIds({ field, length, data }: ArrowColumn, typeIds: readonly number[]): void {
  const known = new Uint8Array(256);
  for (const id of typeIds) known[id] = 1;
  for (let row = 0; row < length; row++) {
    if (known[data[row] as number] === 0) throw new InvalidArrow(`${field.label} has an unknown type id at row ${row}`);
  }
}

function checkDenseUnion(column: ArrowColumn, typeIds: readonly number[]): void {
  checkTypeIds(column, typeIds);
  const lengths = new Map(typeIds.map((id, index) => [id, (column.children[index] as ArrowColumn).length]));
  for (let row = 0; row < column.length; row++) {
    const offset = column.offsets[row] as number;
    if (offset < 0 || offset >= (lengths.get(column.data[row] as number) as number)) {
      throw new InvalidArrow(`${column.field.label} points outside its member at row ${row}`);
    }
  }
}

function checkViews({ field, length, validity, data, viewed }: ArrowColumn, text: boolean, budget: UnfoldBudget): void {
  const words = int32View(data, length * 4);
  for (let row = 0; row < length; row++) {
    if (!isPresent(validity, row)) continue;
    const bytes = words[row * 4] as number;
    let value: Uint8Array;
    if (bytes >= 0 && bytes <= inlineBytes) {
      value = data.subarray(row * 16 + 4, row * 16 + 4 + bytes);
    } else {
      const source = viewed[words[row * 4 + 2] as number];
      const offset = words[row * 4 + 3] as number;
      if (bytes < 0 || source === undefined || offset < 0 || offset + bytes > source.length) {
        throw new InvalidArrow(`${field.label} points outside its data at row ${row}`);
      }
      budget.take(bytes, 'has views of');
      value = source.subarray(offset, offset + bytes);
    }
    if (text && !isUtf8(value)) throw new InvalidArrow(`${field.label} is not UTF-8 at row ${row}`);
    if (text && field.extension === 'arrow.json') checkJson(field.label, value, row);
  }
}
