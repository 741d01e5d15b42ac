import type { DefinedForm, FrameTable, TableName, TableReference, ViewTable } from '../../core/sql/sql.ts';
import { engineSchema, fullName, tableKey } from './table-names.ts';

/** The frame that a name of a statement means, by `owner/handle`. Undefined: it is of the operator's database. */
export type FrameOf = (table: TableName) => string | undefined;

export function frameNamer(opened: readonly (FrameTable | ViewTable)[]): FrameOf {
  const frames = new Map(opened.map((read) => [tableKey(read), read.frame]));
  return (named) => frames.get(tableKey({ name: named.name, schema: engineSchema(named) }));
}

/** A text that means the same for every reader. */
export function withFullNames(
  { sql, references }: { readonly sql: string; readonly references: readonly TableReference[] },
  frameOf: FrameOf,
): string {
  let text = '';
  let at = 0;
  for (const { table, start, end } of [...references].sort((a, b) => a.start - b.start)) {
    const frame = frameOf(table);
    if (frame === undefined) continue;
    text += sql.slice(at, start) + fullName(frame);
    at = end;
  }
  return text + sql.slice(at);
}

/** The same of the body of a macro, cut where its parameters stand. */
export function bodyWithFullNames({ segments, references }: DefinedForm, frameOf: FrameOf): (string | number)[] {
  const body: (string | number)[] = [];
  let from = 0;
  for (const { text, parameter } of segments) {
    const to = from + text.length;
    const shift = from;
    const inside = references
      .filter(({ start, end }) => start >= shift && end <= to)
      .map(({ table, start, end }) => ({ table, start: start - shift, end: end - shift }));
    const last = body.at(-1);
    const piece = parameter ?? withFullNames({ sql: text, references: inside }, frameOf);
    if (typeof piece === 'string' && typeof last === 'string') body[body.length - 1] = last + piece;
    else body.push(piece);
    from = to;
  }
  return body;
}
