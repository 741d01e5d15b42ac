/**
 * The line of a key (`section.key`) or a section. smol-toml gives no positions, so this looks for the usual forms: under its
 * `[section]`, dotted, or inside an inline table.
 */
export function lineOfKey(toml: string, key: string): number | undefined {
  let section = '';
  let lineOfInlineTable: number | undefined;
  for (const [index, line] of toml.split('\n').entries()) {
    const header = /^\s*\[+([^\]]+)\]/.exec(line)?.[1];
    const assigned = /^\s*([\w."' -]+?)\s*=/.exec(line)?.[1];
    if (header !== undefined) section = plain(header);
    else if (assigned === undefined) continue;
    const path = header !== undefined ? section : [section, plain(assigned ?? '')].filter(Boolean).join('.');
    if (path === key) return index + 1;
    if (header === undefined && key.startsWith(`${path}.`)) lineOfInlineTable ??= index + 1;
  }
  return lineOfInlineTable;
}

function plain(key: string): string {
  return key.replace(/["'\s]/g, '');
}
