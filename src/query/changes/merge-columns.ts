import { sqlName } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { Change, SqlJob, UnnamedColumns, UnnamedPlace } from '../../core/sql/sql.ts';
import type { ColumnExpression } from '../../core/sql/table-constraints.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';
import { didYouMeanName } from '../../core/text/did-you-mean.ts';
import { editedText, type SourceText } from '../../core/text/source-text.ts';
import { viewTaken } from '../../frames/catalog/frame-errors.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import { describeQuery } from '../rows/run-query.ts';
import type { StatementRun } from '../statement-run.ts';
import { definitionsIn } from '../tables/definitions-in.ts';

type ColumnsPlace = Extract<UnnamedPlace, { readonly kind: 'columns' }>;

/** Column lists for a MERGE without them. */
interface MergeColumns {
  readonly target: readonly string[];
  readonly source: readonly string[];
  readonly defaults: readonly ColumnExpression[];
}

export type ChangeWithSettings = Change & Pick<SqlJob, 'settings'>;

/** Uses the statement with the names of its columns, which a MERGE may leave out. */
export async function withColumnNames<T>(
  call: StatementRun,
  statement: ChangeWithSettings,
  reader: FrameReader,
  use: (named: ChangeWithSettings) => Promise<T>,
): Promise<T> {
  const { engine, frames, principal, options, job } = call;
  const { unnamed, settings } = statement;
  if (unnamed === undefined) return await use(statement);
  if (reader.view !== undefined) throw viewTaken(reader.handle);
  const defaults = reader.constraints?.defaults ?? [];
  if (isWhole(unnamed, defaults)) return await use(statement);
  const query = unnamed.source?.query;
  const source = query === undefined ? [] : (await describeQuery(call, { query, settings })).columns;
  const named = namedColumns(unnamed, {
    target: reader.columns.map(({ name }) => name),
    defaults,
    source: source.map(({ name }) => name),
  });
  const { sql } = named;
  try {
    const definitions = await definitionsIn(frames, principal, sql, options.temporary);
    const change = await engine.analyze(sql, { ...job, definitions });
    if (change.kind !== 'change') throw new AppError('internal', 'a MERGE with the names of its columns is none');
    return await use({ ...change, settings });
  } catch (error) {
    if (!(error instanceof AppError) || error.position === undefined) throw error;
    throw error.with({ position: named.nearest(error.position) });
  }
}

/** Whether the statement can run as it is: NULL is the default of each column. */
function isWhole({ places }: UnnamedColumns, defaults: readonly ColumnExpression[]): boolean {
  return defaults.length === 0 && places.every(({ kind }) => kind === 'default' || kind === 'others');
}

/** Names the columns of a MERGE: those of its source stand for those of the frame, by their names or in their order. */
function namedColumns({ sql, source, places }: UnnamedColumns, columns: MergeColumns): SourceText {
  const edits = places.map((place) => {
    const { start: at, end } = place;
    return { at, length: end - at, text: textOf(place, source?.name ?? '', columns) };
  });
  return editedText(sql, edits);
}

function textOf(place: UnnamedPlace, sourceName: string, columns: MergeColumns): string {
  const { target, defaults } = columns;
  const defaultOf = (name: string): string => {
    const found = defaults.find(({ column }) => isSameName(column, name));
    return found === undefined ? 'NULL' : `(${found.sql})`;
  };
  switch (place.kind) {
    case 'columns':
      return ` ${columnsText(place, sourceName, columns)} `;
    case 'default': {
      const { column } = place;
      return ` ${defaultOf(typeof column === 'string' ? column : (target[column] ?? ''))} `;
    }
    case 'others': {
      const isName = place.part === 'names';
      return othersOf(place.named, defaults)
        .map((column) => `, ${isName ? sqlName(column) : defaultOf(column)}`)
        .join('');
    }
    case 'defaults':
      return ` (${target.map(sqlName).join(', ')}) VALUES (${target.map(defaultOf).join(', ')}) `;
    default:
      return place satisfies never;
  }
}

/** Columns with a default that are not among these. */
function othersOf(named: readonly string[], defaults: readonly ColumnExpression[]): readonly string[] {
  const columns = defaults.map(({ column }) => column);
  return columns.filter((column) => !named.some((name) => isSameName(name, column)));
}

function columnsText(
  { verb, by, count, start }: ColumnsPlace,
  sourceName: string,
  { target, source, defaults }: MergeColumns,
): string {
  const given = by === 'values' ? (count ?? 0) : source.length;
  if (by !== 'name' && given !== target.length) {
    const what = by === 'values' ? 'values' : 'columns of the source';
    throw new AppError('sql_error', `${verb} gives ${given} ${what} to ${target.length} columns`, {
      hint: verb === 'UPDATE' ? 'write UPDATE SET column = value, …' : 'write INSERT (column, …) VALUES (value, …)',
      position: start,
    });
  }
  if (by === 'values') return `(${target.map(sqlName).join(', ')})`;
  const twice = source.find((name, index) => source.findIndex((other) => isSameName(other, name)) < index);
  if (twice !== undefined) {
    throw new AppError('sql_error', `the source has two columns ${JSON.stringify(twice)}`, {
      hint: 'give one of them another name: SELECT … AS other',
      position: start,
    });
  }
  const names = by === 'position' ? target : source.map((name) => nameIn(target, name, start));
  const values = source.map((name) => `${sqlName(sourceName)}.${sqlName(name)}`);
  if (verb === 'INSERT') {
    const others = defaults.filter(({ column }) => othersOf(names, defaults).includes(column));
    const all = [...names, ...others.map(({ column }) => column)].map(sqlName);
    return `(${all.join(', ')}) VALUES (${[...values, ...others.map(({ sql }) => `(${sql})`)].join(', ')})`;
  }
  return `SET ${names.map((name, index) => `${sqlName(name)} = ${values[index]}`).join(', ')}`;
}

function nameIn(target: readonly string[], name: string, position: number): string {
  const found = target.find((each) => isSameName(each, name));
  if (found !== undefined) return found;
  const message = `the source has a column ${JSON.stringify(name)} that the frame has not`;
  throw new AppError('sql_error', `${message}${didYouMeanName(name, target)}`, { position });
}
