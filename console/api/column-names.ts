/** Names with commas between them, in double quotes where they need them, as `cols` of the server has them. */
export function formatColumnNames(names: readonly string[]): string {
  return names.map((name) => (/[",]|^\s|\s$|^$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',');
}

export function parseColumnNames(text: string): string[] {
  const names: string[] = [];
  for (const [, quoted, plain] of text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    if (quoted !== undefined) names.push(quoted.replaceAll('""', '"'));
    else if (plain !== undefined && plain !== '') names.push(plain);
  }
  return names;
}
