import { patterns } from './text-patterns.ts';

/** The types that are detected in text. A column gets the first that all its values fit, else it stays text. */
const textKinds = [
  'boolean',
  'bigint',
  'double',
  'date',
  'time',
  'timestamp',
  'timestampNs',
  'timestampTz',
  'timestampNsInUtc',
  'uuid',
] as const;
export type TextKind = (typeof textKinds)[number];

const sqlTypes: Readonly<Record<TextKind, string>> = {
  boolean: 'BOOLEAN',
  bigint: 'BIGINT',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestampNs: 'TIMESTAMP_NS',
  timestampTz: 'TIMESTAMPTZ',
  timestampNsInUtc: 'TIMESTAMP_NS',
  uuid: 'UUID',
};

/** Conditions on a value under which the cast keeps all of it. A DOUBLE must be checked for more than its form. */
const shapes: Readonly<Record<Exclude<TextKind, 'double'>, string>> = {
  boolean: patterns.boolean,
  bigint: patterns.integer,
  date: patterns.date,
  time: patterns.time,
  timestamp: patterns.timestamp,
  timestampNs: patterns.nanoTimestamp,
  timestampTz: patterns.zonedTimestamp,
  timestampNsInUtc: patterns.nanoTimestampInUtc,
  uuid: patterns.uuid,
};

/** A DOUBLE keeps this many significant digits of any number, */
const sureDigits = 15;
/** and of some numbers this many. */
const mostDigits = 17;
/** and numbers that are written as whole ones below this one. */
const wholeEnd = 2 ** 53;

const matches = (text: string, pattern: string): string => `regexp_full_match(${text}, '${pattern}')`;

/**
 * The value of a text in SQL; NULL where the text is none of the kind, or more than a value of the kind can hold.
 * `forSpeed`: as an expression that is quick to run rather than quick to plan.
 */
export function valueOfKind(kind: TextKind, text: string, forSpeed: boolean): string {
  const looks = (forSpeed ? quickTest(kind, text) : undefined) ?? plainTest(kind, text);
  return `CASE WHEN ${looks} THEN TRY_CAST(${text} AS ${sqlTypes[kind]}) END`;
}

function plainTest(kind: TextKind, text: string): string {
  return kind === 'double' ? isKeptNumber(text) : matches(text, shapes[kind]);
}

/** A regular expression takes longer than the cast itself. */
function quickTest(kind: TextKind, text: string): string | undefined {
  if (kind === 'bigint') return `CAST(TRY_CAST(${text} AS BIGINT) AS VARCHAR) = ${text}`;
  if (kind === 'timestampTz') {
    return `CASE WHEN ${text} LIKE '____-__-__T__:__:__.______Z' THEN ${text} BETWEEN '0001' AND ':'
      ELSE ${plainTest(kind, text)} END`;
  }
  if (kind !== 'timestamp') return undefined;
  const isUsual = `${text} LIKE '____-__-__ __:__:__' OR ${text} LIKE '____-__-__T__:__:__'`;
  return `CASE WHEN ${isUsual} THEN ${text} BETWEEN '0001' AND ':' AND NOT contains(${text}, 'Z')
    ELSE ${plainTest(kind, text)} END`;
}

/** Whether a text says a number, in SQL: a column of nothing but NaN is text. */
export function saysNumber(text: string): string {
  return matches(text, patterns.number);
}

function isKeptNumber(text: string): string {
  const value = `TRY_CAST(${text} AS DOUBLE)`;
  const digits = digitsSql(`regexp_extract(${text}, '^-?0*[.]?0*([0-9.]*)', 1)`);
  const kept = (count: number): string => digitsSql(`regexp_extract(printf('%.${count - 1}e', ${value}), '[0-9.]+')`);
  const keepsDigits = `CASE length(${digits}) WHEN ${mostDigits} THEN ${digits} = ${kept(mostDigits)}
    WHEN ${sureDigits + 1} THEN ${digits} = ${kept(sureDigits + 1)} ELSE length(${digits}) <= ${sureDigits} END`;
  const isInRange = `isfinite(${value}) AND (abs(${value}) < ${wholeEnd} OR contains(lower(${text}), 'e') OR contains(${text}, '.'))`;
  const isNotCutToZero = `(${value} <> 0 OR regexp_matches(${text}, '^[-0.]*([eE]|$)'))`;
  const isLongNumber = `${matches(text, patterns.number)} AND ${isInRange} AND ${isNotCutToZero} AND ${keepsDigits}`;
  return `CASE WHEN length(${text}) <= ${sureDigits} AND ${matches(text, patterns.decimal)} THEN true
    ELSE ${matches(text, patterns.notFinite)} OR (${isLongNumber}) END`;
}

