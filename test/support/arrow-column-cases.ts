import { type FlatObject, i8, i16, i32, type RawBatch, type RawField } from './arrow-stream-writer.ts';

/** A column of one Arrow type, its second row null, with DuckDB's expected result. */
export interface ColumnCase {
  readonly what: string;
  readonly field: RawField;
  readonly batch: RawBatch;
  readonly dictionaries?: readonly { readonly id: number; readonly batch: RawBatch; readonly isDelta?: boolean }[];
  readonly duckType: string;
  /** Cast to VARCHAR. */
  readonly values: readonly (string | null)[];
}

export const bytesOf = (...values: ArrayBufferView[]): Uint8Array => {
  const pieces = values.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
  return Uint8Array.from(Buffer.concat(pieces));
};
const bits = (...values: number[]): Uint8Array =>
  Uint8Array.of(values.reduce((sum, bit, index) => sum | (bit << index), 0));
const words = (...values: number[]): Uint8Array => bytesOf(Int32Array.from(values));
const longs = (...values: (bigint | number)[]): Uint8Array => bytesOf(BigInt64Array.from(values.map(BigInt)));
const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value));
const hex = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value, 'hex'));
const none = new Uint8Array(0);
const secondIsNull = bits(1, 0, 1);

const type = (id: number, table: FlatObject = {}): readonly [number, FlatObject] => [id, table];
const int = (width: number, signed: boolean): readonly [number, FlatObject] =>
  type(2, { 0: i32(width), 1: i8(signed ? 1 : 0) });
const field = (fieldType: readonly [number, FlatObject], more: Partial<RawField> = {}): RawField => ({
  name: 'a',
  type: fieldType,
  ...more,
});

/** Three rows whose buffers follow the validity. */
function three(
  what: string,
  raw: RawField,
  buffers: readonly Uint8Array[],
  duckType: string,
  first: string,
  third: string,
  more: Partial<RawBatch> = {},
): ColumnCase {
  const batch = { rows: 3, nodes: [[3, 1] as const], buffers: [secondIsNull, ...buffers], ...more };
  return { what, field: raw, batch, duckType, values: [first, null, third] };
}

const extension = (name: string): Partial<RawField> => ({ metadata: { 'ARROW:extension:name': name } });
const int128 = (value: bigint): Uint8Array => longs(BigInt.asIntN(64, value), value >> 64n);
const int256 = (value: bigint): Uint8Array => bytesOf(int128(BigInt.asIntN(128, value)), int128(value >> 128n));
const decimal = (precision: number, scale: number, width: number): RawField =>
  field(type(7, { 0: i32(precision), 1: i32(scale), 2: i32(width) }));
const tenTo37 = 10n ** 37n;
const view = (value: string, buffer = 0, offset = 0): Uint8Array => {
  const out = Buffer.alloc(16);
  const raw = Buffer.from(value);
  out.writeInt32LE(raw.length, 0);
  raw.copy(out, 4, 0, raw.length <= 12 ? raw.length : 4);
  if (raw.length > 12) {
    out.writeInt32LE(buffer, 8);
    out.writeInt32LE(offset, 12);
  }
  return Uint8Array.from(out);
};
const long = 'a text of more than twelve bytes';
const uuid = '00112233445566778899aabbccddeeff';
const uuidText = '00112233-4455-6677-8899-aabbccddeeff';
const second = 1_700_000_000;

