import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth } from './display-width.ts';
import { textTable } from './text-table.ts';

const text = (name: string) => ({ name, align: 'left' }) as const;
const number = (name: string) => ({ name, align: 'right' }) as const;
const plain = { width: undefined, colour: false };

describe('a table', () => {
  it('has names, a rule, numbers to the right, and NULL', () => {
    expect(
      textTable(
        [text('symbol'), number('price')],
        [
          ['BTC', '71039.35'],
          ['ETH', null],
        ],
        plain,
      ),
    ).toBe(`symbol     price
------  --------
BTC     71039.35
ETH         NULL
`);
  });

  it('shows NULL dim and names bold where there is colour, and is aligned all the same', () => {
    const table = textTable([text('a'), text('b')], [[null, 'x']], { width: 80, colour: true });
    expect(table).toBe('\x1b[1ma\x1b[22m     \x1b[1mb\x1b[22m\n\x1b[2m----  -\x1b[22m\n\x1b[2mNULL\x1b[22m  x\n');
  });

  it('cuts the widest text first, to the width of the terminal', () => {
    const table = textTable([text('a'), text('b')], [['x'.repeat(50), 'short']], { width: 30, colour: false });
    const lines = table.trimEnd().split('\n');
    expect(lines[2]).toBe(`${'x'.repeat(22)}…  short`);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(30);
  });

  it('never cuts a number, and names the columns for which there is no room', () => {
    const columns = [number('n'), text('t'), number('m')];
    const rows = [['9223372036854775807', 'some text', '12345678901234567890']];
    expect(textTable(columns, rows, { width: 30, colour: false })).toBe(`                  n  t
-------------------  ---------
9223372036854775807  some text
(1 more column: m)
`);
  });

  it('lets nothing through that a terminal would obey', () => {
    const table = textTable([text('a\x1b[2J')], [['b\n\x1b]0;x\x07\u202e']], plain);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are looked for
    expect(table.replaceAll('\n', '')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
    expect(table).toContain('b\\n\\u001b]0;x\\u0007\\u202e');
  });

  it('of no rows is its names', () => {
    expect(textTable([text('a')], [], plain)).toBe('a\n-\n');
  });
});

describe('the width of a text', () => {
  it.each([
    ['abc', 3],
    ['äöü', 3],
    ['e\u0301', 1],
    ['日本', 4],
    ['🙂', 2],
    ['', 0],
  ])('%j is %i', (given, width) => {
    expect(displayWidth(given)).toBe(width);
  });

  it('is kept when it is cut', () => {
    expect(cutToWidth('日本語です', 6)).toBe('日本…');
    expect(cutToWidth('abcdef', 6)).toBe('abcdef');
    expect(cutToWidth('abcdefg', 6)).toBe('abcde…');
  });
});
