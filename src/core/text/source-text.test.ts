import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editedText, placeIn, SourceText, type TextEdit, textOf } from './source-text.ts';
import { tokenize } from './tokens.ts';

const written = 'SELECT a, b FROM t';

describe('a text with parts of another', () => {
  test('knows their places, and which parts have none', () => {
    const text = new SourceText().ours('CAST(').callers(written, 7, 8).ours(' AS INT)');
    expect(text.sql).toBe('CAST(a AS INT)');
    expect([0, 5, 8].map((at) => placeIn(text.pieces, at))).toEqual([undefined, 7, undefined]);
    expect([0, 5, 8].map((at) => text.nearest(at))).toEqual([7, 7, 8]);
  });

  test('takes text of ours for the place that it stands for', () => {
    const text = new SourceText().callers(written, 0, 7).ours('(1 + 2)', 7).callers(written, 8);
    expect(text.sql).toBe('SELECT (1 + 2), b FROM t');
    expect([6, 7, 10, 14].map((at) => text.nearest(at))).toEqual([6, 7, 7, 8]);
  });

  test('has a blank in place of each space and comment between words', () => {
    const words = [
      { text: 'a', start: 0, end: 1 },
      { text: '+', start: 10, end: 11 },
      { text: 'b', start: 11, end: 12 },
    ];
    const text = new SourceText().ours('(').words(words);
    expect(text.sql).toBe(`(${textOf(words)}`);
    expect(text.sql).toBe('(a +b');
    expect(text.nearest(text.sql.indexOf('b'))).toBe(11);
  });
});

/** A text and edits of it, in order, that do not touch. */
const editedTexts = fc.string({ minLength: 1, maxLength: 30 }).chain((sql) =>
  fc.tuple(
    fc.constant(sql),
    fc
      .array(fc.record({ cut: fc.nat(sql.length), length: fc.nat(3), text: fc.string({ maxLength: 5 }) }), {
        maxLength: 5,
      })
      .map((cuts): readonly TextEdit[] => {
        const edits: TextEdit[] = [];
        for (const { cut: at, length, text } of cuts.sort((a, b) => a.cut - b.cut)) {
          const last = edits.at(-1);
          if (at + length > sql.length || (last && at <= last.at + (last.length ?? 0))) continue;
          edits.push({ at, length, text });
        }
        return edits;
      }),
  ),
);

test('each character that edits leave keeps its place, also in a text of a text', () => {
  fc.assert(
    fc.property(editedTexts, fc.nat(10), ([sql, edits], shift) => {
      const outer = `${'?'.repeat(shift)}${sql}`;
      const inner = new SourceText().ours('our words ').callers(outer, shift);
      const edited = inner.edited(edits.map((edit) => ({ ...edit, at: edit.at + 'our words '.length })));
      expect(edited.sql).toBe(`our words ${editedText(sql, edits).sql}`);
      const twice = editedText(sql, edits).within(new SourceText().callers(outer, shift));
      expect(twice.sql).toBe(editedText(sql, edits).sql);
      for (const text of [edited, twice]) {
        for (const { built, written: at, length } of text.pieces)
          expect(text.sql.slice(built, built + length)).toBe(outer.slice(at, at + length));
        const kept = text.pieces.reduce((sum, { length }) => sum + length, 0);
        expect(kept).toBe(sql.length - edits.reduce((sum, { length = 0 }) => sum + length, 0));
      }
      const part = new SourceText().add(edited.slice(3, 12));
      expect(part.sql).toBe(edited.sql.slice(3, 12));
    }),
  );
});

test('a part of a statement has its tokens, at their places in the part', () => {
  const sql = '/* x */ CREATE TABLE t AS SELECT a FROM b WHERE c = 1 -- d';
  const part = SourceText.partOf({ sql, tokens: tokenize(sql) }, sql.indexOf('SELECT'), sql.indexOf(' WHERE'));
  expect(part.sql).toBe('SELECT a FROM b');
  expect(part.tokens).toEqual(tokenize(part.sql));
  expect(part.ours(' LIMIT 1').tokens).toEqual(tokenize('SELECT a FROM b LIMIT 1'));
});
