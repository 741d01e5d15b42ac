import { describe, expect, it } from 'vitest';
import { escapeFormula, formatCells } from './copy-format.ts';
import type { GridColumn } from './grid-source.ts';

const columns: readonly GridColumn[] = [
  { name: 'id', type: 'LONG' },
  { name: 'note', type: 'VARCHAR' },
];

describe('TSV', () => {
  const options = { format: 'tsv', hasHeader: true, escapeFormulas: true } as const;

  it('has every digit of a large integer, and negative numbers are no formulas', () => {
    expect(formatCells(columns, [['-9223372036854775808', 'a']], options)).toBe('id\tnote\n-9223372036854775808\ta');
  });

  it('quotes tabs and line breaks', () => {
    expect(formatCells(columns, [[1, 'a\tb\n"c"']], { ...options, hasHeader: false })).toBe('1\t"a\tb\n""c"""');
  });

  it('puts an apostrophe before a formula in text, also in the name of a column', () => {
    const hostile = [{ name: '=cmd', type: 'VARCHAR' }];
    expect(formatCells(hostile, [['=1+1'], ['plain']], options)).toBe("'=cmd\n'=1+1\nplain");
    expect(formatCells(hostile, [['=1+1']], { ...options, escapeFormulas: false })).toBe('=cmd\n=1+1');
  });
});

describe('CSV', () => {
  it('tells NULL and empty text apart', () => {
    const text = formatCells(
      columns,
      [
        [null, ''],
        [2, null],
        [3, 'a,b'],
      ],
      { format: 'csv', hasHeader: true, escapeFormulas: true },
    );
    expect(text).toBe('id,note\r\n,""\r\n2,\r\n3,"a,b"\r\n');
  });
});

describe('Markdown', () => {
  it('is a table whose cells cannot leave it', () => {
    const text = formatCells(
      columns,
      [
        [1, 'a|b\n<img>'],
        [null, '*'],
      ],
      {
        format: 'markdown',
        hasHeader: true,
        escapeFormulas: false,
      },
    );
    expect(text).toBe('| id | note |\n| ---: | --- |\n| 1 | a\\|b<br>\\<img\\> |\n| NULL | \\* |\n');
  });
});

describe('a formula', () => {
  it.each(['=a', '+a', '-a', '@a', ' =a', '\u00a0=a', '\u200b=a', '＝a', '\ta', '"=a'])('is found in %j', (text) => {
    expect(escapeFormula(text)).toBe(`'${text}`);
  });

  it('is found in a later line', () => {
    expect(escapeFormula('a\n=b')).toBe("a\n'=b");
    expect(escapeFormula('\r=b')).toBe("'\r'=b");
  });

  it.each(['a=b', 'a-b', '', '2026-01-01', 'x\ty'])('is not seen in %j', (text) => {
    expect(escapeFormula(text)).toBe(text);
  });
});

it('dates are days, nested values are JSON', () => {
  const nested = [
    { name: 'd', type: 'DATE' },
    { name: 'j', type: 'JSON' },
  ];
  const text = formatCells(nested, [['2026-01-31T00:00:00.000Z', { a: [1, null] }]], {
    format: 'tsv',
    hasHeader: false,
    escapeFormulas: true,
  });
  expect(text).toBe('2026-01-31\t{"a":[1,null]}');
});
