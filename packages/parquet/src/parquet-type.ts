import type { DataType } from '@framehold/columns';

/** Parquet's physical types. */
export const physical = { boolean: 0, int32: 1, int64: 2, float: 4, double: 5, bytes: 6, fixedBytes: 7 } as const;

/** Parquet's older word for what a physical type means; every reader knows it. */
const converted = {
  utf8: 0,
  decimal: 5,
  date: 6,
  timeMicros: 8,
  timestampMicros: 10,
  unsigned: { 8: 11, 16: 12, 32: 13, 64: 14 },
  signed: { 8: 15, 16: 16, 32: 17, 64: 18 },
  json: 19,
} as const;

export type LogicalType =
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'time'; readonly unit: 'us' | 'ns' }
  | { readonly kind: 'timestamp'; readonly unit: 'us' | 'ns'; readonly zoned: boolean }
  | { readonly kind: 'json' };

export interface ParquetType {
  readonly physical: number;
  readonly converted?: number | undefined;
  readonly logical?: LogicalType | undefined;
  /** Of fixedBytes. */
  readonly length?: number | undefined;
}

const int32Digits = 9;
const int64Digits = 18;

/** How Parquet keeps values of a type, as DuckDB would write them; undefined where we leave that to DuckDB. */
export function parquetType(type: DataType): ParquetType | undefined {
  switch (type.kind) {
    case 'boolean':
      return { physical: physical.boolean };
    case 'int':
      if (type.bits === 128) return undefined;
      return {
        physical: type.bits === 64 ? physical.int64 : physical.int32,
        converted: converted[type.signed ? 'signed' : 'unsigned'][type.bits],
      };
    case 'float':
      return { physical: type.bits === 64 ? physical.double : physical.float };
    case 'decimal': {
      const { precision, scale } = type;
      const meaning = { converted: converted.decimal, logical: { kind: 'decimal', precision, scale } } as const;
      if (precision <= int32Digits) return { physical: physical.int32, ...meaning };
      if (precision <= int64Digits) return { physical: physical.int64, ...meaning };
      return { physical: physical.fixedBytes, length: 16, ...meaning };
    }
    case 'utf8':
      return { physical: physical.bytes, converted: converted.utf8 };
    case 'json':
      return { physical: physical.bytes, converted: converted.json, logical: { kind: 'json' } };
    case 'binary':
      return { physical: physical.bytes };
    case 'date':
      return { physical: physical.int32, converted: converted.date };
    case 'time':
      return {
        physical: physical.int64,
        ...(type.unit === 'us' && { converted: converted.timeMicros }),
        logical: { kind: 'time', unit: type.unit },
      };
    case 'timestamp': {
      const { unit, zoned } = type;
      if (unit !== 'us' && (unit !== 'ns' || zoned)) return undefined;
      return {
        physical: physical.int64,
        ...(unit === 'us' && { converted: converted.timestampMicros }),
        logical: { kind: 'timestamp', unit, zoned },
      };
    }
    case 'null':
    case 'uuid':
    case 'interval':
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
