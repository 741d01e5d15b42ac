import type { DataType } from '@framehold/columns';
import type { LiveForm } from '../../../core/sql/live-tables.ts';

/** The type of a QuestDB column in SQL over frames. */
export interface QuestDbType {
  readonly type: DataType;
  /** It is exported with a cast to this type of QuestDB. Undefined: unchanged. */
  readonly cast?: 'LONG' | 'STRING' | undefined;
  readonly form: LiveForm;
}

const utf8: DataType = { kind: 'utf8' };
const asText: QuestDbType = { type: utf8, cast: 'STRING', form: 'same' };

function same(type: DataType): QuestDbType {
  return { type, form: 'same' };
}

function integer(bits: 8 | 16 | 32 | 64): QuestDbType {
  return same({ kind: 'int', bits, signed: true });
}

const inUtc: QuestDbType = { type: { kind: 'timestamp', unit: 'us', zoned: false }, form: 'utc' };

const plainTypes: Readonly<Record<string, QuestDbType>> = {
  BOOLEAN: same({ kind: 'boolean' }),
  BYTE: integer(8),
  SHORT: integer(16),
  INT: integer(32),
  LONG: integer(64),
  FLOAT: same({ kind: 'float', bits: 32 }),
  DOUBLE: same({ kind: 'float', bits: 64 }),
  DATE: inUtc,
  TIMESTAMP: inUtc,
  // The file says that they have a zone, with which DuckDB has no nanoseconds.
  TIMESTAMP_NS: { type: { kind: 'timestamp', unit: 'ns', zoned: false }, cast: 'LONG', form: 'nanoseconds' },
  SYMBOL: same(utf8),
  STRING: same(utf8),
  // Written with several dictionaries for one column (9.3.4), which DuckDB reads as NULL.
  VARCHAR: asText,
  CHAR: asText,
  UUID: same({ kind: 'uuid' }),
  IPV4: asText,
  LONG256: asText,
  BINARY: same({ kind: 'binary' }),
};

const mostDigits = 38;

/** Undefined for a type that SQL over frames lacks. `isComputed`: of a query, whose columns may have no type where they are NULL. */
export function questDbType(name: string, { isComputed }: { readonly isComputed: boolean }): QuestDbType | undefined {
  const upper = name.toUpperCase();
  if (upper === 'STRING' && isComputed) return asText;
  if (Object.hasOwn(plainTypes, upper)) return plainTypes[upper];
  if (/^GEOHASH\(\d+[BC]\)$/.test(upper)) return { ...asText, form: 'emptyIsNull' };
  const array = /^DOUBLE((?:\[\])+)$/.exec(upper);
  if (array !== null) return same(lists((array[1]?.length ?? 0) / 2));
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(upper) ?? [];
  if (precision === undefined || scale === undefined) return undefined;
  const isWide = Number(precision) > mostDigits;
  return isWide ? asText : same({ kind: 'decimal', precision: Number(precision), scale: Number(scale) });
}

function lists(levels: number): DataType {
  return levels === 0 ? { kind: 'float', bits: 64 } : { kind: 'list', element: lists(levels - 1) };
}
