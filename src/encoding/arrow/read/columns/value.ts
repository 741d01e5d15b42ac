import { bitAt } from './bits.ts';
import type { ArrowColumn } from './column.ts';
import { indexAt } from './dictionary.ts';

/**
 * One value as JavaScript has it: bigint for integers, decimals without their point, and counts of days or time; number for
 * floats; string, Uint8Array, boolean; an array for a list; [months, days, nanoseconds] for an interval; an object by field
 * name for a struct, entries for a map; null. Nothing of it is a view of the column.
 */
export function valueAt(column: ArrowColumn, row: number): unknown {
  const { field, validity, data, offsets, children } = column;
  const { type } = field;
  if (type.kind === 'null' || (validity !== null && !bitAt(validity, row))) return null;
  if (column.dictionary !== undefined) return valueAt(column.dictionary, indexAt(column, row));
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  switch (type.kind) {
    case 'bool':
      return bitAt(data, row);
    case 'int':
      return integerAt(data, row, type.bits / 8, type.signed);
    case 'float':
      if (type.bits === 16) return halfFloat(view.getUint16(row * 2, true));
      return type.bits === 32 ? view.getFloat32(row * 4, true) : view.getFloat64(row * 8, true);
    case 'decimal':
      return integerAt(data, row, type.bits / 8, true);
    case 'bytes': {
      const bytes = data.subarray(offsets[row], offsets[row + 1]);
      return type.text ? Buffer.from(bytes).toString() : new Uint8Array(bytes);
    }
    case 'view': {
      const bytes = viewedBytes(column, row);
      return type.text ? Buffer.from(bytes).toString() : new Uint8Array(bytes);
    }
    case 'fixedBytes':
      return new Uint8Array(data.subarray(row * type.width, (row + 1) * type.width));
    case 'date':
      return integerAt(data, row, type.unit === 'day' ? 4 : 8, true);
    case 'time':
      return integerAt(data, row, type.unit === 's' || type.unit === 'ms' ? 4 : 8, true);
    case 'timestamp':
    case 'duration':
      return integerAt(data, row, 8, true);
    case 'interval':
      return intervalAt(view, row, type.unit);
    case 'list':
      return childValues(children[0], offsets[row] ?? 0, offsets[row + 1] ?? 0);
    case 'fixedList':
      return childValues(children[0], row * type.size, (row + 1) * type.size);
    case 'struct':
      return Object.fromEntries(children.map((child) => [child.field.name, valueAt(child, row)]));
    case 'map': {
      const [key, value] = children[0]?.children ?? [];
      const [from, to] = [offsets[row] ?? 0, offsets[row + 1] ?? 0];
      const values = childValues(value, from, to);
      return childValues(key, from, to).map((each, index) => [each, values[index]]);
    }
    case 'union': {
      const member = children[type.typeIds.indexOf(data[row] ?? -1)];
      return member === undefined ? null : valueAt(member, type.dense ? (offsets[row] ?? 0) : row);
    }
    default:
      return type satisfies never;
  }
}

function childValues(child: ArrowColumn | undefined, from: number, to: number): unknown[] {
  if (child === undefined) return [];
  return Array.from({ length: to - from }, (_, index) => valueAt(child, from + index));
}

function integerAt(data: Uint8Array, row: number, width: number, signed: boolean): bigint {
  let value = 0n;
  for (let byte = width - 1; byte >= 0; byte--) value = (value << 8n) | BigInt(data[row * width + byte] ?? 0);
  return signed ? BigInt.asIntN(width * 8, value) : value;
}

function intervalAt(view: DataView, row: number, unit: 'month' | 'dayTime' | 'monthDayNano'): [number, number, bigint] {
  switch (unit) {
    case 'month':
      return [view.getInt32(row * 4, true), 0, 0n];
    case 'dayTime':
      return [0, view.getInt32(row * 8, true), BigInt(view.getInt32(row * 8 + 4, true)) * 1_000_000n];
    case 'monthDayNano':
      return [view.getInt32(row * 16, true), view.getInt32(row * 16 + 4, true), view.getBigInt64(row * 16 + 8, true)];
    default:
      return unit satisfies never;
  }
}

function viewedBytes({ data, viewed }: ArrowColumn, row: number): Uint8Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const at = row * 16;
  const length = view.getInt32(at, true);
  if (length <= 12) return data.subarray(at + 4, at + 4 + length);
  const offset = view.getInt32(at + 12, true);
  return (viewed[view.getInt32(at + 8, true)] ?? data.subarray(0, 0)).subarray(offset, offset + length);
}

function halfFloat(bits: number): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}
