import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonValue, parseJson } from './json-text.ts';

/** As JSON.parse would give it. */
function plain(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [key, plain(each)]));
  return typeof value === 'bigint' ? Number(value) : value;
}

function outcome(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch {
    return 'refused';
  }
}

describe('parseJson', () => {
  test('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(plain(parseJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('refuses what JSON.parse refuses', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '\\',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'null',
      ' ',
      '\n',
      '\t',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        expect(outcome(() => plain(parseJson(text)))).toEqual(outcome(() => JSON.parse(text)));
      }),
      { numRuns: 3000 },
    );
  });

  test('keeps every digit of a whole number', () => {
    expect(parseJson('[9007199254740993, -170141183460469231731687303715884105728, 42, -0, 1e3, 0.1]')).toEqual([
      9007199254740993n,
      -170141183460469231731687303715884105728n,
      42,
      -0,
      1000,
      0.1,
    ]);
  });

  test('keeps keys that would be special in an object', () => {
    expect(parseJson('{"__proto__":1}')).toEqual(new Map([['__proto__', 1]]));
  });

  test.each([
    ['{"a":1,"a":2}', '"a" is given twice at character 7', 7],
    ['{"a":}', 'a value is expected at character 5', 5],
    ['{"a":1', 'a comma or } is expected at its end', 6],
    ['{a:1}', 'a key in double quotes is expected at character 1', 1],
    ['{"sql":"a\nb"}', 'a string holds a control character or a wrong escape at character 9', 9],
    ['{"sql":"SELECT', 'the string that begins here has no end at character 7', 7],
    ['{} {}', 'something stands behind the value at character 3', 3],
    ['', 'a value is expected at its end', 0],
    [`${'['.repeat(70)}`, 'values are nested more than 64 deep at character 65', 65],
  ])('says where %j breaks', (text, what, position) => {
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: `the body is not valid JSON: ${what}`, position }),
    );
  });

  test.each([
    ['values', `[${'0,'.repeat(70_000)}0]`],
    ['objects', `[${'{},'.repeat(35_000)}{}]`],
    ['keys', `{${Array.from({ length: 35_000 }, (_, n) => `"k${n}":0`).join()}}`],
    ['whole numbers beyond 2^53', `[${'9007199254740993,'.repeat(35_000)}0]`],
  ])('refuses more %s than are read in one go', (_, text) => {
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({ code: 'too_large', message: 'the body has more than 65536 values' }),
    );
  });

  test('takes a list of 65,000 numbers, and a text of megabytes', () => {
    expect(parseJson(`[${'0,'.repeat(64_999)}0]`)).toHaveLength(65_000);
    expect(parseJson(`"${'\\"'.repeat(1_000_000)}"`)).toHaveLength(1_000_000);
  });
});
