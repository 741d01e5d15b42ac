import { type Column, type DataType, fixedSizeBytes, type Vector } from '@framehold/columns';
import { api, type Pointer, pointer, type ResultStruct } from '../c/c-api.ts';
import { vectorApi } from '../c/vector-api.ts';
import { duckdbType } from '../types/duckdb-types.ts';
import { clearNulls } from './clear-nulls.ts';
import type { NativeSlab } from './native-slab.ts';
import { readTexts } from './text-vector.ts';

/** DuckDB's layouts of a column's values. */
export type FlatLayout = 'values' | 'bytes for bits' | 'int16' | 'int32' | 'int64' | 'intervals' | 'texts';

/** The layout of each column; undefined if one has another, and DuckDB must convert the rows to Arrow. */
export function flatLayouts(columns: readonly Column[], result: ResultStruct): readonly FlatLayout[] | undefined {
  const layouts: FlatLayout[] = [];
  for (const [index, { type }] of columns.entries()) {
    const layout = type.kind === 'utf8' && isEnum(result, index) ? undefined : flatLayout(type);
    if (layout === undefined) return undefined;
    layouts.push(layout);
  }
  return layouts;
}

function flatLayout(type: DataType): FlatLayout | undefined {
  switch (type.kind) {
    case 'int':
    case 'float':
    case 'date':
    case 'time':
    case 'timestamp':
      return 'values';
    case 'decimal':
      if (type.precision > 18) return 'values';
      if (type.precision > 9) return 'int64';
      return type.precision > 4 ? 'int32' : 'int16';
    case 'boolean':
      return 'bytes for bits';
    case 'utf8':
    case 'json':
    case 'binary':
      return 'texts';
    case 'interval':
      return 'intervals';
    case 'null':
    case 'uuid':
    case 'list':
    case 'array':
    case 'struct':
    case 'map':
    case 'union':
      return undefined;
    default:
      return type satisfies never;
  }
}

function isEnum(result: ResultStruct, index: number): boolean {
  const type = pointer(api.columnLogicalType(result, index));
  const id = api.typeId(type);
  api.destroyType([type]);
  return id === duckdbType.ENUM;
}

/** The values of a column of a chunk, in the slab's memory. */
export function readFlatVector(
  chunk: Pointer,
  index: number,
  { type }: Column,
  layout: FlatLayout,
  length: number,
  slab: NativeSlab,
): Vector {
  const source = vectorApi.chunkVector(chunk, index);
  const address = vectorApi.data(source);
  const validity = validityOf(vectorApi.validity(source), length, slab);
  if (layout === 'texts')
    return { type, length, validity, ...readTexts(address, length, validity, slab), children: [] };
  const data = valuesOf(address, layout, type, length, validity, slab);
  const vector: Vector = { type, length, validity, offsets: null, data, children: [] };
  return layout === 'intervals' ? { ...vector, hasMicroseconds: true } : vector;
}

/** Null where every value is present. */
function validityOf(address: number, length: number, slab: NativeSlab): Uint8Array | null {
  if (address === 0) return null;
  const bits = slab.bytes(address, (length + 7) >> 3);
  const lastBits = length & 7;
  // Bits behind the last row are undefined in DuckDB.
  if (lastBits > 0) bits[bits.length - 1] = (bits[bits.length - 1] as number) & ((1 << lastBits) - 1);
  const whole = length >> 3;
  for (let byte = 0; byte < whole; byte++) if (bits[byte] !== 0xff) return bits;
  return lastBits > 0 && bits[whole] !== (1 << lastBits) - 1 ? bits : null;
}

function valuesOf(
  address: number,
  layout: Exclude<FlatLayout, 'texts'>,
  type: DataType,
  length: number,
  validity: Uint8Array | null,
  slab: NativeSlab,
): Uint8Array {
  switch (layout) {
    case 'values':
    case 'intervals': {
      const width = fixedSizeBytes(type as Parameters<typeof fixedSizeBytes>[0]);
      const data = slab.bytes(address, length * width);
      if (validity !== null) clearNulls(data, width, validity);
      return data;
    }
    case 'bytes for bits':
      return toBits(slab.bytes(address, length), validity, slab);
    case 'int16':
    case 'int32':
    case 'int64': {
      const data = toDecimals(address, layout, length, slab);
      if (validity !== null) clearNulls(data, 16, validity);
      return data;
    }
    default:
      return layout satisfies never;
  }
}

function toBits(values: Uint8Array, validity: Uint8Array | null, slab: NativeSlab): Uint8Array {
  const { length } = values;
  const bits = slab.room((length + 7) >> 3);
  for (let byte = 0, row = 0; byte < bits.length; byte++) {
    let eight = 0;
    for (let bit = 0; bit < 8 && row < length; bit++, row++) if (values[row] === 1) eight |= 1 << bit;
    bits[byte] = validity === null ? eight : eight & (validity[byte] as number);
  }
  return bits;
}

/** Decimals have 16 bytes in Arrow. DuckDB has fewer where they are enough. */
function toDecimals(
  address: number,
  layout: 'int16' | 'int32' | 'int64',
  length: number,
  slab: NativeSlab,
): Uint8Array {
  const data = slab.room(length * 16);
  const words = new Int32Array(data.buffer, data.byteOffset, length * 4);
  if (layout === 'int64') {
    const values = slab.int32s(address, length * 2);
    for (let row = 0, at = 0; row < length * 2; row += 2, at += 4) {
      const high = values[row + 1] as number;
      const sign = high >> 31;
      words[at] = values[row] as number;
      words[at + 1] = high;
      words[at + 2] = sign;
      words[at + 3] = sign;
    }
    return data;
  }
  const bytes = slab.bytes(address, length * (layout === 'int16' ? 2 : 4));
  const values =
    layout === 'int16'
      ? new Int16Array(bytes.buffer, bytes.byteOffset, length)
      : new Int32Array(bytes.buffer, bytes.byteOffset, length);
  for (let row = 0, at = 0; row < length; row++, at += 4) {
    const value = values[row] as number;
    const sign = value >> 31;
    words[at] = value;
    words[at + 1] = sign;
    words[at + 2] = sign;
    words[at + 3] = sign;
  }
  return data;
}