/** Significant digits of a number without leading zeros. */
const digitsSql = (number: string): string => `replace(rtrim(${number}, '0.'), '.', '')`;

const bitOf = Object.fromEntries(textKinds.map((kind, index) => [kind, 1 << index])) as Readonly<
  Record<TextKind, number>
>;
const numberBit = 1 << textKinds.length;
const allKinds = numberBit - 1;

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const isNumber = whole(patterns.number);
const isNotFinite = whole(patterns.notFinite);
const shapeTests = Object.entries(shapes).map(([kind, pattern]) => [bitOf[kind as TextKind], whole(pattern)] as const);

/** Which of the kinds in `among` a text fits, as bits, and whether it says a number. */
function kindsOf(text: string, among: number): number {
  if (!mayBeOfKind(text)) return 0;
  let kinds = 0;
  if ((among & bitOf.double) !== 0) {
    if (isNumber.test(text)) kinds |= numberBit | (isKeptByDouble(text) ? bitOf.double : 0);
    else if (isNotFinite.test(text)) kinds |= bitOf.double;
  }
  for (const [bit, shape] of shapeTests) if ((among & bit) !== 0 && shape.test(text)) kinds |= bit;
  if ((kinds & bitOf.bigint) !== 0 && !isBigint(text)) kinds &= ~bitOf.bigint;
  if ((kinds & calendarKinds) === 0) return kinds;
  if (!isInCalendar(text)) return kinds & ~calendarKinds;
  return hasNanoYear(text) ? kinds : kinds & ~nanoKinds;
}

const nanoKinds = bitOf.timestampNs | bitOf.timestampNsInUtc;
const calendarKinds = nanoKinds | bitOf.date | bitOf.timestamp | bitOf.timestampTz;
const longestValue = 400;

/** By its first letter: most texts need no closer look. */
function mayBeOfKind(text: string): boolean {
  return /^[-.0-9a-fNtTFiI]/.test(text) && text.length <= longestValue;
}

function isBigint(text: string): boolean {
  return text.length < 19 || BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Whether a DOUBLE holds all digits of a number. */
export function isKeptByDouble(text: string): boolean {
  if (text.length <= sureDigits && !/e/i.test(text)) return true;
  const value = Number(text);
  const [mantissa = '', exponent] = text.split(/[eE]/);
  const digits = digitsOf(mantissa.replace(/^-?0*[.]?0*/, ''));
  if (digits.length > mostDigits || !Number.isFinite(value)) return false;
  if (exponent === undefined && !mantissa.includes('.') && Math.abs(value) >= wholeEnd) return false;
  if (digits.length > sureDigits) return digits === digitsOf(Math.abs(value).toExponential(digits.length - 1));
  return value !== 0 || digits === '';
}

function digitsOf(number: string): string {
  return number
    .replace(/e.*/, '')
    .replace(/[0.]+$/, '')
    .replace('.', '');
}

function isInCalendar(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day <= 28) return true;
  const month = Number(text.slice(5, 7));
  if (month !== 2) return day <= 30 || ![4, 6, 9, 11].includes(month);
  const year = Number(text.slice(0, 4));
  return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Nanoseconds in 64 bits reach from September 1677 to April 2262. */
function hasNanoYear(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return year > 1677 && year < 2262;
}

/** Detects the kind of a column from some of its values. */
export class KindFinder {
  #fitting = allKinds;
  #seen = 0;

  add(text: string): void {
    if (this.#fitting === 0) return;
    const kinds = kindsOf(text, this.#fitting);
    this.#fitting &= kinds;
    this.#seen |= kinds;
  }

  /** A number of few digits, for which the caller knows whether it is an integer. */
  addShortNumber(isInteger: boolean): void {
    this.#fitting &= isInteger ? bitOf.bigint | bitOf.double : bitOf.double;
    this.#seen |= numberBit;
  }

  /** Undefined: no value was seen. */
  get kind(): TextKind | 'text' | undefined {
    if (this.#fitting === allKinds) return undefined;
    const kind = textKinds.find((one) => (this.#fitting & bitOf[one]) !== 0) ?? 'text';
    return kind === 'double' && (this.#seen & numberBit) === 0 ? 'text' : kind;
  }
}

/** Kinds that may hold all values of a column whose seen values are of this kind. */
export function widerKinds(kind: TextKind | 'text' | undefined): readonly TextKind[] {
  switch (kind) {
    case undefined:
      return textKinds;
    case 'text':
      return [];
    case 'bigint':
      return ['bigint', 'double'];
    case 'timestamp':
      return ['timestamp', 'timestampNs'];
    case 'timestampTz':
      return ['timestampTz', 'timestampNsInUtc'];
    default:
      return [kind];
  }
}