export const scalarCases: readonly ColumnCase[] = [
  {
    what: 'null',
    field: field(type(1)),
    batch: { rows: 3, nodes: [[3, 3]], buffers: [] },
    duckType: '"NULL"',
    values: [null, null, null],
  },
  three('bool', field(type(6)), [bits(1, 1, 0)], 'BOOLEAN', 'true', 'false'),
  three('int8', field(int(8, true)), [Uint8Array.of(0x80, 1, 127)], 'TINYINT', '-128', '127'),
  three('int16', field(int(16, true)), [bytesOf(Int16Array.of(-32_768, 1, 32_767))], 'SMALLINT', '-32768', '32767'),
  three('int32', field(int(32, true)), [words(-(2 ** 31), 1, 5)], 'INTEGER', '-2147483648', '5'),
  three('int64', field(int(64, true)), [longs(-(2n ** 63n), 1, 5)], 'BIGINT', '-9223372036854775808', '5'),
  three('uint8', field(int(8, false)), [Uint8Array.of(255, 1, 2)], 'UTINYINT', '255', '2'),
  three('uint16', field(int(16, false)), [bytesOf(Uint16Array.of(65_535, 1, 2))], 'USMALLINT', '65535', '2'),
  three('uint32', field(int(32, false)), [bytesOf(Uint32Array.of(2 ** 32 - 1, 1, 2))], 'UINTEGER', '4294967295', '2'),
  three('uint64', field(int(64, false)), [longs(-1, 1, 2)], 'UBIGINT', '18446744073709551615', '2'),
  three('float16', field(type(3)), [bytesOf(Uint16Array.of(0x3e00, 0, 0x8001))], 'FLOAT', '1.5', '-5.9604645e-08'),
  three('float32', field(type(3, { 0: i16(1) })), [bytesOf(Float32Array.of(1.5, 0, -0.1))], 'FLOAT', '1.5', '-0.1'),
  three(
    'float64',
    field(type(3, { 0: i16(2) })),
    [bytesOf(Float64Array.of(0.1, 0, Number.NaN))],
    'DOUBLE',
    '0.1',
    'nan',
  ),
  three(
    'decimal128(4,2)',
    decimal(4, 2, 128),
    [bytesOf(int128(-9999n), int128(0n), int128(1n))],
    'DECIMAL(4,2)',
    '-99.99',
    '0.01',
  ),
  three(
    'decimal128(9,0)',
    decimal(9, 0, 128),
    [bytesOf(int128(-999_999_999n), int128(0n), int128(1n))],
    'DECIMAL(9,0)',
    '-999999999',
    '1',
  ),
  three(
    'decimal128(18,3)',
    decimal(18, 3, 128),
    [bytesOf(int128(-(10n ** 18n) + 1n), int128(0n), int128(5n))],
    'DECIMAL(18,3)',
    '-999999999999999.999',
    '0.005',
  ),
  three(
    'decimal128(38,0)',
    decimal(38, 0, 128),
    [bytesOf(int128(-tenTo37), int128(0n), int128(tenTo37))],
    'DECIMAL(38,0)',
    `${-tenTo37}`,
    `${tenTo37}`,
  ),
  three(
    'decimal256(38,0)',
    decimal(38, 0, 256),
    [bytesOf(int256(-tenTo37), int256(0n), int256(tenTo37))],
    'DECIMAL(38,0)',
    `${-tenTo37}`,
    `${tenTo37}`,
  ),
  three('decimal32(9,2)', decimal(9, 2, 32), [words(-5, 0, 7)], 'DECIMAL(9,2)', '-0.05', '0.07'),
  three(
    'decimal64(20,2), wider than its bits',
    decimal(20, 2, 64),
    [longs(-5, 0, 7)],
    'DECIMAL(20,2)',
    '-0.05',
    '0.07',
  ),
  three('utf8', field(type(5)), [words(0, 4, 4, 4 + long.length), text(`žlu${long}`)], 'VARCHAR', 'žlu', long),
  three('large_utf8', field(type(20)), [longs(0, 2, 2, 2 + long.length), text(`xy${long}`)], 'VARCHAR', 'xy', long),
  three(
    'utf8_view',
    field(type(24)),
    [bytesOf(view('short'), view(''), view(long, 1, 2)), text('unused'), text(`..${long}`)],
    'VARCHAR',
    'short',
    long,
    { viewedCounts: [2] },
  ),
  three('binary', field(type(4)), [words(0, 2, 2, 3), hex('00ffaa')], 'BLOB', '\\x00\\xFF', '\\xAA'),
  three('large_binary', field(type(19)), [longs(0, 2, 2, 3), hex('00ffaa')], 'BLOB', '\\x00\\xFF', '\\xAA'),
  three(
    'binary_view',
    field(type(23)),
    [bytesOf(view('x'), view(''), view(long, 0, 0)), text(long)],
    'BLOB',
    'x',
    long,
    { viewedCounts: [1] },
  ),
  three('fixed_size_binary', field(type(15, { 0: i32(3) })), [hex('616263000000646566')], 'BLOB', 'abc', 'def'),
  three(
    'arrow.uuid',
    field(type(15, { 0: i32(16) }), extension('arrow.uuid')),
    [hex(uuid + '0'.repeat(32) + 'f'.repeat(32))],
    'UUID',
    uuidText,
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ),
  three(
    'arrow.json',
    field(type(5), extension('arrow.json')),
    [words(0, 7, 7, 11), text('{"a":1}null')],
    'JSON',
    '{"a":1}',
    'null',
  ),
  three('an unknown extension', field(int(32, true), extension('my.own')), [words(1, 0, 2)], 'INTEGER', '1', '2'),
  three('date32', field(type(8, { 0: i16(0) })), [words(-1, 0, 19_000)], 'DATE', '1969-12-31', '2022-01-08'),
  three('date64', field(type(8)), [longs(-86_400_000, 5, 19_000 * 86_400_000)], 'DATE', '1969-12-31', '2022-01-08'),
  three('time32[s]', field(type(9, { 0: i16(0) })), [words(3661, -1, 86_399)], 'TIME', '01:01:01', '23:59:59'),
  three('time32[ms]', field(type(9)), [words(1, -1, 86_399_999)], 'TIME', '00:00:00.001', '23:59:59.999'),
  three(
    'time64[us]',
    field(type(9, { 0: i16(2), 1: i32(64) })),
    [longs(1, -1, 86_399_999_999)],
    'TIME',
    '00:00:00.000001',
    '23:59:59.999999',
  ),
  three(
    'time64[ns]',
    field(type(9, { 0: i16(3), 1: i32(64) })),
    [longs(1, -1, 86_399_999_999_999)],
    'TIME_NS',
    '00:00:00.000000001',
    '23:59:59.999999999',
  ),
  three(
    'timestamp[s]',
    field(type(10)),
    [longs(second, 0, -1)],
    'TIMESTAMP_S',
    '2023-11-14 22:13:20',
    '1969-12-31 23:59:59',
  ),
  three(
    'timestamp[ms]',
    field(type(10, { 0: i16(1) })),
    [longs(second * 1000 + 1, 0, -1)],
    'TIMESTAMP_MS',
    '2023-11-14 22:13:20.001',
    '1969-12-31 23:59:59.999',
  ),
  three(
    'timestamp[us]',
    field(type(10, { 0: i16(2) })),
    [longs(second * 1e6 + 1, 0, -1)],
    'TIMESTAMP',
    '2023-11-14 22:13:20.000001',
    '1969-12-31 23:59:59.999999',
  ),
  three(
    'timestamp[ns]',
    field(type(10, { 0: i16(3) })),
    [longs(BigInt(second) * 10n ** 9n + 1n, 0, -1)],
    'TIMESTAMP_NS',
    '2023-11-14 22:13:20.000000001',
    '1969-12-31 23:59:59.999999999',
  ),
  three(
    'timestamp[s, zone]',
    field(type(10, { 1: 'Europe/Prague' })),
    [longs(second, 0, -1)],
    'TIMESTAMP WITH TIME ZONE',
    '2023-11-14 22:13:20+00',
    '1969-12-31 23:59:59+00',
  ),
  three(
    'timestamp[ms, zone]',
    field(type(10, { 0: i16(1), 1: 'UTC' })),
    [longs(second * 1000 + 1, 0, -1)],
    'TIMESTAMP WITH TIME ZONE',
    '2023-11-14 22:13:20.001+00',
    '1969-12-31 23:59:59.999+00',
  ),
  three(
    'timestamp[us, zone]',
    field(type(10, { 0: i16(2), 1: 'UTC' })),
    [longs(second * 1e6 + 1, 0, -1)],
    'TIMESTAMP WITH TIME ZONE',
    '2023-11-14 22:13:20.000001+00',
    '1969-12-31 23:59:59.999999+00',
  ),
  three(
    'timestamp[ns, zone]',
    field(type(10, { 0: i16(3), 1: 'UTC' })),
    [longs(BigInt(second) * 10n ** 9n + 1000n, 7, -1000)],
    'TIMESTAMP WITH TIME ZONE',
    '2023-11-14 22:13:20.000001+00',
    '1969-12-31 23:59:59.999999+00',
  ),
  three('duration[s]', field(type(18, { 0: i16(0) })), [longs(3661, 0, -1)], 'INTERVAL', '01:01:01', '-00:00:01'),
  three('duration[ms]', field(type(18)), [longs(1, 0, -1)], 'INTERVAL', '00:00:00.001', '-00:00:00.001'),
  three(
    'duration[us]',
    field(type(18, { 0: i16(2) })),
    [longs(1, 0, -1)],
    'INTERVAL',
    '00:00:00.000001',
    '-00:00:00.000001',
  ),
  three(
    'duration[ns]',
    field(type(18, { 0: i16(3) })),
    [longs(1000, 1, -1000)],
    'INTERVAL',
    '00:00:00.000001',
    '-00:00:00.000001',
  ),
  three('interval[year_month]', field(type(11)), [words(14, 0, -1)], 'INTERVAL', '1 year 2 months', '-1 month'),
  three(
    'interval[day_time]',
    field(type(11, { 0: i16(1) })),
    [words(3, 5, 0, 0, -1, -1)],
    'INTERVAL',
    '3 days 00:00:00.005',
    '-1 day -00:00:00.001',
  ),
  three(
    'interval[month_day_nano]',
    field(type(11, { 0: i16(2) })),
    [bytesOf(words(14, 3), longs(5000), words(0, 0), longs(1), words(-1, 0), longs(-1000))],
    'INTERVAL',
    '1 year 2 months 3 days 00:00:00.000005',
    '-1 month -00:00:00.000001',
  ),
];

