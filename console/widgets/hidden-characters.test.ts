import { describe, expect, it } from 'vitest';
import { revealedText, textParts } from './hidden-characters.ts';

describe('a sign', () => {
  it.each([
    ['turns the direction', 'abc\u202Ecba', 'abc⟨RLO⟩cba'],
    ['has no width', 'a\u200Bb\u200Cc\uFEFF', 'a⟨ZWSP⟩b⟨ZWNJ⟩c⟨BOM⟩'],
    ['isolates', '\u2067x\u2069', '⟨RLI⟩x⟨PDI⟩'],
    ['controls a terminal', 'a\u0000\u001B[1m\u0001', 'a⟨NUL⟩⟨ESC⟩[1m⟨U+0001⟩'],
    ['is a letter without ink', 'a\u3164b\u2800', 'a⟨U+3164⟩b⟨U+2800⟩'],
    ['is a tag beyond the basic plane', `a${String.fromCodePoint(0xe0041)}`, 'a⟨U+E0041⟩'],
    ['selects a variant of a letter that has none', 'a\uFE0F', 'a⟨U+FE0F⟩'],
  ])('stands for a character that %s', (_, text, shown) => {
    expect(revealedText(text)).toBe(shown);
    expect(
      textParts(text)
        .map((part) => part.text)
        .join(''),
    ).toBe(text);
  });

  it.each([
    ['plain text', 'prix 1\u00A0000 €\t\n'],
    ['right-to-left letters', 'שלום עולם'],
    ['emoji of several characters', '👩🏽‍🚀 ❤️ 1️⃣'],
    ['words whose letters join', 'می‌خواهم क्‍ष'],
    ['no text', ''],
  ])('is not put into %s', (_, text) => {
    expect(revealedText(text)).toBe(text);
    expect(textParts(text)).toEqual([{ text }]);
  });

  it('is put at the first thousand of very many', () => {
    expect(textParts('\u200B'.repeat(100_000))).toHaveLength(2001);
  });
});
