import { CodedError, type Column, childTypes, type DataType, viewOf } from '@framehold/columns';
import { type Address, vectorApi } from '../c/vector-api.ts';
import type { NativeSlab } from './native-slab.ts';

const intervalBytes = 16;
const mostMicroseconds = (2n ** 63n - 1n) / 1000n;

export function holdsIntervals(type: DataType): boolean {
  return type.kind === 'interval' || childTypes(type).some(holdsIntervals);
}

/** Refuses intervals inside the values of a column that DuckDB's conversion to Arrow would silently make others. */
export function checkIntervals(vector: Address, { name, type }: Column, rows: number, slab: NativeSlab): void {
  const pending: [Address, DataType, number][] = [[vector, type, rows]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [address, type, length] = next;
    const [element] = childTypes(type);
    switch (type.kind) {
      case 'interval':
        if (hasLongInterval(address, length, slab)) throw tooLong(name);
        break;
      case 'list':
      case 'map':
        pending.push([vectorApi.listChild(address), element as DataType, Number(vectorApi.listSize(address))]);
        break;
      case 'array':
        pending.push([vectorApi.arrayChild(address), element as DataType, length * type.size]);
        break;
      case 'struct':
      case 'union':
        for (const [index, child] of childTypes(type).entries()) {
          // The first member of a union is its tag.
          const at = type.kind === 'union' ? index + 1 : index;
          pending.push([vectorApi.structChild(address, at), child, length]);
        }
        break;
    }
  }
}

function hasLongInterval(vector: Address, length: number, slab: NativeSlab): boolean {
  const values = viewOf(slab.bytes(vectorApi.data(vector), length * intervalBytes));
  const validityAt = vectorApi.validity(vector);
  const validity = validityAt === 0 ? undefined : slab.bytes(validityAt, (length + 7) >> 3);
  for (let row = 0; row < length; row++) {
    if (validity !== undefined && (((validity[row >> 3] as number) >> (row & 7)) & 1) === 0) continue;
    const microseconds = values.getBigInt64(row * intervalBytes + 8, true);
    if (microseconds > mostMicroseconds || microseconds < -mostMicroseconds) return true;
  }
  return false;
}

function tooLong(name: string): CodedError {
  const message = `column ${JSON.stringify(name)} holds an interval of 2^63 nanoseconds or more inside a list, struct, map or union`;
  return new CodedError('unsupported_type', message, { hint: 'cast the value to VARCHAR' });
}