const child = (name: string, fieldType: readonly [number, FlatObject]): RawField => ({ name, type: fieldType });
const item = child('item', int(32, true));

export const nestedCases: readonly ColumnCase[] = [
  three(
    'list',
    field(type(12), { children: [item] }),
    [words(0, 2, 2, 3), bits(1, 0, 1), words(1, 9, 3)],
    'INTEGER[]',
    '[1, NULL]',
    '[3]',
    {
      nodes: [
        [3, 1],
        [3, 1],
      ],
    },
  ),
  three(
    'list whose null row has elements',
    field(type(12), { children: [item] }),
    [words(0, 1, 2, 3), none, words(1, 2, 3)],
    'INTEGER[]',
    '[1]',
    '[3]',
    {
      nodes: [
        [3, 1],
        [3, 0],
      ],
    },
  ),
  three(
    'large_list',
    field(type(21), { children: [item] }),
    [longs(1, 1, 1, 3), none, words(1, 2, 3)],
    'INTEGER[]',
    '[]',
    '[2, 3]',
    {
      nodes: [
        [3, 1],
        [3, 0],
      ],
    },
  ),
  three(
    'list of lists',
    field(type(12), { children: [{ ...child('item', type(12)), children: [child('item', type(5))] }] }),
    [words(0, 2, 2, 3), none, words(0, 1, 2, 2), none, words(0, 1, 1 + long.length), text(`x${long}`)],
    'VARCHAR[][]',
    `[[x], [${long}]]`,
    '[[]]',
    {
      nodes: [
        [3, 1],
        [3, 0],
        [2, 0],
      ],
    },
  ),
  three(
    'fixed_size_list',
    field(type(16, { 0: i32(2) }), { children: [item] }),
    [bits(1, 0, 1, 1, 1, 1), words(1, 2, 3, 4, 5, 6)],
    'INTEGER[2]',
    '[1, NULL]',
    '[5, 6]',
    {
      nodes: [
        [3, 1],
        [6, 1],
      ],
    },
  ),
  three(
    'struct',
    field(type(13), { children: [child('x', int(32, true)), child('y "z"', type(5))] }),
    [bits(0, 1, 1), words(1, 2, 3), none, words(0, 1, 2, 3), text('pqr')],
    `STRUCT(x INTEGER, "y ""z""" VARCHAR)`,
    `{'x': NULL, 'y "z"': p}`,
    `{'x': 3, 'y "z"': r}`,
    {
      nodes: [
        [3, 1],
        [3, 1],
        [3, 0],
      ],
    },
  ),
  three(
    'map',
    field(type(17), {
      children: [{ ...child('entries', type(13)), children: [child('k', type(5)), child('v', int(32, true))] }],
    }),
    [words(0, 2, 2, 3), none, none, words(0, 1, 2, 3), text('aba'), bits(1, 0, 1), words(1, 2, 3)],
    'MAP(VARCHAR, INTEGER)',
    '{a=1, b=NULL}',
    '{a=3}',
    {
      nodes: [
        [3, 1],
        [3, 0],
        [3, 0],
        [3, 1],
      ],
    },
  ),
  {
    what: 'sparse union',
    field: field(type(14, { 1: { items: [5, 7], bytes: 4 } }), {
      children: [child('n', int(32, true)), child('s', type(5))],
    }),
    batch: {
      rows: 3,
      nodes: [
        [3, 0],
        [3, 1],
        [3, 0],
      ],
      buffers: [Uint8Array.of(5, 5, 7), bits(1, 0, 1), words(1, 2, 3), none, words(0, 1, 2, 3), text('pqr')],
    },
    duckType: 'UNION(n INTEGER, s VARCHAR)',
    values: ['1', null, 'r'],
  },
  {
    what: 'dense union',
    field: field(type(14, { 0: i16(1), 1: { items: [5, 7], bytes: 4 } }), {
      children: [child('n', int(32, true)), child('s', type(5))],
    }),
    batch: {
      rows: 3,
      nodes: [
        [3, 0],
        [1, 0],
        [2, 1],
      ],
      buffers: [Uint8Array.of(7, 7, 5), words(1, 0, 0), none, words(42), bits(0, 1), words(0, 1, 2), text('pq')],
    },
    duckType: 'UNION(n INTEGER, s VARCHAR)',
    values: ['q', null, '42'],
  },
];

