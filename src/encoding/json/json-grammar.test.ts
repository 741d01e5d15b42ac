import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJson } from './json-grammar.ts';

function judged(text: string, before = '', after = ''): boolean {
  const data = Buffer.from(before + text + after);
  return isJson(data, Buffer.byteLength(before), data.length - Buffer.byteLength(after));
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const json = fc
  .tuple(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(undefined, 1, '\t'))
  .map(([value, indent]) => JSON.stringify(value, null, indent));
const damaged = fc
  .tuple(
    json,
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.constantFrom('', '"', '\\', ',', ':', '}', ']', '[', '0', '-', '.', 'e', ' '),
  )
  .map(([text, at, drop, put]) => {
    const cut = at % (text.length + 1);
    // Through UTF-8, for the cut may leave half a character.
    return Buffer.from(text.slice(0, cut) + put + text.slice(cut + drop)).toString();
  });
const tokens = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '"a"',
  '\\',
  '\\u00e9',
  '-',
  '0',
  '1',
  '.',
  'e',
  '+',
  'null',
  'true',
  ' ',
  '\n',
];
const jumbled = fc.string({ unit: fc.constantFrom(...tokens), maxLength: 10 });

test('it says of every text what JSON.parse says', () => {
  fc.assert(
    fc.property(fc.oneof(json, damaged, jumbled), (text) => {
      expect(judged(text)).toBe(parses(text));
      expect(judged(text, '[1', '1]}"')).toBe(parses(text));
    }),
    { numRuns: 3000 },
  );
});

test.each(['0', '-0', '1.5e-10', '1E+2', '""', '"\\ud800"', '"\x7fé😀"', ' {"a" : [ ] } ', '[{},[],[[]]]'])(
  '%j is JSON',
  (text) => {
    expect(judged(text)).toBe(true);
  },
);

test.each([
  '',
  ' ',
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  '"\t"',
  '"\\x"',
  '"\\u12g4"',
  '"',
  "'a'",
  'nul',
  'nullx',
  '[1,]',
])('%j is no JSON', (text) => {
  expect(judged(text)).toBe(false);
});

test.each(['{"a":1,}', '{a:1}', '{"a"}', '{"a":}', '{,}', '[1 2]', '1 2', '[}', '{]', '\ufeff1', '\u00a01'])(
  '%j is no JSON',
  (text) => {
    expect(judged(text)).toBe(false);
  },
);

test('depth has no limit', () => {
  const depth = 100_000;
  expect(judged('['.repeat(depth) + ']'.repeat(depth))).toBe(true);
  expect(judged(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth - 1)}`)).toBe(false);
});
