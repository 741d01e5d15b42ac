import { asciiLower } from '../../../../core/text/ascii-lower.ts';

/** Names that Parquet's writer keeps as they are and SQL can tell apart: it renames those that repeat, whatever their case. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  /** By name, the number that was tried last: each of ten thousand alike would else try those of all before it. */
  const tried = new Map<string, number>();
  return names.map((name) => {
    let unique = name === '' ? 'column' : name;
    const key = asciiLower(name);
    let n = tried.get(key) ?? 0;
    while (taken.has(asciiLower(unique))) unique = `${name}_${++n}`;
    tried.set(key, n);
    taken.add(asciiLower(unique));
    return unique;
  });
}