const coded = (
  bitsOfIndex: number,
  signed: boolean,
  values: readonly [number, FlatObject],
  more: Partial<RawField> = {},
): RawField => field(values, { dictionary: { id: 9, bits: bitsOfIndex, signed }, ...more });
const words3 = {
  rows: 3,
  nodes: [[3, 1]] as const,
  buffers: [bits(1, 0, 1), words(0, 1, 1, 1 + long.length), text(`x${long}`)],
};

export const dictionaryCases: readonly ColumnCase[] = [
  {
    ...three('utf8 by int8', coded(8, true, type(5)), [Uint8Array.of(2, 200, 0)], 'VARCHAR', long, 'x'),
    dictionaries: [{ id: 9, batch: words3 }],
  },
  {
    ...three('utf8 by uint16', coded(16, false, type(5)), [bytesOf(Uint16Array.of(2, 1, 0))], 'VARCHAR', long, 'x'),
    dictionaries: [{ id: 9, batch: words3 }],
  },
  {
    ...three('utf8 by int64', coded(64, true, type(5)), [longs(2, -1, 0)], 'VARCHAR', long, 'x'),
    dictionaries: [{ id: 9, batch: words3 }],
  },
  {
    what: 'a dictionary that has the null',
    field: coded(32, true, type(5)),
    batch: { rows: 3, nodes: [[3, 0]], buffers: [none, words(0, 1, 2)] },
    dictionaries: [{ id: 9, batch: words3 }],
    duckType: 'VARCHAR',
    values: ['x', null, long],
  },
  {
    ...three('a dictionary with a delta', coded(32, false, type(5)), [words(4, 0, 2)], 'VARCHAR', 'new', long),
    dictionaries: [
      { id: 9, batch: words3 },
      { id: 9, batch: { rows: 2, nodes: [[2, 0]], buffers: [none, words(0, 0, 3), text('new')] }, isDelta: true },
    ],
  },
  {
    ...three('a dictionary that is replaced', coded(32, false, type(5)), [words(1, 0, 0)], 'VARCHAR', 'new', ''),
    dictionaries: [
      { id: 9, batch: words3 },
      { id: 9, batch: { rows: 2, nodes: [[2, 0]], buffers: [none, words(0, 0, 3), text('new')] } },
    ],
  },
  {
    ...three('int64 values', coded(8, true, int(64, true)), [Uint8Array.of(1, 0, 0)], 'BIGINT', '-7', '5'),
    dictionaries: [{ id: 9, batch: { rows: 2, nodes: [[2, 0]], buffers: [none, longs(5, -7)] } }],
  },
  {
    ...three('bool values', coded(8, true, type(6)), [Uint8Array.of(1, 0, 0)], 'BOOLEAN', 'true', 'false'),
    dictionaries: [{ id: 9, batch: { rows: 2, nodes: [[2, 0]], buffers: [none, bits(0, 1)] } }],
  },
  {
    ...three(
      'lists with a delta',
      coded(8, true, type(12), { children: [item] }),
      [Uint8Array.of(2, 0, 0)],
      'INTEGER[]',
      '[7, 8]',
      '[1, 2]',
    ),
    dictionaries: [
      {
        id: 9,
        batch: {
          rows: 2,
          nodes: [
            [2, 0],
            [3, 0],
          ],
          buffers: [none, words(0, 2, 2), none, words(1, 2, 99)],
        },
      },
      {
        id: 9,
        batch: {
          rows: 1,
          nodes: [
            [1, 0],
            [2, 0],
          ],
          buffers: [none, words(0, 2), none, words(7, 8)],
        },
        isDelta: true,
      },
    ],
  },
  {
    ...three(
      'structs',
      coded(8, true, type(13), {
        children: [child('x', int(32, true)), child('y', type(16, { 0: i32(2) }))].map((one, index) =>
          index === 0 ? one : { ...one, children: [item] },
        ),
      }),
      [Uint8Array.of(1, 0, 0)],
      'STRUCT(x INTEGER, y INTEGER[2])',
      `{'x': 6, 'y': [3, 4]}`,
      `{'x': 5, 'y': [1, 2]}`,
    ),
    dictionaries: [
      {
        id: 9,
        batch: {
          rows: 2,
          nodes: [
            [2, 0],
            [2, 0],
            [2, 0],
            [4, 0],
          ],
          buffers: [none, none, words(5, 6), none, none, words(1, 2, 3, 4)],
        },
      },
    ],
  },
  {
    what: 'nulls alone, without their dictionary',
    field: coded(32, true, type(5)),
    batch: { rows: 2, nodes: [[2, 2]], buffers: [bits(0, 0), words(0, 0)] },
    duckType: 'VARCHAR',
    values: [null, null],
  },
];

export function caseNamed(what: string): ColumnCase {
  const found = [...scalarCases, ...nestedCases, ...dictionaryCases].find((one) => one.what === what);
  if (found === undefined) throw new Error(`no case ${what}`);
  return found;
}
