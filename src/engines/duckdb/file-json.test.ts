import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileImports, type Imported } from '../../../test/support/file-imports.ts';
import type { TextOptions } from '../../core/rows/frame-engine.ts';

let files: FileImports;
beforeAll(async () => {
  files = await FileImports.open();
});
afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

function json(content: string | Uint8Array, options: Partial<TextOptions> = {}): Promise<Imported> {
  return files.import(content, { kind: 'json', skipsBadRows: false, ...options });
}

const int32 = { kind: 'int', bits: 32, signed: true } as const;

describe('objects are read', () => {
  test.each([
    ['one a line', '{"a":1}\n{"a":2}\n'],
    ['one behind the other', '{"a":1}{"a":\n2}'],
    ['in an array', '[{"a":1},{"a":2}]'],
    ['in an array of many lines', ' [\n  {\n "a": 1\n },\r\n\t{"a":2}\n]\n'],
    ['behind a byte order mark', '\ufeff{"a":1}\n\n{"a":2}'],
  ])('%s', async (_, content) => {
    expect(await json(content)).toMatchObject({ names: ['a'], types: ['BIGINT'], rows: [[1], [2]] });
  });

  test('whose keys come in any order, later than others, or not at all', async () => {
    const { names, rows } = await json('{"a":1,"b":2}\n{"b":3,"a":4}\n{}\n{"c":5}\n{"b":null}\n');
    expect(names).toEqual(['a', 'b', 'c']);
    expect(rows).toEqual([
      [1, 2, null],
      [4, 3, null],
      [null, null, null],
      [null, null, 5],
      [null, null, null],
    ]);
  });

  test('whose keys repeat, differ only in case or hold escapes', async () => {
    const { names, rows } = await json('{"a":1,"A":2,"a":3,"\\u00e9":4,"😀":"\\ud83d\\ude00"}\n{"a":5,"é":6}');
    expect(names).toEqual(['a', 'A', 'a', 'é', '😀']);
    expect(rows).toEqual([
      [1, 2, 3, 4, '😀'],
      [5, null, null, 6, null],
    ]);
  });
});

