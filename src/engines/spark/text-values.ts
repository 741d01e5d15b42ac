import { type DataType, sqlTypeName } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';

const integer = /^([+-]?\d{1,40})$/;
const decimal = /^([+-]?)(\d{0,40})(?:\.(\d{0,40}))?$/;
const date = /^(\d{4})-(\d{2})-(\d{2})$/;
const time = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/;
const timestamp = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['t', true],
  ['1', true],
  ['false', false],
  ['f', false],
  ['0', false],
]);
const notNumbers: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Infinity],
  ['infinity', Infinity],
  ['-inf', -Infinity],
  ['-infinity', -Infinity],
]);

/** A text that is meant as a value of a type, in the form in which literals take it. */
export function valueOfText(name: string, type: DataType, text: unknown): unknown {
  if (text === null) return null;
  if (type.kind === 'list') return (text as unknown[]).map((each) => valueOfText(name, type.element, each));
  const value = parse(type, text as string);
  if (value === undefined) {
    const shown = JSON.stringify((text as string).slice(0, 100));
    throw new AppError('invalid_parameter', `parameter ${name} is not of type ${sqlTypeName(type)}: ${shown}`);
  }
  return value;
}

function parse(type: DataType, given: string): unknown {
  const text = given.trim();
  switch (type.kind) {
    case 'utf8':
    case 'json':
      return given;
    case 'uuid':
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : undefined;
    case 'boolean':
      return booleans.get(text.toLowerCase());
    case 'int':
      return parseInteger(text, type);
    case 'float':
      return parseFloat64(text);
    case 'decimal':
      return parseDecimal(text, type);
    case 'binary':
      return /^[A-Za-z0-9+/]*={0,2}$/.test(given) ? Buffer.from(given, 'base64') : undefined;
    case 'date':
      return parseDate(text);
    case 'time':
      return parseTime(text);
    case 'timestamp':
      return parseTimestamp(text, type);
    default:
      return undefined;
  }
}

function parseInteger(text: string, { bits, signed }: Extract<DataType, { kind: 'int' }>): bigint | undefined {
  const match = integer.exec(text);
  if (match?.[1] === undefined) return undefined;
  const value = BigInt(match[1].replace('+', ''));
  return (signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)) === value ? value : undefined;
}

function parseFloat64(text: string): number | undefined {
  const known = notNumbers.get(text.toLowerCase());
  if (known !== undefined) return known;
  const value = Number(text);
  return text === '' || Number.isNaN(value) ? undefined : value;
}

/** Without its point; further digits are rounded half away from zero. */
function parseDecimal(text: string, { precision, scale }: Extract<DataType, { kind: 'decimal' }>): bigint | undefined {
  const match = decimal.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(`${whole}${fraction.slice(0, scale).padEnd(scale, '0')}` || '0');
  const rounded = (fraction[scale] ?? '0') >= '5' ? digits + 1n : digits;
  if (rounded >= 10n ** BigInt(precision)) return undefined;
  return sign === '-' ? -rounded : rounded;
}

/** Days since 1970-01-01. */
function parseDate(text: string): bigint | undefined {
  const match = date.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return undefined;
  return BigInt(at.getTime() / 86_400_000);
}

/** Nanoseconds since midnight. */
function parseTime(text: string): bigint | undefined {
  const match = time.exec(text);
  if (match === null) return undefined;
  const [hours, minutes, seconds] = match.slice(1, 4).map((part) => Number(part ?? 0)) as [number, number, number];
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  return BigInt(hours * 3600 + minutes * 60 + seconds) * 1_000_000_000n + BigInt((match[4] ?? '').padEnd(9, '0'));
}

/** Microseconds since 1970; a zone counts only where the type has one, and UTC is meant where none is written. */
function parseTimestamp(text: string, { unit, zoned }: Extract<DataType, { kind: 'timestamp' }>): bigint | undefined {
  const match = timestamp.exec(text);
  const days = match === null ? undefined : parseDate(match[1] ?? '');
  const nanoseconds = match?.[2] === undefined ? 0n : parseTime(match[2]);
  if (days === undefined || nanoseconds === undefined) return undefined;
  const microseconds = unit === 'ns' ? wholeMicroseconds(nanoseconds) : nanoseconds / 1000n;
  const local = days * 86_400_000_000n + microseconds;
  return zoned ? local - offsetMicroseconds(match?.[3]) : local;
}

/** Timestamps of a cluster engine have no nanoseconds, and none shall be lost. */
export function wholeMicroseconds(nanoseconds: bigint): bigint {
  if (nanoseconds % 1000n === 0n) return nanoseconds / 1000n;
  throw new AppError('invalid_parameter', 'a parameter is a timestamp finer than microseconds', {
    hint: 'a cluster engine has none: run the statement on the local engine, or round the value',
  });
}

function offsetMicroseconds(zone = 'Z'): bigint {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (match === null) return 0n;
  const minutes = BigInt(Number(match[2]) * 60 + Number(match[3] ?? 0));
  return (match[1] === '-' ? -minutes : minutes) * 60_000_000n;
}
