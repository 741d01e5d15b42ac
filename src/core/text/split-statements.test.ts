import { describe, expect, it } from 'vitest';
import { quotingOf } from '../names/engine-names.ts';
import { isBlank, splitStatements, statementRanges } from './split-statements.ts';

describe('a text is cut at its semicolons', () => {
  it.each([
    ['select 1; select 2;', ['select 1', 'select 2'], ''],
    ['select 1', [], 'select 1'],
    [" select ';' ; x", ["select ';'"], ' x'],
    ["select 'it''s; ok'; x", ["select 'it''s; ok'"], ' x'],
    [String.raw`select e'\';'; x`, [String.raw`select e'\';'`], ' x'],
    [String.raw`select 'a\'; x`, [String.raw`select 'a\'`], ' x'],
    ['select ";" from ";"";"; x', ['select ";" from ";"";"'], ' x'],
    ['select 1 -- no; end\n; x', ['select 1 -- no; end'], ' x'],
    ['select /* ; */ 1; x', ['select /* ; */ 1'], ' x'],
    ['/* a /* b */ ; */ select 1; x', ['/* a /* b */ ; */ select 1'], ' x'],
    ['select $$;$$; x', ['select $$;$$'], ' x'],
    ['select $a$; $$ ;$a$; x', ['select $a$; $$ ;$a$'], ' x'],
    ['select price$x from t; x', ['select price$x from t'], ' x'],
    ["select name'x' ; y", ["select name'x'"], ' y'],
    ['select $1 + $2; x', ['select $1 + $2'], ' x'],
    [';; ; -- nothing\n;', [], ''],
    ["select 'not ended; x", [], "select 'not ended; x"],
    ['select /* not ended; x', [], 'select /* not ended; x'],
    ['select $$ not ended; x', [], 'select $$ not ended; x'],
    ['select 1 -- to the end', [], 'select 1 -- to the end'],
  ])('%j', (text, statements, rest) => {
    expect(splitStatements(text, 'duckdb')).toEqual({ statements, rest });
  });
});

it('the ranges of statements are between their semicolons', () => {
  const text = "select ';'; -- two;\nselect 2;";
  expect(statementRanges(text, 'duckdb').map(({ from, to }) => text.slice(from, to))).toEqual([
    "select ';'",
    ' -- two;\nselect 2',
    '',
  ]);
});

describe('for a cluster engine it is cut by the quotes of Spark', () => {
  it.each([
    [String.raw`select 'a\';b' as c; x`, [String.raw`select 'a\';b' as c`], ' x'],
    [String.raw`select 'a\\'; x`, [String.raw`select 'a\\'`], ' x'],
    [String.raw`select "a\";b"; x`, [String.raw`select "a\";b"`], ' x'],
    [String.raw`select r'a\'; x`, [String.raw`select r'a\'`], ' x'],
    ['select 5 as `x;y`; x', ['select 5 as `x;y`'], ' x'],
    ['select 5 as `x``;y`; x', ['select 5 as `x``;y`'], ' x'],
    ["select 'it''s; ok'; x", ["select 'it''s; ok'"], ' x'],
    ['select /* ; /* ; */ ; */ 1; x', ['select /* ; /* ; */ ; */ 1'], ' x'],
    ['select $$; x', ['select $$'], ' x'],
    ['select `not ended; x', [], 'select `not ended; x'],
    [String.raw`select 'not ended\'; x`, [], String.raw`select 'not ended\'; x`],
    ['select /* /* */ not ended; x', [], 'select /* /* */ not ended; x'],
  ])('%j', (text, statements, rest) => {
    expect(splitStatements(text, 'spark')).toEqual({ statements, rest });
  });

  it('which is one that is not ours', () => {
    expect([undefined, 'local', 'tsdb', 'auto', 'sail'].map(quotingOf)).toEqual([
      'duckdb',
      'duckdb',
      'duckdb',
      'duckdb',
      'spark',
    ]);
  });
});

it.each([
  ['', true],
  [' \n\t', true],
  ['-- only this', true],
  ['/* and\n this */ -- too', true],
  ['select 1', false],
])('%j is blank: %s', (text, blank) => {
  expect(isBlank(text)).toBe(blank);
});
