import type { TextEdit } from '../../../../core/sql.ts';

/** The text with these edits, which are in order. */
export function editedText(sql: string, edits: readonly TextEdit[]): string {
  let edited = '';
  let from = 0;
  for (const { at, text } of edits) {
    edited += sql.slice(from, at) + text;
    from = at;
  }
  return edited + sql.slice(from);
}

/** Where an offset in the edited text stands in the one without edits. */
export function placeWithoutEdits(offset: number, edits: readonly TextEdit[]): number {
  let added = 0;
  for (const { at, text } of edits) {
    if (offset < at + added) break;
    if (offset < at + added + text.length) return at;
    added += text.length;
  }
  return offset - added;
}
