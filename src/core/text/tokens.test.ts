import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '../errors/app-error.ts';
import { tokenize, withPlainSpaces } from './tokens.ts';

const kindsAndTexts = (sql: string): string[] => tokenize(sql).map(({ kind, text }) => `${kind} ${text}`);

describe('a text is cut as DuckDB cuts it', () => {
  test.each([
    ['SELECT a$1, _b', ['word SELECT', 'word a$1', 'mark ,', 'word _b']],
    [`"a ""b"" c".x`, ['quoted "a ""b"" c"', 'mark .', 'word x']],
    [`'it''s' E'it\\'s' e'\\\\' x'ab'`, [`string 'it''s'`, `string E'it\\'s'`, `string e'\\\\'`, `string x'ab'`]],
    [
      '$$a;b$$ $t$ $$ $t$ $1 $name ?',
      ['string $$a;b$$', 'string $t$ $$ $t$', 'parameter $1', 'parameter $name', 'parameter ?'],
    ],
    ['1.5e-3 0xFF 1_000 .5 1.', ['number 1.5e-3', 'number 0xFF', 'number 1_000', 'number .5', 'number 1.']],
    ['a--b\n+c', ['word a', 'operator +', 'word c']],
    ['a/* x /* y */ z */b', ['word a', 'word b']],
    ['a->>b::int<=>c', ['word a', 'operator ->>', 'word b', 'operator ::', 'word int', 'operator <=>', 'word c']],
    ['a+--x\nb', ['word a', 'operator +', 'word b']],
    ['a=?', ['word a', 'operator =', 'parameter ?']],
    ['été', ['word été']],
    ['a\u00a0b\u200bc\u200cd', ['word a', 'word b', 'word c\u200cd']],
    ["'--' \"/*\" '/*'", ["string '--'", 'quoted "/*"', "string '/*'"]],
    ['l[1:2]{}', ['word l', 'mark [', 'number 1', 'operator :', 'number 2', 'mark ]', 'mark {', 'mark }']],
  ])('%s', (sql, expected) => {
    expect(kindsAndTexts(sql)).toEqual(expected);
  });

  test.each(["SELECT 'abc", 'SELECT "abc', 'SELECT $$abc', 'SELECT /* abc', 'SELECT $a$ $b$', "SELECT E'\\'"])(
    '%s has no end, and the error says where it begins',
    (sql) => {
      const thrown = (() => {
        try {
          return tokenize(sql);
        } catch (error) {
          return error;
        }
      })();
      expect(thrown).toBeInstanceOf(AppError);
      expect(thrown).toMatchObject({ code: 'sql_error', position: 7 });
    },
  );
});

const pieces = fc.constantFrom(
  ...[
    "'",
    '"',
    '$$',
    '$a$',
    '--',
    '\n',
    '/*',
    '*/',
    ' ',
    '\u00a0',
    'E',
    'x',
    '1',
    '.',
    ';',
    '(',
    ')',
    '\\',
    '?',
    '$1',
    '->',
    'SELECT',
    'é',
    '😀',
    '\u2003',
  ],
);

describe('of any text', () => {
  test('the tokens and the gaps between them are the text, and gaps hold no more than space and comments', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const sql = parts.join('');
        let tokens: ReturnType<typeof tokenize>;
        try {
          tokens = tokenize(sql);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          return;
        }
        let rebuilt = '';
        for (const { start, end, text } of tokens) {
          const gap = sql.slice(rebuilt.length, start);
          expect(gap).toMatch(/^(?:\s|[\u200b\u2060]|--.*|\/\*[\s\S]*\*\/)*$/);
          expect(end).toBeGreaterThan(start);
          rebuilt += gap + text;
        }
        expect(sql.startsWith(rebuilt)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('plain spaces change no token and no position', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const sql = parts.join('');
        let tokens: ReturnType<typeof tokenize>;
        try {
          tokens = tokenize(sql);
        } catch {
          return;
        }
        expect(tokenize(withPlainSpaces(sql, tokens))).toEqual(tokens);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a long run of signs takes no longer than its length', () => {
  const begun = performance.now();
  expect(tokenize(`SELECT ${'+'.repeat(50_000)}`)).toHaveLength(50_001);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