describe('types are found out so that nothing is lost', () => {
  test.each([
    ['true', 'false', 'BOOLEAN', [true, false]],
    ['1', '-2', 'BIGINT', [1, -2]],
    ['1', '2.5', 'DOUBLE', [1, 2.5]],
    ['1e3', '-0', 'DOUBLE', [1000, -0]],
    ['12345678901234567890', '1', 'VARCHAR', ['12345678901234567890', '1']],
    ['0.12345678901234567890', '1', 'VARCHAR', ['0.12345678901234567890', '1']],
    ['9007199254740993', '1.5', 'VARCHAR', ['9007199254740993', '1.5']],
    ['1e400', '1', 'VARCHAR', ['1e400', '1']],
    ['"x"', '"q\\"\\n\\u00e9"', 'VARCHAR', ['x', 'q"\né']],
    ['"123"', '"4"', 'VARCHAR', ['123', '4']],
    ['"true"', '""', 'VARCHAR', ['true', '']],
    ['null', 'null', 'VARCHAR', [null, null]],
    ['"2024-01-31"', '"2024-02-29"', 'DATE', ['2024-01-31T00:00:00.000Z', '2024-02-29T00:00:00.000Z']],
    ['"2024-01-31"', '"x"', 'VARCHAR', ['2024-01-31', 'x']],
    [
      '"2024-01-31T10:00:00"',
      '"2024-01-31 10:00:00.5"',
      'TIMESTAMP',
      ['2024-01-31T10:00:00.000000Z', '2024-01-31T10:00:00.500000Z'],
    ],
    ['"2024-01-31T10:00:00Z"', 'null', 'TIMESTAMP WITH TIME ZONE', ['2024-01-31T10:00:00.000000Z', null]],
    ['1', '"1"', 'JSON', [1, '1']],
    ['1', 'true', 'JSON', [1, true]],
    ['[1,2]', '[]', 'BIGINT[]', [[1, 2], []]],
    ['[1,null]', '[2.5]', 'DOUBLE[]', [[1, null], [2.5]]],
    ['[1,"x"]', '[]', 'JSON', [[1, 'x'], []]],
    ['[]', '[]', 'JSON', [[], []]],
    ['[12345678901234567890]', '[1]', 'JSON', expect.anything()],
    [
      '{"x":1,"y":"z"}',
      '{"y":"q","x":2}',
      'STRUCT(x BIGINT, y VARCHAR)',
      [
        { x: 1, y: 'z' },
        { x: 2, y: 'q' },
      ],
    ],
    ['{"x":[{"y":1}]}', 'null', 'STRUCT(x STRUCT(y BIGINT)[])', [{ x: [{ y: 1 }] }, null]],
    ['{"x":1}', '{"y":1}', 'JSON', [{ x: 1 }, { y: 1 }]],
    ['{"x":1,"X":2}', '{"x":1,"X":2}', 'JSON', expect.anything()],
    ['{}', '{}', 'JSON', [{}, {}]],
    ['{"x":1}', '[1]', 'JSON', [{ x: 1 }, [1]]],
    ['[\n1,\n2]', '[3]', 'BIGINT[]', [[1, 2], [3]]],
  ])('%s and %s', async (first, second, type, expected) => {
    const { types, rows } = await json(`[{"id":1},{"v":${first}},{"v":${second}}]`);
    expect(types[1]).toBe(type);
    expect(rows.slice(1).map((row) => row[1])).toEqual(expected);
  });

  test('JSON that stays text keeps every digit', async () => {
    const { part, path } = await json('{"a":[0.12345678901234567890]}\n{"a":"x"}\n');
    const pieces: string[] = [];
    const job = { parts: [{ path, rows: 2 }], columns: part.columns, form: 'ndjson', chunkRows: 10 } as const;
    for await (const { bytes } of files.engine.read(
      { ...job, fromRow: 0, toRow: 2 },
      { signal: AbortSignal.timeout(9000) },
    )) {
      pieces.push(Buffer.from(bytes).toString());
    }
    expect(pieces.join('')).toContain('[0.12345678901234567890]');
  });
});

const badObjects: readonly (readonly [string, number, string])[] = [
  ['{"a":1}\n{"a":}\n{"a":3}\n', 2, '"}" is not a JSON value'],
  ['{"a":1}\n{"a":NaN}\n{"a":3}\n', 2, '"NaN" is not a JSON value'],
  ['{"a":1}\n{a:2}\n{"a":3}\n', 2, 'a key must stand in double quotes'],
  ['{"a":1}\n{"a" 2}\n{"a":3}\n', 2, 'a colon must follow a key'],
  ['{"a":1}\n{"a":2\n{"a":3}\n', 2, 'a comma or a closing bracket is missing'],
  ['{"a":1}\n{"a":"x\n{"a":3}\n', 2, 'a control character that is not escaped'],
  ['{"a":1}\n{"a":"\\x"}\n{"a":3}\n', 2, 'an escape that JSON does not know'],
  ['{"a":1}\n{"a":"\\ud800"}\n{"a":3}\n', 2, 'half of a surrogate pair'],
  ['{"a":1}\n{"a":01}\n{"a":3}\n', 2, 'is not a JSON value'],
  ['{"a":\n1}\n5\n{"a":3}\n', 3, 'a number stands where an object is expected'],
  ['{"a":1}\n[1]\n{"a":3}\n', 2, 'an array stands where an object is expected'],
  ['[{"a":1},\n{"a":},\n{"a":3}\n]', 2, '"}" is not a JSON value'],
];

