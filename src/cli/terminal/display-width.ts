const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}]/u;
const doubleWidth =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

/** The columns of a terminal that a text takes. */
export function displayWidth(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII, by far the most
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Cut to this many columns, with an ellipsis for the rest. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    cut += character;
  }
  return `${cut}…`;
}

function widthOf(character: string): number {
  if (zeroWidth.test(character)) return 0;
  return doubleWidth.test(character) ? 2 : 1;
}
