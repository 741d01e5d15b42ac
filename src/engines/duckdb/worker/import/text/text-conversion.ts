import { type DataType, sqlString, sqlTypeName } from '@framehold/columns';
import type { TextType } from '../../../../../core/rows/frame-engine.ts';
import { nestedValue } from './nested-conversion.ts';
import { patterns } from './text-patterns.ts';

/**
 * The value of a text in SQL for a named type; NULL if the text is not of this type, or would be changed. More forms are accepted
 * than are detected: a caller that names a type knows that 007 is a number.
 */
export function valueOfType({ type, timeFormat }: TextType, text: string): string {
  if (timeFormat !== undefined) {
    const parsed = parsedTime(type, `try_strptime(${text}, ${sqlString(timeFormat)})`, timeFormat);
    if (parsed !== undefined) return parsed;
  }
  const cast = `TRY_CAST(${text} AS ${sqlTypeName(type)})`;
  switch (type.kind) {
    case 'utf8':
      return text;
    case 'json':
      return `CASE WHEN json_valid(${text}) THEN CAST(${text} AS JSON) END`;
    case 'boolean':
      return cast;
    case 'int':
      // The first test is quick, and true of nearly all.
      return `CASE WHEN CAST(${cast} AS VARCHAR) = ${text} THEN ${cast}
        WHEN ${matches(text, ' *[+-]?[0-9]+(?:[.]0*)? *')} THEN ${cast} END`;
    case 'float':
      // DuckDB accepts our forms of a number, and underscores between its digits.
      return `CASE WHEN isfinite(${cast}) AND NOT contains(${text}, '_') THEN ${cast}
        WHEN ${matches(text, patterns.notFinite)} THEN ${cast} END`;
    case 'decimal':
      return where(text, ` *[+-]?[0-9]*(?:[.][0-9]{0,${type.scale}}0*)? *`, cast);
    case 'uuid':
      return `CASE WHEN length(${text}) = 36 THEN ${cast} END`;
    case 'binary':
      return `TRY(from_base64(${text}))`;
    case 'date': {
      const midnight = '(?:[T ]00:00(?::00(?:[.]0*)?)?Z?)?';
      const far = `TRY_CAST(regexp_extract(${text}, '^[+]?(.[0-9]*-..-..)', 1) AS DATE)`;
      return `CASE WHEN ${matches(text, `${patterns.date}${midnight}`)} THEN TRY_CAST(left(${text}, 10) AS DATE)
        WHEN ${matches(text, `${patterns.farDate}${midnight}`)} THEN ${far} END`;
    }
    case 'time':
      return where(text, `[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{0,${digitsOf[type.unit]}}0*)?)?`, cast);
    case 'timestamp':
      return timestamp(text, type, cast);
    case 'interval':
      return `TRY_CAST(CASE WHEN starts_with(${text}, 'P') THEN ${intervalWords(text)} ELSE ${text} END AS INTERVAL)`;
    case 'list':
    case 'array':
    case 'struct':
    case 'map':
    case 'union':
      return nestedValue(type, text, (scalar, part) => valueOfType({ type: scalar }, part));
    case 'null':
      return 'NULL';
    default:
      return type satisfies never;
  }
}

const digitsOf = { s: 0, ms: 3, us: 6, ns: 9 } as const;

const matches = (text: string, pattern: string): string => `regexp_full_match(${text}, '${pattern}')`;
const where = (text: string, pattern: string, value: string): string =>
  `CASE WHEN ${matches(text, pattern)} THEN ${value} END`;

/** A time without a zone is read as UTC; a time with one is converted to UTC for a type without a zone. */
function timestamp(text: string, type: DataType & { kind: 'timestamp' }, cast: string): string {
  const time = `[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{0,${digitsOf[type.unit]}}0*)?)?`;
  const local = `${patterns.date}(?:[T ]${time})?`;
  const zoned = `${patterns.date}[T ]${time} ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)`;
  // A cast to a type without a zone would drop the offset, except to nanoseconds.
  const instant = `TRY_CAST(${text} AS TIMESTAMPTZ)`;
  const atOffset =
    type.zoned || type.unit === 'ns' ? cast : `CAST(timezone('UTC', ${instant}) AS ${sqlTypeName(type)})`;
  const atUtc = type.zoned ? `timezone('UTC', TRY_CAST(${text} AS TIMESTAMP))` : cast;
  // So far away, timezone() overflows.
  const far = `TRY_CAST(rtrim(ltrim(${text}, '+'), 'Z') || 'Z' AS ${sqlTypeName(type)})`;
  // Faster than any regular expression; the cast refuses other characters than digits.
  const usual = `CASE WHEN ${text} LIKE '____-__-__T__:__:__.______Z' AND ${text} >= '0001' THEN TRY_CAST(${text} AS TIMESTAMP)`;
  const first = type.unit === 'us' && !type.zoned ? `${usual} WHEN` : 'CASE WHEN';
  return `${first} ${matches(text, local)} THEN ${atUtc} WHEN ${matches(text, zoned)} THEN ${atOffset}
    WHEN ${matches(text, `${patterns.farDate}[T ]${time}Z?`)} THEN ${far} END`;
}

function parsedTime(type: DataType, parsed: string, timeFormat: string): string | undefined {
  const isZoned = /%[zZ]/.test(timeFormat.replaceAll('%%', ''));
  const inUtc = isZoned ? `timezone('UTC', ${parsed})` : parsed;
  switch (type.kind) {
    case 'date':
    case 'time':
      return `TRY_CAST(${inUtc} AS ${sqlTypeName(type)})`;
    case 'timestamp':
      if (type.zoned) return isZoned ? parsed : `timezone('UTC', CAST(${parsed} AS TIMESTAMP))`;
      return `TRY_CAST(${inUtc} AS ${sqlTypeName(type)})`;
    default:
      return undefined;
  }
}

/** ISO 8601's `P1DT2H`, which DuckDB does not read, in words that it does. */
function intervalWords(text: string): string {
  const words = (part: string, units: readonly (readonly [string, string])[]): string =>
    units.reduce((sql, [letter, unit]) => `replace(${sql}, '${letter}', ' ${unit} ')`, part);
  const dates = words(`regexp_extract(${text}, '^P([^T]*)', 1)`, [
    ['Y', 'years'],
    ['M', 'months'],
    ['W', 'weeks'],
    ['D', 'days'],
  ]);
  const times = words(`regexp_extract(${text}, 'T(.*)$', 1)`, [
    ['H', 'hours'],
    ['M', 'minutes'],
    ['S', 'seconds'],
  ]);
  return `(${dates} || ${times})`;
}
