/** Forms of values in text, in the syntax that JavaScript and DuckDB's RE2 share. Each matches a whole value. */

const year = '(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})';
const monthAndDay = '(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])';
const date = `${year}-${monthAndDay}`;
const minutes = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const seconds = `${minutes}:[0-5][0-9]`;
const offset = '(?:Z|[+-](?:0[0-9]|1[0-5])(?::?[0-5][0-9])?)';
const decimal = '-?(?:(?:0|[1-9][0-9]*)(?:[.][0-9]+)?|[.][0-9]+)';

export const patterns = {
  boolean: '[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]',
  /** Without a plus or leading zeros: such numbers are of telephones, articles and districts. */
  integer: '0|-?[1-9][0-9]{0,18}',
  decimal,
  number: `${decimal}(?:[eE][+-]?[0-9]{1,3})?`,
  notFinite: 'NaN|nan|-?(?:Infinity|inf)',
  date,
  /** Also of the years that ISO 8601 signs, and of its year 0. */
  farDate: `(?:[+-][0-9]{4,7}|0000)-${monthAndDay}`,
  time: `${seconds}(?:[.][0-9]{1,6})?`,
  timestamp: `${date}[T ](?:${minutes}|${seconds}(?:[.][0-9]{1,6})?)`,
  nanoTimestamp: `${date}[T ](?:${minutes}|${seconds}(?:[.][0-9]{1,9})?)`,
  /** DuckDB has no zoned nanoseconds, but in UTC none are needed. */
  nanoTimestampInUtc: `${date}[T ]${seconds}(?:[.][0-9]{1,9})?Z`,
  zonedTimestamp: `${date}[T ]${seconds}(?:[.][0-9]{1,6})?${offset}`,
  uuid: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
} as const;
