import { asciiLower } from '../../../../../core/text/ascii-lower.ts';

/** The names of WITH that are visible at a place of a query. A linked list: thousands of names need no copies. */
export interface WithNames {
  readonly outer: WithNames | undefined;
  /** The names of one WITH, by their order. */
  readonly order: ReadonlyMap<string, number>;
  /** Number of visible names before this one. */
  readonly before: number;
}

export const noNames: WithNames = { outer: undefined, order: new Map(), before: 0 };

export function hasName(names: WithNames, name: string): boolean {
  const wanted = asciiLower(name);
  for (let at: WithNames | undefined = names; at !== undefined; at = at.outer) {
    const place = at.order.get(wanted);
    if (place !== undefined && place < at.before) return true;
  }
  return false;
}

/** Names that are visible behind a WITH of these names, and (with a smaller `before`) inside of it. */
export function withNames(outer: WithNames, names: readonly string[]): WithNames {
  return { outer, order: new Map(names.map((name, index) => [asciiLower(name), index])), before: names.length };
}
