import { describe, expect, it } from 'vitest';
import { statementsToRun } from './statements-to-run.ts';

const text = "select 1;\n\nselect ';' -- two; three\n;\n select 3;\n\n";
const atCursor = (cursor: number) => statementsToRun({ text, from: cursor, to: cursor }, 'duckdb');

describe('the statement under the cursor', () => {
  it.each([
    ['at the first character', 0, 'select 1', 0],
    ['directly behind the statement', 8, 'select 1', 0],
    ['in a comment with a semicolon', text.indexOf('three'), "select ';' -- two; three", 11],
    ['in the last one', text.indexOf('3'), 'select 3', text.indexOf('select 3')],
    ['behind the last semicolon', text.length, 'select 3', text.indexOf('select 3')],
  ])('is the one %s', (_, cursor, statement, textAt) => {
    expect(atCursor(cursor)).toEqual([{ statement, textAt }]);
  });

  it('is none in a text of comments', () => {
    expect(statementsToRun({ text: '-- nothing\n;', from: 3, to: 3 }, 'duckdb')).toEqual([]);
  });
});

it('a selection runs each of its statements, at its place in the whole text', () => {
  const from = text.indexOf("select ';'");
  expect(statementsToRun({ text, from, to: text.length }, 'duckdb')).toEqual([
    { statement: "select ';' -- two; three", textAt: from },
    { statement: 'select 3', textAt: text.indexOf('select 3') },
  ]);
});
