import type { DataType } from '@framehold/columns';

/** A type of ours with values of it as `vectorOf` takes them, NULLs among them. */
export interface TypeCase {
  readonly type: DataType;
  readonly values: readonly unknown[];
  readonly sqlName: string;
  /** As apache-arrow writes it. */
  readonly arrowName: string;
}

const int = (bits: 8 | 16 | 32 | 64 | 128, signed: boolean): DataType => ({ kind: 'int', bits, signed });
const timestamp = (unit: 's' | 'ms' | 'us' | 'ns', zoned = false): DataType => ({ kind: 'timestamp', unit, zoned });
const utf8: DataType = { kind: 'utf8' };
const a = { name: 'a', type: int(32, true) };
const b = { name: 'b c', type: utf8 };

export const typeCases: readonly TypeCase[] = [
  { type: { kind: 'null' }, values: [null, null], sqlName: '"NULL"', arrowName: 'Null' },
  { type: { kind: 'boolean' }, values: [true, null, false, true], sqlName: 'BOOLEAN', arrowName: 'Bool' },
  { type: int(8, true), values: [-128, null, 127], sqlName: 'TINYINT', arrowName: 'Int8' },
  { type: int(16, true), values: [-32768, null, 32767], sqlName: 'SMALLINT', arrowName: 'Int16' },
  { type: int(32, true), values: [-(2 ** 31), null, 2 ** 31 - 1], sqlName: 'INTEGER', arrowName: 'Int32' },
  { type: int(64, true), values: [-(2n ** 63n), null, 2n ** 63n - 1n], sqlName: 'BIGINT', arrowName: 'Int64' },
  {
    type: int(128, true),
    values: [-(10n ** 37n), null, 10n ** 37n],
    sqlName: 'HUGEINT',
    arrowName: 'Decimal[38e0]',
  },
  { type: int(8, false), values: [0, null, 255], sqlName: 'UTINYINT', arrowName: 'Uint8' },
  { type: int(16, false), values: [0, null, 65535], sqlName: 'USMALLINT', arrowName: 'Uint16' },
  { type: int(32, false), values: [0, null, 2 ** 32 - 1], sqlName: 'UINTEGER', arrowName: 'Uint32' },
  { type: int(64, false), values: [0n, null, 2n ** 63n], sqlName: 'UBIGINT', arrowName: 'Uint64' },
  { type: int(128, false), values: [0n, null, 10n ** 37n], sqlName: 'UHUGEINT', arrowName: 'Decimal[38e0]' },
  { type: { kind: 'float', bits: 32 }, values: [1.5, null, -0.25], sqlName: 'FLOAT', arrowName: 'Float32' },
  { type: { kind: 'float', bits: 64 }, values: [0.1, null, -1e300], sqlName: 'DOUBLE', arrowName: 'Float64' },
  {
    type: { kind: 'decimal', precision: 18, scale: 2 },
    values: [12345n, null, -1n],
    sqlName: 'DECIMAL(18,2)',
    arrowName: 'Decimal[18e+2]',
  },
  { type: utf8, values: ['', null, 'Ä', 'a text of some length'], sqlName: 'VARCHAR', arrowName: 'Utf8' },
  { type: { kind: 'json' }, values: ['{"a":1}', null, '[]'], sqlName: 'JSON', arrowName: 'Utf8' },
  {
    type: { kind: 'uuid' },
    values: ['00112233-4455-6677-8899-aabbccddeeff', null],
    sqlName: 'UUID',
    arrowName: 'Utf8',
  },
  { type: { kind: 'binary' }, values: [Uint8Array.of(0, 255), null], sqlName: 'BLOB', arrowName: 'Binary' },
  { type: { kind: 'date' }, values: [0, null, -719_162], sqlName: 'DATE', arrowName: 'Date32<DAY>' },
  { type: { kind: 'time', unit: 'us' }, values: [1n, null], sqlName: 'TIME', arrowName: 'Time64<MICROSECOND>' },
  { type: { kind: 'time', unit: 'ns' }, values: [1n, null], sqlName: 'TIME_NS', arrowName: 'Time64<NANOSECOND>' },
  { type: timestamp('s'), values: [-1n, null], sqlName: 'TIMESTAMP_S', arrowName: 'Timestamp<SECOND>' },
  { type: timestamp('ms'), values: [-1n, null], sqlName: 'TIMESTAMP_MS', arrowName: 'Timestamp<MILLISECOND>' },
  { type: timestamp('us'), values: [-1n, null], sqlName: 'TIMESTAMP', arrowName: 'Timestamp<MICROSECOND>' },
  { type: timestamp('ns'), values: [-1n, null], sqlName: 'TIMESTAMP_NS', arrowName: 'Timestamp<NANOSECOND>' },
  {
    type: timestamp('us', true),
    values: [10n ** 15n, null],
    sqlName: 'TIMESTAMP WITH TIME ZONE',
    arrowName: 'Timestamp<MICROSECOND, UTC>',
  },
  {
    type: { kind: 'interval' },
    values: [[1, -2, 3n], null, [0, 0, -(10n ** 15n)]],
    sqlName: 'INTERVAL',
    arrowName: 'Interval<MONTH_DAY_NANO>',
  },
  {
    type: { kind: 'list', element: int(32, true) },
    values: [[1, null, 3], null, [], [4]],
    sqlName: 'INTEGER[]',
    arrowName: 'List<Int32>',
  },
  {
    type: { kind: 'array', element: utf8, size: 2 },
    values: [['a', null], null, ['b', 'c']],
    sqlName: 'VARCHAR[2]',
    arrowName: 'FixedSizeList[2]<Utf8>',
  },
  {
    type: { kind: 'struct', fields: [a, b] },
    values: [[1, 'x'], null, [null, 'y']],
    sqlName: 'STRUCT(a INTEGER, "b c" VARCHAR)',
    arrowName: 'Struct<{a:Int32, b c:Utf8}>',
  },
  {
    type: { kind: 'map', key: utf8, value: int(64, true) },
    values: [
      [['k', 1n]],
      null,
      [],
      [
        ['l', null],
        ['m', 2n],
      ],
    ],
    sqlName: 'MAP(VARCHAR, BIGINT)',
    arrowName: 'Map<{key:Utf8, value:Int64}>',
  },
  {
    type: { kind: 'union', members: [a, { name: 'select', type: utf8 }] },
    values: [[0, 1], null, [1, 'x'], [0, 2]],
    sqlName: 'UNION(a INTEGER, "select" VARCHAR)',
    arrowName: 'Union<Int32 | Utf8>',
  },
  {
    type: {
      kind: 'list',
      element: { kind: 'struct', fields: [{ name: 'Left', type: { kind: 'list', element: utf8 } }] },
    },
    values: [[[['p', null]], null], null, [], [[null]]],
    sqlName: 'STRUCT("Left" VARCHAR[])[]',
    arrowName: 'List<Struct<{Left:List<Utf8>}>>',
  },
];
