/** Names with numbers behind those that repeat: of values under the same key JSON's readers keep one. */
export function distinctKeys(names: readonly string[]): string[] {
  const given = new Set(names);
  const taken = new Set<string>();
  /** By name, the number that was tried last. */
  const tried = new Map<string, number>();
  return names.map((name) => {
    let key = name;
    let n = tried.get(name) ?? 0;
    while (taken.has(key) || (key !== name && given.has(key))) key = `${name}_${++n}`;
    tried.set(name, n);
    taken.add(key);
    return key;
  });
}
