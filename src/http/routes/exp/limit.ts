import { invalidLimit, type RowRange, wholeNumber } from '../../exchange/row-limit.ts';

/**
 * `N` = the first N rows; `lo,hi` = the rows after the first lo, up to row hi, as in QuestDB's /exp (and unlike its /exec); `lo,`
 * = to the end.
 */
export function parseExportLimit(text: string | undefined): RowRange {
  if (text === undefined) return { from: 0, to: Infinity };
  const match = /^(\d+)(?:(,)(\d*))?$/.exec(text);
  if (match === null) {
    throw invalidLimit(text, 'a limit is a whole number such as 100, or a range such as 10,20 for rows 11 to 20');
  }
  const [, first = '', comma, last = ''] = match;
  const number = wholeNumber(first, text);
  const range =
    comma === undefined
      ? { from: 0, to: number }
      : { from: number, to: last === '' ? Infinity : wholeNumber(last, text) };
  if (range.to < range.from) throw invalidLimit(text, 'a range begins with the smaller number, such as 10,20');
  return range;
}
