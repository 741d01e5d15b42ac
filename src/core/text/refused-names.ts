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
