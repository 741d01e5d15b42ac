/** The place in a text, in characters, to which DuckDB's `LINE n: … ^` points; undefined if it is missing or unclear. */
export function errorPosition(message: string, sql: string): number | undefined {
  const found = /(?:^|\n)LINE (\d+): ([^\n]*)\n( *)\^\s*$/.exec(message);
  if (found === null) return undefined;
  const [, number = '', written = '', indent = ''] = found;
  const shown = written.replace(/\r$/, '');
  const column = indent.length - `LINE ${number}: `.length;
  const pointed = prefixOfWidth(shown, column);
  const line = lineAt(sql, Number(number));
  if (pointed === undefined || line === undefined) return undefined;
  if (line.text === shown) return line.start + pointed;

  // DuckDB shows a part of a long line, with ... for the rest.
  const cutBefore = shown.startsWith('...') && !line.text.startsWith(shown.slice(0, -3));
  const cutAfter = shown.endsWith('...') && !line.text.endsWith(shown.slice(3));
  const part = shown.slice(cutBefore ? 3 : 0, cutAfter ? -3 : undefined);
  const at = cutBefore ? line.text.lastIndexOf(part) : 0;
  if (at < 0 || !line.text.startsWith(part, at)) return undefined;
  // In text that repeats itself the part may stand in more than one place.
  if (cutBefore && cutAfter && line.text.indexOf(part) !== at) return undefined;
  return line.start + at + pointed - (cutBefore ? 3 : 0);
}

function lineAt(sql: string, number: number): { start: number; text: string } | undefined {
  const lines = sql.split('\n');
  const text = lines[number - 1];
  if (text === undefined) return undefined;
  const start = lines.slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
  return { start, text: text.replace(/\r$/, '') };
}

/** The number of characters that fill this many columns of a terminal, as DuckDB indents its mark. */
function prefixOfWidth(text: string, columns: number): number | undefined {
  let width = 0;
  let length = 0;
  for (const character of text) {
    if (width >= columns && !/^\p{M}/u.test(character)) break;
    width += widthOf(character);
    length += character.length;
  }
  return width === columns ? length : undefined;
}

function widthOf(character: string): number {
  if (/^[\p{M}\u200b-\u200f]/u.test(character)) return 0;
  return /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u.test(
    character,
  )
    ? 2
    : 1;
}
