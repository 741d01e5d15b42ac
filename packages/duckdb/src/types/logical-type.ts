import type { Column, DataType, DeclaredField, DeclaredType } from '@framehold/columns';
import koffi from 'koffi';
import { api, type Pointer, pointer, type ResultStruct } from '../c/c-api.ts';
import { duckdbType } from './duckdb-types.ts';

const simpleTypes: Readonly<Record<number, DataType>> = {
  [duckdbType.BOOLEAN]: { kind: 'boolean' },
  [duckdbType.TINYINT]: { kind: 'int', bits: 8, signed: true },
  [duckdbType.SMALLINT]: { kind: 'int', bits: 16, signed: true },
  [duckdbType.INTEGER]: { kind: 'int', bits: 32, signed: true },
  [duckdbType.BIGINT]: { kind: 'int', bits: 64, signed: true },
  [duckdbType.UTINYINT]: { kind: 'int', bits: 8, signed: false },
  [duckdbType.USMALLINT]: { kind: 'int', bits: 16, signed: false },
  [duckdbType.UINTEGER]: { kind: 'int', bits: 32, signed: false },
  [duckdbType.UBIGINT]: { kind: 'int', bits: 64, signed: false },
  [duckdbType.FLOAT]: { kind: 'float', bits: 32 },
  [duckdbType.DOUBLE]: { kind: 'float', bits: 64 },
  [duckdbType.TIMESTAMP]: { kind: 'timestamp', unit: 'us', zoned: false },
  [duckdbType.DATE]: { kind: 'date' },
  [duckdbType.TIME]: { kind: 'time', unit: 'us' },
  [duckdbType.INTERVAL]: { kind: 'interval' },
  [duckdbType.HUGEINT]: { kind: 'int', bits: 128, signed: true },
  [duckdbType.VARCHAR]: { kind: 'utf8' },
  [duckdbType.BLOB]: { kind: 'binary' },
  [duckdbType.TIMESTAMP_S]: { kind: 'timestamp', unit: 's', zoned: false },
  [duckdbType.TIMESTAMP_MS]: { kind: 'timestamp', unit: 'ms', zoned: false },
  [duckdbType.TIMESTAMP_NS]: { kind: 'timestamp', unit: 'ns', zoned: false },
  [duckdbType.ENUM]: { kind: 'utf8' },
  [duckdbType.UUID]: { kind: 'uuid' },
  [duckdbType.TIMESTAMP_TZ]: { kind: 'timestamp', unit: 'us', zoned: true },
  [duckdbType.UHUGEINT]: { kind: 'int', bits: 128, signed: false },
  [duckdbType.SQLNULL]: { kind: 'null' },
  [duckdbType.TIME_NS]: { kind: 'time', unit: 'ns' },
};

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
    case duckdbType.VARCHAR:
      return api.typeAlias(type) === 'JSON' ? { kind: 'json' } : { kind: 'utf8' };
    case duckdbType.DECIMAL:
      return { kind: 'decimal', precision: api.decimalWidth(type), scale: api.decimalScale(type) };
    case duckdbType.LIST:
      return { kind: 'list', element: takeType(api.listChild(type)) };
    case duckdbType.ARRAY:
      return { kind: 'array', element: takeType(api.arrayChild(type)), size: Number(api.arraySize(type)) };
    case duckdbType.MAP:
      return { kind: 'map', key: takeType(api.mapKey(type)), value: takeType(api.mapValue(type)) };
    case duckdbType.STRUCT:
      return { kind: 'struct', fields: members(type, api.structCount, api.structName, api.structChild) };
    case duckdbType.UNION:
      return { kind: 'union', members: members(type, api.unionCount, api.unionName, api.unionChild) };
  }
  const simple = simpleTypes[id];
  if (simple !== undefined) return simple;
  throw new UnreadableType(unreadableNames[id] ?? `DuckDB type ${id}`);
}

/** The SQL type of a logical type, which is destroyed. Undefined if no column can have it, or can only be read (`isRead`). */
export function takeDeclaredType(handle: Pointer | number, isRead = false): DeclaredType | undefined {
  const type = pointer(handle);
  try {
    return readDeclaredType(type, isRead);
  } finally {
    api.destroyType([type]);
  }
}

function readDeclaredType(type: Pointer, isRead: boolean): DeclaredType | undefined {
  const id = api.typeId(type);
  switch (id) {
    case duckdbType.ENUM:
      return { kind: 'enum', values: enumValues(type) };
    case duckdbType.BIT:
      return { kind: 'bit' };
    case duckdbType.BIGNUM:
      return { kind: 'bignum' };
    case duckdbType.VARIANT:
      return { kind: 'variant' };
    case duckdbType.GEOMETRY:
      return { kind: 'geometry' };
    case duckdbType.TIME_TZ:
      return { kind: 'zonedTime' };
    case duckdbType.LIST: {
      const element = takeDeclaredType(api.listChild(type), isRead);
      return element && { kind: 'list', element };
    }
    case duckdbType.ARRAY: {
      const element = takeDeclaredType(api.arrayChild(type), isRead);
      return element && { kind: 'array', element, size: Number(api.arraySize(type)) };
    }
    case duckdbType.MAP: {
      const key = takeDeclaredType(api.mapKey(type), isRead);
      const value = takeDeclaredType(api.mapValue(type), isRead);
      return key && value && { kind: 'map', key, value };
    }
    case duckdbType.STRUCT: {
      const fields = declaredFields(type, isRead, api.structCount, api.structName, api.structChild);
      return fields && { kind: 'struct', fields };
    }
    case duckdbType.UNION: {
      const members = declaredFields(type, isRead, api.unionCount, api.unionName, api.unionChild);
      return members && { kind: 'union', members };
    }
    default:
      return isReadable(id)
        ? (readType(type) as Exclude<DataType, { kind: 'list' | 'array' | 'struct' | 'map' | 'union' }>)
        : undefined;
  }
}

function isReadable(id: number): boolean {
  return id === duckdbType.VARCHAR || id === duckdbType.DECIMAL || simpleTypes[id] !== undefined;
}

function declaredFields(
  type: Pointer,
  isRead: boolean,
  count: (type: Pointer) => number,
  name: (type: Pointer, index: number) => string,
  child: (type: Pointer, index: number) => Pointer,
): DeclaredField[] | undefined {
  const fields: DeclaredField[] = [];
  for (let index = 0; index < Number(count(type)); index++) {
    const field = { name: name(type, index), type: takeDeclaredType(child(type, index), isRead) };
    // Fields without names have none in the SQL of a type.
    if (field.type === undefined || (field.name === '' && !isRead)) return undefined;
    fields.push({ name: field.name, type: field.type });
  }
  return fields;
}

function enumValues(type: Pointer): string[] {
  return Array.from({ length: api.enumSize(type) }, (_, index) => {
    const value = pointer(api.enumValue(type, index));
    try {
      return koffi.decode(value, 'char', -1) as string;
    } finally {
      api.free(value);
    }
  });
}

const unreadableNames: Readonly<Record<number, string>> = {
  [duckdbType.BIT]: 'BIT',
  [duckdbType.TIME_TZ]: 'TIME WITH TIME ZONE',
  [duckdbType.BIGNUM]: 'BIGNUM',
  [duckdbType.VARIANT]: 'VARIANT',
  [duckdbType.GEOMETRY]: 'GEOMETRY',
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
