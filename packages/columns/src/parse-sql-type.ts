import { type DataType, isDecimalSize } from './data-type.ts';

const int = (bits: 8 | 16 | 32 | 64 | 128, signed = true): DataType => ({ kind: 'int', bits, signed });
const timestamp = (unit: 's' | 'ms' | 'us' | 'ns', zoned = false): DataType => ({ kind: 'timestamp', unit, zoned });

const named: ReadonlyMap<string, DataType> = new Map([
  ['BOOLEAN', { kind: 'boolean' }],
  ['BOOL', { kind: 'boolean' }],
  ['TINYINT', int(8)],
  ['SMALLINT', int(16)],
  ['INTEGER', int(32)],
  ['INT', int(32)],
  ['BIGINT', int(64)],
  ['INT2', int(16)],
  ['INT4', int(32)],
  ['INT8', int(64)],
  ['HUGEINT', int(128)],
  ['UTINYINT', int(8, false)],
  ['USMALLINT', int(16, false)],
  ['UINTEGER', int(32, false)],
  ['UBIGINT', int(64, false)],
  ['UHUGEINT', int(128, false)],
  ['FLOAT', { kind: 'float', bits: 32 }],
  ['REAL', { kind: 'float', bits: 32 }],
  ['FLOAT4', { kind: 'float', bits: 32 }],
  ['FLOAT8', { kind: 'float', bits: 64 }],
  ['DOUBLE PRECISION', { kind: 'float', bits: 64 }],
  ['DOUBLE', { kind: 'float', bits: 64 }],
  ['DECIMAL', { kind: 'decimal', precision: 18, scale: 3 }],
  ['NUMERIC', { kind: 'decimal', precision: 18, scale: 3 }],
  ['DEC', { kind: 'decimal', precision: 18, scale: 3 }],
  ['VARCHAR', { kind: 'utf8' }],
  ['TEXT', { kind: 'utf8' }],
  ['CHARACTER', { kind: 'utf8' }],
  ['CHARACTER VARYING', { kind: 'utf8' }],
  ['JSON', { kind: 'json' }],
  ['UUID', { kind: 'uuid' }],
  ['BLOB', { kind: 'binary' }],
  ['DATE', { kind: 'date' }],
  ['TIME', { kind: 'time', unit: 'us' }],
  ['TIME_NS', { kind: 'time', unit: 'ns' }],
  ['TIMESTAMP', timestamp('us')],
  ['DATETIME', timestamp('us')],
  ['TIMESTAMP_US', timestamp('us')],
  ['TIMESTAMP WITHOUT TIME ZONE', timestamp('us')],
  ['TIMESTAMP_S', timestamp('s')],
  ['TIMESTAMP_MS', timestamp('ms')],
  ['TIMESTAMP_NS', timestamp('ns')],
  ['TIMESTAMPTZ', timestamp('us', true)],
  ['TIMESTAMP WITH TIME ZONE', timestamp('us', true)],
  ['INTERVAL', { kind: 'interval' }],
] satisfies [string, DataType][]);

const longestName = 200;

/** Names that `parseSqlType` knows, without their parameters. */
export const sqlTypeNames: readonly string[] = [...named.keys()];

/** An SQL type name for values of callers: the plain types, DECIMAL(p,s), and lists of them. */
export function parseSqlType(text: string): DataType | undefined {
  // The patterns below take a time that grows with the square of the blanks.
  if (text.length > longestName) return undefined;
  const list = /^(.+?)\s*\[\s*\]\s*$/s.exec(text);
  if (list !== null) {
    const element = parseSqlType(list[1] ?? '');
    return element === undefined ? undefined : { kind: 'list', element };
  }
  const decimal = /^\s*(?:DECIMAL|NUMERIC|DEC)\s*\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)\s*$/i.exec(text);
  if (decimal === null) return named.get(text.trim().replaceAll(/\s+/g, ' ').toUpperCase());
  const size = { precision: Number(decimal[1]), scale: Number(decimal[2] ?? 0) };
  return isDecimalSize(size) ? { kind: 'decimal', ...size } : undefined;
}
