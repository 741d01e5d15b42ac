import fc from 'fast-check';

/** Any of the range, its ends often. */
export function between(min: bigint, max: bigint): fc.Arbitrary<bigint> {
  return fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max, min + 1n, max - 1n));
}

const denormal = 5e-324;
export const doubles = fc.oneof(
  fc.double(),
  fc.integer().map((n) => n / 1000),
  fc.constantFrom(Number.NaN, -0, 0, Infinity, -Infinity, denormal, -denormal, Number.MAX_VALUE, 0.1, 1e22, 2 ** 53),
);

export const floats = fc.oneof(
  fc.float(),
  fc.constantFrom(...[Number.NaN, -0, Infinity, -Infinity, 1e-45, 3.4028234663852886e38, 0.1].map(Math.fround)),
);

/** Texts that are easily lost, or misread. */
const trickyTexts = [
  ...['', ' ', '"', '""', "'", ',', ';', '\t', '|', '\r', '\n', '\r\n', '\\', '\\N', '\\n', '#', '=1+1', '@', '-'],
  ...['NULL', 'null', 'NaN', 'true', '007', '+1', '1e5', '12345678901234567890', '2026-01-31', '{}', '[]', '{"a":1}'],
  ...[
    '\ufeff',
    'a\ufeff',
    '\u2028',
    '🦆',
    'e\u0301',
    '👩‍👩‍👧',
    '\u007f',
    '\u0001',
    'x'.repeat(300),
    ' x ',
    '"a","b"\r\n',
  ],
];

/** Any text but NUL. */
export const text = fc.oneof(
  fc.constantFrom(...trickyTexts),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }).map((value) => value.replaceAll('\0', '0')),
  fc.array(fc.constantFrom(...trickyTexts), { maxLength: 4 }).map((parts) => parts.join('')),
);

export const textWithNul = fc.tuple(text, text).map((parts) => parts.join('\0'));

export const bytes = fc.uint8Array({ maxLength: 8 }).map((values) => Uint8Array.from(values));

/** In days: the ends of DuckDB's range, beyond which is its infinity, and of four-digit years. */
const lastDay = 2n ** 31n - 2n;
const fourDigitDays = [-719_162n, 2_932_896n] as const;
export const dates = fc.oneof(between(-lastDay, lastDay).map(Number), between(-719_530n, 2_932_898n).map(Number));

export type Unit = 's' | 'ms' | 'us';
const perSecond = { s: 1n, ms: 1000n, us: 1_000_000n } as const;
const ends = {
  s: [-9_223_372_022_400n, 9_223_372_036_854n],
  ms: [-9_223_372_022_400_000n, 9_223_372_036_854_775n],
  us: [-9_223_372_022_400_000_000n, 9_223_372_036_854_775_806n],
} as const;
const secondsADay = 86_400n;

function fourDigitTimestamps(unit: Unit): fc.Arbitrary<bigint> {
  const [first, last] = fourDigitDays.map((day) => day * secondsADay * perSecond[unit]) as [bigint, bigint];
  return fc.oneof(
    between(first, last + secondsADay * perSecond[unit] - 1n),
    between(0n, 2_000_000_000n * perSecond[unit]),
  );
}

export function timestamps(unit: Unit): fc.Arbitrary<bigint> {
  const [first, last] = ends[unit];
  return fc.oneof(between(first, last), fourDigitTimestamps(unit));
}

/** From the first whole day that DuckDB has to the last nanosecond that is not its infinity. */
export const nanoTimestamps = between(-9_223_286_400_000_000_000n, 2n ** 63n - 2n);

/** Intervals that Parquet can store: no part negative, whole milliseconds. */
export const intervals = fc
  .tuple(between(0n, 2n ** 31n - 1n), between(0n, 2n ** 31n - 1n), between(0n, 2n ** 32n - 1n))
  .map(([months, days, ms]) => [Number(months), Number(days), ms * 1_000_000n]);
