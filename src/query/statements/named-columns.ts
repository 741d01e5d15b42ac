import { AppError } from '../../core/app-error.ts';
import type { UnnamedColumns, UnnamedPlace } from '../../core/sql.ts';
import type { ColumnExpression } from '../../core/table-constraints.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';
import { didYouMeanName } from '../../core/text/did-you-mean.ts';
import { quoted } from '../tables/frame-tables.ts';

type ColumnsPlace = Extract<UnnamedPlace, { readonly kind: 'columns' }>;

/** A statement whose text names its columns, and where that text stands in the caller's. */
export interface NamedColumns {
  readonly sql: string;
  readonly written: (at: number) => number;
}

/** What a MERGE names where it does not name columns. */
export interface MergeColumns {
  readonly target: readonly string[];
  readonly source: readonly string[];
  readonly defaults: readonly ColumnExpression[];
}

/** Whether the statement can run as it is: NULL is the default of each column. */
export function isWhole({ places }: UnnamedColumns, defaults: readonly ColumnExpression[]): boolean {
  return defaults.length === 0 && places.every(({ kind }) => kind === 'default' || kind === 'others');
}

/** Names the columns of a MERGE: those of its source stand for those of the frame, by their names or in their order. */
export function namedColumns({ sql, source, places }: UnnamedColumns, columns: MergeColumns): NamedColumns {
  const parts: { readonly built: number; readonly length: number; readonly place: UnnamedPlace }[] = [];
  let text = '';
  let from = 0;
  for (const place of places) {
    text += sql.slice(from, place.start);
    const placed = textOf(place, source?.name ?? '', columns);
    parts.push({ built: text.length, length: placed.length, place });
    text += placed;
    from = place.end;
  }
  const written = (at: number): number => {
    const before = parts.findLast(({ built }) => built <= at);
    if (before === undefined) return at;
    const { built, length, place } = before;
    return at < built + length ? place.start : at - built - length + place.end;
  };
  return { sql: text + sql.slice(from), written };
}

/** The error with its place in the caller's text. */
export function errorWritten(error: unknown, written: NamedColumns['written']): unknown {
  if (!(error instanceof AppError) || error.position === undefined) return error;
  const { code, message, hint, position, retryAfterSeconds, cause } = error;
  return new AppError(code, message, { hint, position: written(position), retryAfterSeconds, cause });
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
        .map((column) => `, ${isName ? quoted(column) : defaultOf(column)}`)
        .join('');
    }
    case 'defaults':
      return ` (${target.map(quoted).join(', ')}) VALUES (${target.map(defaultOf).join(', ')}) `;
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
  if (by === 'values') return `(${target.map(quoted).join(', ')})`;
  const twice = source.find((name, index) => source.findIndex((other) => isSameName(other, name)) < index);
  if (twice !== undefined) {
    throw new AppError('sql_error', `the source has two columns ${JSON.stringify(twice)}`, {
      hint: 'give one of them another name: SELECT … AS other',
      position: start,
    });
  }
  const names = by === 'position' ? target : source.map((name) => nameIn(target, name, start));
  const values = source.map((name) => `${quoted(sourceName)}.${quoted(name)}`);
  if (verb === 'INSERT') {
    const others = defaults.filter(({ column }) => othersOf(names, defaults).includes(column));
    const all = [...names, ...others.map(({ column }) => column)].map(quoted);
    return `(${all.join(', ')}) VALUES (${[...values, ...others.map(({ sql }) => `(${sql})`)].join(', ')})`;
  }
  return `SET ${names.map((name, index) => `${quoted(name)} = ${values[index]}`).join(', ')}`;
}

function nameIn(target: readonly string[], name: string, position: number): string {
  const found = target.find((each) => isSameName(each, name));
  if (found !== undefined) return found;
  const message = `the source has a column ${JSON.stringify(name)} that the frame has not`;
  throw new AppError('sql_error', `${message}${didYouMeanName(name, target)}`, { position });
}
