import { StringStream } from '@codemirror/language';
import { expect, it } from 'vitest';
import { type Dialect, dialects } from './dialects.ts';
import { sqlTokenizer } from './sql-tokenizer.ts';

/** The coloured parts of a text, as `kind:text`. */
function tokens(text: string, dialect: Dialect = dialects.duckdb): readonly string[] {
  const { token, startState } = sqlTokenizer(dialect);
  const state = startState?.(2);
  const found: string[] = [];
  if (state === undefined) return found;
  for (const line of text.split('\n')) {
    const stream = new StringStream(line, 2, 2);
    while (!stream.eol()) {
      const kind = token(stream, state);
      if (kind !== null) found.push(`${kind}:${stream.current()}`);
      stream.start = stream.pos;
    }
  }
  return found;
}

it.each<[string, readonly string[], Dialect?]>([
  ['SELECT avg (x), avg', ['keyword:SELECT', 'variableName.standard:avg']],
  ['a1 = 1.5e-3 + .5', ['number:1.5e-3', 'number:.5']],
  ['\'it\'\'s\' "na""me"', ["string:'it''s'", 'name:"na""me"']],
  ["'two\nlines' null", ["string:'two", "string:lines'", 'atom:null']],
  ['/* a /* b */\n c */ 1', ['comment:/* a /* b */', 'comment: c */', 'number:1']],
  ['1 -- 2', ['number:1', 'comment:-- 2']],
  ["$a$ ' $$ $a$ 1", ["string:$a$ ' $$ $a$", 'number:1']],
  [String.raw`'a\' 1`, [String.raw`string:'a\'`, 'number:1']],
  [String.raw`'a\' 1'`, [String.raw`string:'a\' 1'`], dialects.spark],
  ['`a b` bigint', ['name:`a b`', 'typeName:bigint'], dialects.spark],
])('%j', (text, expected, dialect) => {
  expect(tokens(text, dialect)).toEqual(expected);
});
