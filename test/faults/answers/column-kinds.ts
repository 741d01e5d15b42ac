import type { Random } from '../harness/random.ts';

/** A type of SQL with the values of it that are easily lost, changed or missed, as SQL that casts to the type. */
export interface ColumnKind {
  readonly type: string;
  /** What a frame keeps it as, where that is another type. */
  readonly kept?: string;
  readonly values: readonly string[];
  /** DuckDB 1.5.6 compares it wrongly in its own tables: GEOMETRY in IN, VARIANT in IS NOT DISTINCT FROM and ORDER BY. */
  readonly hasOnlyEquality?: true;
  /** Any further value. Without it the type has only those above. */
  readonly any?: (random: Random) => string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const texts = (...values: readonly string[]): string[] => values.map(quoted);
const escapedByte = (byte: number): string => `\\x${byte.toString(16).padStart(2, '0')}`;
const hexBytes = (hex: string): string => quoted(hex.replace(/../g, '\\x$&'));

function integer(type: string, min: bigint, max: bigint, kept?: string): ColumnKind {
  const inner = [-1n, 0n, 1n, min, min + 1n, max - 1n, max].filter((value) => value >= min);
  const span = max - min + 1n;
  return {
    type,
    ...(kept !== undefined && { kept }),
    values: [...new Set(inner)].map((value) => quoted(String(value))),
    any: (random) => quoted(String(min + (BigInt(`0x${random.bytes(16).toString('hex')}`) % span))),
  };
}

const signed = (type: string, bits: bigint): ColumnKind => integer(type, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n);
const unsigned = (type: string, bits: bigint): ColumnKind => integer(type, 0n, 2n ** bits - 1n);

function decimal(precision: number, scale: number): ColumnKind {
  const most = 10n ** BigInt(precision) - 1n;
  const shown = (value: bigint): string => {
    const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
    return quoted(`${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`);
  };
  return {
    type: `DECIMAL(${precision},${scale})`,
    values: [0n, 1n, -1n, most, -most].map(shown),
    any: (random) => shown((BigInt(`0x${random.bytes(16).toString('hex')}`) % (2n * most + 1n)) - most),
  };
}

const finite = ['-0.0', '0.0', '1.5', '-1.5', '0.1', '3e38', '-3e38'];
const floating = [...finite, 'nan', '-nan', 'inf', '-inf'];
const anyFloat = (random: Random): string =>
  quoted(random.chance(0.5) ? String(random.between(-1000, 1000) / 8) : String(Math.exp(random.between(-80, 80))));

const long = 'y'.repeat(300);
const anyText = (random: Random): string => quoted(`text ${random.between(0, 1e6)}${random.chance(0.1) ? long : ''}`);
const plainTexts = texts('', ' ', 'a', 'A', 'ab', 'é', 'e\u0301', '🦆', 'NULL', 'nan', "it's", `${long}a`, `${long}b`);

const date = {
  values: texts('1970-01-01', '1969-12-31', '0001-01-01', '9999-12-31', 'infinity', '-infinity', '5881580-07-10'),
  any: (random: Random) => quoted(dayOf(random)),
};
const dayOf = (random: Random): string =>
  new Date(random.between(-2e9, 4e9) * 1000).toISOString().slice(0, 10).replace(/^\+00/, '');
const momentOf = (random: Random, digits: number): string => {
  const fraction = digits === 0 ? '' : `.${String(random.between(0, 10 ** digits - 1)).padStart(digits, '0')}`;
  return quoted(`${dayOf(random)} ${String(random.between(0, 23)).padStart(2, '0')}:59:58${fraction}`);
};
const moments = (digits: number) => ({
  values: texts('1970-01-01 00:00:00', '1969-12-31 23:59:59', '2026-11-19 12:00:00', 'infinity', '-infinity'),
  any: (random: Random) => momentOf(random, digits),
});
const farMoments = texts('0001-01-01 00:00:00', '290000-12-31 00:00:00', '9999-12-31 23:59:59.999999');

/** What a column of a line of line protocol can be, finite and printable. */
export const kindsOfLines: readonly ColumnKind[] = [
  { type: 'BOOLEAN', values: texts('true', 'false') },
  signed('BIGINT', 64n),
  { type: 'DOUBLE', values: texts(...finite), any: anyFloat },
  { type: 'VARCHAR', values: plainTexts, any: anyText },
];

export const flatKinds: readonly ColumnKind[] = [
  { type: 'BOOLEAN', values: texts('true', 'false') },
  signed('TINYINT', 8n),
  signed('SMALLINT', 16n),
  signed('INTEGER', 32n),
  signed('BIGINT', 64n),
  unsigned('UTINYINT', 8n),
  unsigned('USMALLINT', 16n),
  unsigned('UINTEGER', 32n),
  unsigned('UBIGINT', 64n),
  { type: 'FLOAT', values: texts(...floating, '1e-45'), any: anyFloat },
  { type: 'DOUBLE', values: texts(...floating, '5e-324', '1.7976931348623157e308'), any: anyFloat },
  decimal(4, 1),
  decimal(9, 2),
  decimal(18, 3),
  decimal(38, 10),
  {
    type: 'VARCHAR',
    values: [...plainTexts, 'chr(0)', "'a' || chr(0)", 'chr(1)', 'chr(127)', "'\n'", 'chr(65535)'],
    any: anyText,
  },
  {
    type: 'BLOB',
    values: ['', 'ff', '00', '0001', 'c3a9', '41', '4142', 'ffff', '5c', `${'ab'.repeat(300)}01`].map(hexBytes),
    any: (random) => quoted([...random.bytes(random.between(0, 12))].map(escapedByte).join('')),
  },
  { type: 'JSON', values: texts('{"a": 1}', 'null', '"null"', '[]', '1.50', '-0.0') },
  { type: 'DATE', ...date },
  { type: 'TIME', values: texts('00:00:00', '12:00:00.000001', '23:59:59.999999') },
  { type: 'TIMESTAMP', ...moments(6), values: [...moments(6).values, ...farMoments] },
  { type: 'TIMESTAMPTZ', ...moments(6) },
  { type: 'TIMESTAMP_NS', values: moments(0).values.slice(0, 3).concat(texts('2200-01-01 00:00:00.000000001')) },
  { type: 'TIME_NS', values: texts('00:00:00', '00:00:00.000000001', '12:00:00.000001', '23:59:59.999999999') },
];

/** Types for which frames are written in another way than for the flat ones alone. */
export const nestedKinds: readonly ColumnKind[] = [
  {
    type: 'UUID',
    values: texts(
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '7fffffff-ffff-ffff-ffff-ffffffffffff',
      '80000000-0000-0000-0000-000000000000',
    ),
    any: (random) =>
      quoted(
        random
          .bytes(16)
          .toString('hex')
          .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      ),
  },
  { type: 'INTERVAL', values: texts('0 days', '1 month', '30 days', '1 day', '24 hours', '1 millisecond', '2 years') },
  {
    type: 'DOUBLE[]',
    values: texts('[]', '[-0.0]', '[0.0]', '[nan]', '[-nan, 1]', '[NULL]', '[inf, -inf]', '[1, NULL]'),
  },
  { type: 'INTEGER[]', values: texts('[]', '[1]', '[1, NULL]', '[-2147483648, 2147483647]', '[0]') },
  { type: 'VARCHAR[]', values: ["['']", "['a', NULL]", '[NULL]', '[]', "['NULL']", '[chr(0)]'] },
  { type: 'BLOB[]', values: ["['\\xFF'::BLOB]", "['\\x00'::BLOB, NULL]", '[]', "['a'::BLOB]", "['\\xC3\\xA9'::BLOB]"] },
  { type: 'DOUBLE[][]', values: texts('[]', '[[]]', '[[-0.0], [0.0]]', '[[0.0], [-0.0]]', '[NULL]', '[[nan, -nan]]') },
  {
    type: 'STRUCT(a DOUBLE, b VARCHAR)',
    values: ["{a: -0.0, b: 'x'}", "{a: 0.0, b: 'x'}", "{a: 'nan'::DOUBLE, b: ''}", '{a: NULL, b: NULL}'].map(zeroed),
  },
  {
    type: 'STRUCT(a DOUBLE, b BLOB)[]',
    values: ['[]', '[NULL]', "[{a: -0.0, b: '\\xFF'::BLOB}]", "[{a: 0.0, b: '\\xFF'::BLOB}, {a: 1, b: NULL}]"].map(
      zeroed,
    ),
  },
  {
    type: 'MAP(VARCHAR, DOUBLE)',
    values: ['map {}', "map {'a': -0.0}", "map {'a': 0.0}", "map {'a': 'nan'::DOUBLE, 'b': NULL}"].map(zeroed),
  },
  {
    type: 'STRUCT(l FLOAT[], k UBIGINT)',
    values: ['{l: [], k: 0}', '{l: [-0.0], k: 1}', '{l: [0.0], k: 1}'].map(zeroed),
  },
];

/** A number such as -0.0 is a DECIMAL, which has no such zero. */
function zeroed(sql: string): string {
  return sql.replaceAll('-0.0', "'-0.0'::DOUBLE");
}

const union = 'UNION(n DOUBLE, s VARCHAR, l INTEGER[])';

/** What a frame keeps as another type, and knows the declared one of. */
export const declaredKinds: readonly ColumnKind[] = [
  integer('HUGEINT', -(10n ** 38n) + 1n, 10n ** 38n - 1n, 'DECIMAL(38,0)'),
  integer('UHUGEINT', 0n, 10n ** 38n - 1n, 'DECIMAL(38,0)'),
  { type: "ENUM('b', 'a', '', 'ab')", kept: 'VARCHAR', values: texts('b', 'a', '', 'ab') },
  { type: 'TIMESTAMP_S', kept: 'TIMESTAMP', ...moments(0) },
  { type: 'TIMESTAMP_MS', kept: 'TIMESTAMP', ...moments(3) },
  { type: 'TIMETZ', kept: 'TIME', values: texts('00:00:00+00', '12:00:00+00', '23:59:59.999999+00') },
  { type: 'INTEGER[3]', kept: 'INTEGER[]', values: ['[1, 2, 3]', '[NULL, 0, 0]', '[1, 2, NULL]'] },
  { type: 'FLOAT[2]', kept: 'FLOAT[]', values: texts('[-0.0, 1]', '[0.0, 1]', '[nan, 1]', '[-nan, NULL]') },
  {
    type: union,
    kept: 'JSON',
    values: ['n := 0.0', 'n := -0.0', 'n := 1.5', "s := ''", "s := 'a'", "s := '0.0'", 'l := []', 'l := [1, NULL]'].map(
      (member) => `${zeroed(`union_value(${member})`)}::${union}`,
    ),
  },
  // Those of different types cannot be compared.
  {
    type: 'VARIANT',
    kept: 'JSON',
    hasOnlyEquality: true,
    values: ["'a'", "''", "'é'", "'0.0'"].map((value) => `${value}::VARIANT`),
  },
  {
    type: 'VARIANT',
    kept: 'JSON',
    hasOnlyEquality: true,
    values: finite.map((value) => `${quoted(value)}::DOUBLE::VARIANT`),
  },
  {
    type: 'VARIANT',
    kept: 'JSON',
    hasOnlyEquality: true,
    values: ["{a: 1, b: ['x']}", "{a: 2, b: ['']}"].map((value) => `${value}::VARIANT`),
  },
  {
    type: 'GEOMETRY',
    kept: 'VARCHAR',
    hasOnlyEquality: true,
    values: texts(
      'POINT (1 2)',
      'POINT (-1 0.5)',
      'POINT EMPTY',
      'LINESTRING (0 0, 1 1)',
      'POLYGON ((0 0, 1 0, 1 1, 0 0))',
    ),
  },
  { type: 'BIT', kept: 'VARCHAR', values: texts('0', '1', '01', '10', '0000000011111111') },
];
