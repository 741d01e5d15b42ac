import { type Column, sqlString, sqlTypeName } from '@framehold/columns';
import { type Connection, DuckDbError } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { TextOptions, TextType } from '../../../../../core/rows/frame-engine.ts';
import { didYouMeanName } from '../../../../../core/text/did-you-mean.ts';

/** DuckDB's time and memory for a statement over columns of text grow with the square of their number. */
export const mostColumns = 4096;

export function tooManyColumns(what: string): AppError {
  return new AppError('too_large', `${what}; text of at most ${mostColumns} columns can be read`, {
    hint: 'send Parquet or Arrow, or put the names of the columns into values',
  });
}

/** A column of a file that becomes one of the frame, at its place there. */
export interface PlannedColumn {
  readonly name: string;
  /** Which column of the file. */
  readonly index: number;
  /** Undefined: to be found out. */
  readonly type: TextType | undefined;
}

/** The caller's options for columns, as sent over the wire. */
export interface ColumnWishes extends Pick<TextOptions, 'like'> {
  readonly types?: readonly (readonly [string, TextType])[] | undefined;
}

/** Which columns of the file the frame gets, and with which types. `hasNames`: the file itself names its columns. */
export function plannedColumns(names: readonly string[], hasNames: boolean, wishes: ColumnWishes): PlannedColumn[] {
  if (names.length > mostColumns) throw tooManyColumns(`the file has ${names.length} columns`);
  const types = new Map(wishes.types);
  const { like } = wishes;
  for (const name of types.keys()) {
    if (names.includes(name) || like?.some((column) => column.name === name)) continue;
    throw new AppError(
      'invalid_parameter',
      `a type is named for column ${JSON.stringify(name)}, which the file does not have${didYouMeanName(name, names)}`,
    );
  }
  if (like === undefined) return names.map((name, index) => ({ name, index, type: types.get(name) }));
  const places = hasNames ? placesByName(names, like) : placesInOrder(names, like);
  return like.map(({ name, type }, index) => ({
    name,
    index: places[index] ?? 0,
    type: { type, timeFormat: types.get(name)?.timeFormat },
  }));
}

function placesByName(names: readonly string[], like: readonly Column[]): number[] {
  const left = new Map<string, number[]>();
  for (const [index, name] of names.entries()) left.set(name, [...(left.get(name) ?? []), index]);
  const places = like.map(({ name }) => {
    const place = left.get(name)?.shift();
    if (place !== undefined) return place;
    const others = names.filter((other) => like.every((column) => column.name !== other));
    throw mismatch(`column ${JSON.stringify(name)} is missing in the rows sent${didYouMeanName(name, others)}`);
  });
  for (const [name, rest] of left) {
    if (rest.length > 0) throw mismatch(`column ${JSON.stringify(name)} is not in the frame`);
  }
  return places;
}

function placesInOrder(names: readonly string[], like: readonly Column[]): number[] {
  if (names.length === like.length) return names.map((_, index) => index);
  throw mismatch(`the file has ${names.length} columns without names, and the frame has ${like.length}`);
}

function mismatch(what: string): AppError {
  return new AppError('schema_mismatch', `these rows do not fit the frame: ${what}`, {
    hint: 'an append brings the same columns; overwrite replaces the frame',
  });
}

/** A description of the expected value of the column, for errors. */
export function expectedOf({ type, timeFormat }: TextType): string {
  const name = sqlTypeName(type);
  return timeFormat === undefined ? name : `${name} in the form ${timeFormat}`;
}

/** Rejects forms of dates and times that nothing can be read by. */
export async function checkTimeFormats(
  connection: Connection,
  types: readonly (readonly [string, TextType])[],
): Promise<void> {
  for (const timeFormat of new Set(types.map(([, type]) => type.timeFormat))) {
    if (timeFormat === undefined) continue;
    try {
      await connection.run(`SELECT try_strptime('', ${sqlString(timeFormat)})`);
    } catch (error) {
      if (!(error instanceof DuckDbError) || !error.isCallers) throw error;
      throw new AppError(
        'invalid_parameter',
        `the form ${JSON.stringify(timeFormat)} of dates and times is not understood`,
        {
          hint: "write it in strptime's letters, such as %Y-%m-%d %H:%M:%S.%f",
          cause: error,
        },
      );
    }
  }
}