describe('a bad object', () => {
  test.each(badObjects)('%j is refused by its line', async (content, line, reason) => {
    const error = await json(content).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(`line ${line}: `) });
    expect((error as Error).message).toContain(reason);
  });

  test.each(badObjects)('%j is left out and reported', async (content, line, reason) => {
    const { part, rows } = await json(content, { skipsBadRows: true });
    expect(rows).toEqual([[1], [3]]);
    expect(part.report).toEqual({
      rejectedRows: 1,
      rejections: [{ line, reason: expect.stringContaining(reason) }],
    });
  });

  test.each([
    ['[{"a":1},\n{"a":3}\n', 'line 3: the array is not closed'],
    ['{"a":1}\n{"a":"x', 'line 2: an object is not closed'],
    ['[{"a":1}]\nx', 'line 2: text follows the end of the array'],
    ['[{"a":1} {"a":2}]', 'a comma is missing between objects'],
    ['"a"', 'line 1: a string stands where an object is expected'],
    ['', 'the file holds no values'],
    ['[]', 'the file holds no values'],
    ['{}\n{}\n', 'the file holds no values'],
    [`{"a":${'['.repeat(600)}${']'.repeat(600)}}`, 'nested more than 500 deep'],
    [Buffer.from('{"a":"\xe9"}', 'latin1'), 'line 1: it is not UTF-8'],
    [Buffer.from('{"a":1}', 'utf16le'), 'it looks like UTF-16'],
  ])('%s', async (content, words) => {
    await expect(json(content)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(words),
    });
  });

  test('more keys than a frame may have columns are refused', async () => {
    const object = JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`k${n}`, n])));
    await expect(json(object)).rejects.toMatchObject({ code: 'too_large' });
  });
});

describe('types that the sender names', () => {
  test('hold, whether values are written as strings or not', async () => {
    const types = new Map<string, { type: typeof int32 | { kind: 'utf8' } | { kind: 'json' } }>([
      ['a', { type: int32 }],
      ['b', { type: { kind: 'utf8' } }],
      ['c', { type: { kind: 'json' } }],
    ]);
    const found = await json('{"a":"007","b":1.50,"c":{"x":1}}\n{"a":5,"b":"x","c":"y"}\n', { types });
    expect(found).toMatchObject({
      types: ['INTEGER', 'VARCHAR', 'JSON'],
      rows: [
        [7, '1.50', { x: 1 }],
        [5, 'x', 'y'],
      ],
    });
  });

  test('a value of another is refused by its line, or left out', async () => {
    const types = new Map([['a', { type: int32 }]]);
    const content = '{"a":1}\n\n{"a":"x"}\n{"a":}\n{"a":7}';
    await expect(json('{"a":1}\n\n{"a":"x"}', { types })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'line 3, column "a": "x" is not of the type INTEGER',
    });
    const { part, rows } = await json(content, { types, skipsBadRows: true });
    expect(rows).toEqual([[1], [7]]);
    expect(part.report).toMatchObject({ rejectedRows: 2, rejections: [{ line: 3, column: 'a' }, { line: 4 }] });
  });

  test('columns of a frame are matched by name', async () => {
    const like = [
      { name: 'a', type: int32 },
      { name: 'b', type: { kind: 'utf8' } },
    ] as const;
    expect(await json('{"b":5,"a":"1"}', { like })).toMatchObject({ names: ['a', 'b'], rows: [[1, '5']] });
    expect((await json('[]', { like })).types).toEqual(['INTEGER', 'VARCHAR']);
    await expect(json('{"b":5}', { like })).rejects.toMatchObject({ code: 'schema_mismatch' });
    await expect(json('{"a":1,"b":5,"c":6}', { like })).rejects.toMatchObject({ code: 'schema_mismatch' });
  });
});

test('a value of 20 MB is read', async () => {
  const { rows } = await json(`{"a":"${'x'.repeat(20_000_000)}"}\n{"a":"b"}\n`);
  expect(rows[0]?.[0]).toHaveLength(20_000_000);
});
