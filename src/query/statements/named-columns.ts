import { AppError } from '../../core/app-error.ts';
import type { UnnamedColumns } from '../../core/sql.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';
import { didYouMeanName } from '../../core/text/did-you-mean.ts';
import { quoted } from '../tables/frame-tables.ts';

type Place = UnnamedColumns['places'][number];

/** A statement whose text names its columns, and where that text stands in the caller's. */
export interface NamedColumns {
  readonly sql: string;
  readonly written: (at: number) => number;
}

/** Names the columns of a MERGE: those of its source stand for those of the frame, by their names or in their order. */
export function namedColumns(
  { sql, sourceName, places }: UnnamedColumns,
  { target, source }: { readonly target: readonly string[]; readonly source: readonly string[] },
): NamedColumns {
  const parts: { readonly built: number; readonly length: number; readonly place: Place }[] = [];
  let text = '';
  let from = 0;
  for (const place of places) {
    text += sql.slice(from, place.start);
    const columns = ` ${columnsText(place, sourceName, target, source)} `;
    parts.push({ built: text.length, length: columns.length, place });
    text += columns;
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

function columnsText(
  { verb, by, count, start }: Place,
  sourceName: string,
  target: readonly string[],
  source: readonly string[],
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
  if (verb === 'INSERT') return `(${names.map(quoted).join(', ')}) VALUES (${values.join(', ')})`;
  return `SET ${names.map((name, index) => `${quoted(name)} = ${values[index]}`).join(', ')}`;
}

function nameIn(target: readonly string[], name: string, position: number): string {
  const found = target.find((each) => isSameName(each, name));
  if (found !== undefined) return found;
  const message = `the source has a column ${JSON.stringify(name)} that the frame has not`;
  throw new AppError('sql_error', `${message}${didYouMeanName(name, target)}`, { position });
}
