import { sqlString } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import { mostRejections } from './text-rejections.ts';

/** Marks our own complaint inside an error that DuckDB reports. */
const misfitMark = 'framehold-misfit';

/** A column converted from texts, in SQL over the columns of the file. */
export interface TextColumn {
  readonly name: string;
  /** The text, NULL where there is none. */
  readonly text: string;
  /** The value; NULL where the text is none of the column's type. */
  readonly value: string;
  /** The expected value, in words: other text makes a bad row. Undefined: then the type is wrong. */
  readonly expected: string | undefined;
}

/** The typed rows. Reading them fails at a text that is no value of its column. */
export function checkedRows(columns: readonly TextColumn[], from: string, where = ''): string {
  const items = columns.map(({ text, value }) =>
    text === value
      ? text
      : `coalesce(${value}, CASE WHEN ${text} IS NOT NULL THEN error(${sqlString(misfitMark)}) END)`,
  );
  return `(SELECT ${items.map((item, index) => `${item} AS v${index}`).join(', ')} FROM ${from} ${where})`;
}

/** Whether an error says that a text was no value of its column. */
export function isMisfit(message: string): boolean {
  return message.includes(misfitMark);
}

/** Only rows whose texts all fit the named types. */
export function fittingRows(columns: readonly TextColumn[]): string {
  const bad = columns.filter(mayBeBad).map(isBad);
  return bad.length === 0 ? '' : `WHERE NOT (${bad.join(' OR ')})`;
}

export interface BadValue {
  /** Which row, from 0. */
  readonly row: number;
  /** Which column, by position. */
  readonly column: number;
  /** The beginning of the text. */
  readonly text: string;
}

const shownCharacters = 60;

/** The first rows that `fittingRows` leaves out, and their number. */
export async function badValues(
  connection: Connection,
  columns: readonly TextColumn[],
  from: string,
): Promise<{ count: number; first: BadValue[] }> {
  const bad = columns.flatMap((column, index) => (mayBeBad(column) ? [{ column, index }] : []));
  if (bad.length === 0) return { count: 0, first: [] };
  const which = `CASE ${bad.map(({ column, index }) => `WHEN ${isBad(column)} THEN ${index}`).join(' ')} END`;
  const text = `CASE bad_column ${bad.map(({ column, index }) => `WHEN ${index} THEN ${column.text}`).join(' ')} END`;
  const [counted] = await connection.rows<{ bad: number }>(
    `SELECT count(*) AS bad FROM ${from} ${fittingRows(columns).replace('WHERE NOT', 'WHERE')}`,
  );
  const count = Number(counted?.bad ?? 0);
  if (count === 0) return { count, first: [] };
  const first = await connection.rows<BadValue>(
    `SELECT bad_row AS "row", bad_column AS "column", left(${text}, ${shownCharacters}) AS "text"
     FROM (SELECT *, row_number() OVER () - 1 AS bad_row, ${which} AS bad_column FROM ${from})
     WHERE bad_column IS NOT NULL LIMIT ${mostRejections}`,
  );
  return { count, first };
}

function mayBeBad({ expected, text, value }: TextColumn): boolean {
  return expected !== undefined && text !== value;
}

function isBad({ text, value }: TextColumn): string {
  return `(${text} IS NOT NULL AND (${value}) IS NULL)`;
}
