/** Names that Parquet's writer keeps as they are and SQL can tell apart: it renames those that repeat, whatever their case. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let unique = name === '' ? 'column' : name;
    for (let n = 1; taken.has(unique.toLowerCase()); n++) unique = `${name}_${n}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}
