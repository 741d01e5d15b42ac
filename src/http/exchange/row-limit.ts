import { AppError } from '../../core/errors/app-error.ts';

/** Rows [from, to) of a frame; `to` is Infinity for "to the end". */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

const defaultLimit = 1000;

/** `N` = the first N rows; `lo,hi` = rows lo to hi, 1-based and inclusive, as in QuestDB's /exec; `lo,` = to the end. */
export function parseRowLimit(text: string | undefined, maxRows: number | undefined): RowRange {
  if (text === undefined) return { from: 0, to: Math.min(defaultLimit, maxRows ?? defaultLimit) };
  const match = /^(\d+)(?:(,)(\d*))?$/.exec(text);
  if (match === null)
    throw invalidLimit(text, 'a limit is a whole number such as 100, or a range of rows such as 11,20');
  const [, first = '', comma, last = ''] = match;
  const range =
    comma === undefined
      ? { from: 0, to: wholeNumber(first, text) }
      : { from: Math.max(wholeNumber(first, text), 1) - 1, to: last === '' ? Infinity : wholeNumber(last, text) };
  if (comma !== undefined && range.to <= range.from) {
    throw invalidLimit(text, 'a range of rows begins with the smaller number, such as 11,20');
  }
  if (range.to !== Infinity) checkMaximum(range.to - range.from, maxRows, text);
  return range;
}

/** For open ranges, whose size is unknown until the frame is known. */
export function checkMaximum(rows: number, maxRows: number | undefined, text: string | undefined): void {
  if (maxRows !== undefined && rows > maxRows) {
    throw invalidLimit(text ?? '', `this server gives at most ${maxRows} rows at once`);
  }
}

export function wholeNumber(digits: string, text: string): number {
  const value = Number(digits);
  if (value > Number.MAX_SAFE_INTEGER) throw invalidLimit(text, 'a limit is at most 9007199254740991');
  return value;
}

export function invalidLimit(text: string, hint: string): AppError {
  return new AppError('invalid_limit', `limit ${JSON.stringify(text.slice(0, 100))} is not valid`, { hint });
}
