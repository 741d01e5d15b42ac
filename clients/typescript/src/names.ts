/** A name in SQL, with any characters. */
export function quoteName(name: string): string {
  if (name.includes('\0')) throw new TypeError(`${JSON.stringify(name)} is no name: it has a NUL in it`);
  return `"${name.replaceAll('"', '""')}"`;
}

/** A handle, or `owner/handle` of a frame that another tenant shares, as a table in SQL. */
export function quoteTable(handle: string): string {
  const at = handle.indexOf('/');
  if (at < 0) return quoteName(handle);
  return `${quoteName(handle.slice(0, at))}.${quoteName(handle.slice(at + 1))}`;
}

/** Names of columns as the server's parameters take them. */
export function columnList(names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll(/["\\]/g, '\\$&')}"`).join(',');
}
