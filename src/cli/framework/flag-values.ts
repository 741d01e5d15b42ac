import { quoteValue } from '../../config/given-value.ts';
import { UsageError } from '../../config/usage-error.ts';

export function wholeNumberFlag(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new UsageError(`${flag} is ${quoteValue(text)}; expected a whole number of 0 or more`);
}

/** Names with commas between them; in double quotes where a name has one itself, and `""` is a quote there. */
export function columnList(flag: string, text: string): string[] {
  const pattern = /\s*(?:"((?:[^"]|"")*)"\s*|([^",]+))(,|$)/y;
  const names: string[] = [];
  for (;;) {
    const match = pattern.exec(text);
    if (match === null) {
      throw new UsageError(`${flag} is ${quoteValue(text)}; expected column names with commas between them: a,b`);
    }
    names.push(match[1]?.replaceAll('""', '"') ?? match[2]?.trim() ?? '');
    if (match[3] === '') return names;
  }
}
