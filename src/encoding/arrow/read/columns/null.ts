import { bitAt } from './bits.ts';
import type { ArrowColumn } from './column.ts';
import { indexAt } from './dictionary.ts';

/** Whether a value is null, be it by its column, its dictionary or the member of a union. */
export function isNull(column: ArrowColumn, row: number): boolean {
  const { field, validity, dictionary, data, offsets, children } = column;
  if (validity !== null && !bitAt(validity, row)) return true;
  if (dictionary !== undefined) return isNull(dictionary, indexAt(column, row));
  if (field.type.kind !== 'union') return field.type.kind === 'null';
  const member = field.type.typeIds.indexOf(data[row] as number);
  return isNull(children[member] as ArrowColumn, field.type.dense ? (offsets[row] as number) : row);
}
