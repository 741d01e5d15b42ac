import { describe, expect, it } from 'vitest';
import { isBlank, splitStatements } from './sql-statements.ts';

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
    expect(splitStatements(text)).toEqual({ statements, rest });
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
