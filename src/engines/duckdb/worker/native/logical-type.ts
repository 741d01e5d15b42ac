import type { Column, DataType } from '../../../../core/data-type.ts';
import { api, type Pointer, pointer, type ResultStruct } from './c-api.ts';

/** Ids of duckdb_type in DuckDB's C header. */
const simpleTypes: Readonly<Record<number, DataType>> = {
  1: { kind: 'boolean' },
  2: { kind: 'int', bits: 8, signed: true },
  3: { kind: 'int', bits: 16, signed: true },
  4: { kind: 'int', bits: 32, signed: true },
  5: { kind: 'int', bits: 64, signed: true },
  6: { kind: 'int', bits: 8, signed: false },
  7: { kind: 'int', bits: 16, signed: false },
  8: { kind: 'int', bits: 32, signed: false },
  9: { kind: 'int', bits: 64, signed: false },
  10: { kind: 'float', bits: 32 },
  11: { kind: 'float', bits: 64 },
  12: { kind: 'timestamp', unit: 'us', zoned: false },
  13: { kind: 'date' },
  14: { kind: 'time', unit: 'us' },
  15: { kind: 'interval' },
  16: { kind: 'int', bits: 128, signed: true },
  17: { kind: 'utf8' },
  18: { kind: 'binary' },
  20: { kind: 'timestamp', unit: 's', zoned: false },
  21: { kind: 'timestamp', unit: 'ms', zoned: false },
  22: { kind: 'timestamp', unit: 'ns', zoned: false },
  23: { kind: 'utf8' },
  27: { kind: 'uuid' },
  31: { kind: 'timestamp', unit: 'us', zoned: true },
  32: { kind: 'int', bits: 128, signed: false },
  36: { kind: 'null' },
  39: { kind: 'time', unit: 'ns' },
};

const DECIMAL = 19;
const VARCHAR = 17;
const LIST = 24;
const STRUCT = 25;
const MAP = 26;
const UNION = 28;
const BIT = 29;
const TIME_TZ = 30;
const ARRAY = 33;
const BIGNUM = 35;

/** The columns of a result, under the names that DuckDB gives them. */
export function resultColumns(result: ResultStruct): Column[] {
  const count = Number(api.columnCount(result));
  return Array.from({ length: count }, (_, index) => ({
    name: api.columnName(result, index),
    type: takeType(api.columnLogicalType(result, index)),
  }));
}

/** The type behind a logical type handle, which is destroyed. */
export function takeType(handle: Pointer | number): DataType {
  const type = pointer(handle);
  try {
    return readType(type);
  } finally {
    api.destroyType([type]);
  }
}

function readType(type: Pointer): DataType {
  const id = api.typeId(type);
  switch (id) {
    case VARCHAR:
      return api.typeAlias(type) === 'JSON' ? { kind: 'json' } : { kind: 'utf8' };
    case DECIMAL:
      return { kind: 'decimal', precision: api.decimalWidth(type), scale: api.decimalScale(type) };
    case LIST:
      return { kind: 'list', element: takeType(api.listChild(type)) };
    case ARRAY:
      return { kind: 'array', element: takeType(api.arrayChild(type)), size: Number(api.arraySize(type)) };
    case MAP:
      return { kind: 'map', key: takeType(api.mapKey(type)), value: takeType(api.mapValue(type)) };
    case STRUCT:
      return { kind: 'struct', fields: members(type, api.structCount, api.structName, api.structChild) };
    case UNION:
      return { kind: 'union', members: members(type, api.unionCount, api.unionName, api.unionChild) };
  }
  const simple = simpleTypes[id];
  if (simple !== undefined) return simple;
  throw new UnreadableType(unreadableNames[id] ?? `DuckDB type ${id}`);
}

const unreadableNames: Readonly<Record<number, string>> = {
  [BIT]: 'BIT',
  [TIME_TZ]: 'TIME WITH TIME ZONE',
  [BIGNUM]: 'BIGNUM',
};

/** A type that has no place in our vocabulary; at the top level reading casts it (see parquet-relation.ts). */
export class UnreadableType extends Error {
  readonly typeName: string;

  constructor(typeName: string) {
    super(`type ${typeName} cannot be read as it is`);
    this.typeName = typeName;
  }
}

function members(
  type: Pointer,
  count: (type: Pointer) => number,
  name: (type: Pointer, index: number) => string,
  child: (type: Pointer, index: number) => Pointer,
): Column[] {
  return Array.from({ length: Number(count(type)) }, (_, index) => ({
    name: name(type, index),
    type: takeType(child(type, index)),
  }));
}
