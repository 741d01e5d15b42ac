/** Characters that are invisible or turn the text around them, by their short names; others are shown by number. */
const names: Readonly<Record<string, string>> = Object.fromEntries(
  (
    '00 NUL 07 BEL 08 BS 0b VT 0c FF 1b ESC 7f DEL 85 NEL ad SHY 34f CGJ 61c ALM 200b ZWSP 200c ZWNJ 200d ZWJ 200e LRM 200f RLM ' +
    '2028 LS 2029 PS 202a LRE 202b RLE 202c PDF 202d LRO 202e RLO 2060 WJ 2066 LRI 2067 RLI 2068 FSI 2069 PDI feff BOM'
  )
    .match(/\S+ \S+/g)
    ?.map((pair) => pair.split(' ')) ?? [],
);
/** Control characters but tab and line ends, formats, fillers and selectors of variants. */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex lint/suspicious/noMisleadingCharacterClass: they are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0\p{Cf}\p{Variation_Selector}]/gu;
/** Nearly all texts have only these. */
const plain = /^[\t\n\r\u0020-\u007e]*$/;
/**
 * Emoji and scripts whose letters join need some of them: there they are visible. Alternatives, because Chromium finds no emoji
 * by a class that has \p{Emoji_Modifier} in it, before another character.
 */
const joined =
  /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{M}|\p{Script=Arabic}|\p{Script=Syriac})(?:[\u200c-\u200d]|\ufe0e|\ufe0f)$|[\d#*]\ufe0f$/u;
/** Beyond that a text would be many elements. */
const mostSigns = 1000;

export interface TextPart {
  readonly text: string;
  /** The sign in place of an invisible character. Undefined: the text is shown. */
  readonly sign?: string;
}

/** A text with its hidden characters apart. */
export function textParts(text: string): readonly TextPart[] {
  if (plain.test(text)) return [{ text }];
  const parts: TextPart[] = [];
  let shown = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (joined.test(text.slice(Math.max(0, index - 2), index + 1))) continue;
    if (index > shown) parts.push({ text: text.slice(shown, index) });
    parts.push({ text: character, sign: signOf(character) });
    shown = index + character.length;
    if (parts.length >= 2 * mostSigns) break;
  }
  if (shown < text.length || parts.length === 0) parts.push({ text: text.slice(shown) });
  return parts;
}

/** For places that hold nothing but text, such as titles and menus: signs in place of the characters. */
export function revealedText(text: string): string {
  return textParts(text)
    .map((part) => (part.sign === undefined ? part.text : `⟨${part.sign}⟩`))
    .join('');
}

function signOf(character: string): string {
  const code = character.codePointAt(0)?.toString(16) ?? '';
  return names[code.padStart(2, '0')] ?? `U+${code.toUpperCase().padStart(4, '0')}`;
}
