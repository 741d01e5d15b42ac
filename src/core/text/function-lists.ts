import { AppError } from '../errors/app-error.ts';
import { didYouMean } from './did-you-mean.ts';

export interface Refusal {
  readonly reason: string;
  readonly hint?: string;
  /** Names, separated by space; one that ends in * is a prefix. */
  readonly names: string;
}

/** Reason for which a name, in lower case, is refused; undefined if no list has it. */
export function refusalLookup(refusals: readonly Refusal[]): (name: string) => Refusal | undefined {
  const exact = new Map<string, Refusal>();
  const prefixes: [string, Refusal][] = [];
  for (const refusal of refusals) {
    for (const name of refusal.names.split(/\s+/)) {
      if (name.endsWith('*')) prefixes.push([name.slice(0, -1), refusal]);
      else exact.set(name, refusal);
    }
  }
  return (name) => exact.get(name) ?? prefixes.find(([prefix]) => name.startsWith(prefix))?.[1];
}

/** The functions of an engine. All names are in lower case. */
export interface FunctionLists {
  /** Those of expressions. */
  readonly values: ReadonlySet<string>;
  /** Those of FROM. */
  readonly tables: ReadonlySet<string>;
  readonly refusalOf: (name: string) => Refusal | undefined;
  /** Where one that is on no list does not exist, if not everywhere. */
  readonly where?: string;
}

/** The error of a function that is not on the list of its place. */
export function notOnList(
  name: string,
  place: 'values' | 'tables',
  { refusalOf, where = '', ...lists }: FunctionLists,
  position: number | undefined,
): AppError {
  const shown = name.slice(0, 100);
  const refusal = refusalOf(name);
  if (refusal !== undefined) {
    const { reason, hint } = refusal;
    return new AppError('sql_forbidden', `function ${shown} is not allowed: ${reason}`, { hint, position });
  }
  if (place === 'tables' && lists.values.has(name)) {
    const hint = `use it in SELECT ${shown}(…)`;
    return new AppError('sql_error', `function ${shown} gives no table`, { hint, position });
  }
  const message = `function ${shown} does not exist${where}${didYouMean(shown, lists[place])}`;
  return new AppError('sql_error', message, { position });
}
