/** Names with commas between them, in double quotes where a name has commas, `\` before a quote: as `cols` of the server has them. */
export function formatColumnNames(names: readonly string[]): string {
  return names
    .map((name) => name.replace(/[\\"]/g, '\\$&'))
    .map((name) => (name.includes(',') ? `"${name}"` : name))
    .join(',');
}

export function parseColumnNames(text: string): string[] {
  const names = [''];
  let isQuoted = false;
  for (const [token, escaped] of text.matchAll(/\\(.)|[^\\]|\\$/gsu)) {
    if (escaped === undefined && token === '"') isQuoted = !isQuoted;
    else if (token === ',' && !isQuoted) names.push('');
    else names.push((names.pop() ?? '') + (escaped ?? token));
  }
  return names.filter((name) => name !== '');
}
