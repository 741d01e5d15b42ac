import type { Batch, DataType } from '@framehold/columns';
import { expect, test } from 'vitest';
import { vectorOf } from '../../../test/support/vector-of.ts';
import { createExecJsonEncoder, execJsonHead, execJsonTail } from './exec-json.ts';

function batchOf(...columns: [DataType, readonly unknown[]][]): Batch {
  return {
    columns: columns.map(([type], i) => ({ name: `c${i}`, type })),
    rows: columns[0]?.[1].length ?? 0,
    vectors: columns.map(([type, values]) => vectorOf(type, values)),
  };
}

/** The cells of one column, as text. */
function cells(type: DataType, values: readonly unknown[], quoteLargeNum = false): string[] {
  const batch = batchOf([type, values]);
  const encoder = createExecJsonEncoder(batch.columns, { quoteLargeNum, quoteNonFinite: false });
  encoder.encode(batch);
  const { bytes, rowEnds } = encoder.take();
  return Array.from(rowEnds, (end, i) => Buffer.from(bytes.subarray((rowEnds[i - 1] ?? 0) + 1, end - 2)).toString());
}

const utf8: DataType = { kind: 'utf8' };
const long: DataType = { kind: 'int', bits: 64, signed: true };
const timestamp = (unit: 's' | 'ms' | 'us' | 'ns'): DataType => ({ kind: 'timestamp', unit, zoned: true });

test('a row is its cells between brackets with a comma behind, and rowEnds tells where each ends', () => {
  const batch = batchOf([{ kind: 'int', bits: 32, signed: true }, [1, -2]], [utf8, ['a', null]]);
  const encoder = createExecJsonEncoder(batch.columns, { quoteLargeNum: false, quoteNonFinite: false });
  encoder.encode(batch);
  expect(encoder.pendingRows).toBe(2);
  const { rows, bytes, rowEnds } = encoder.take();
  expect(Buffer.from(bytes).toString()).toBe('[1,"a"],[-2,null],');
  expect([rows, ...rowEnds]).toEqual([2, 8, 18]);
  expect(bytes.buffer.byteLength).toBe(18);
  expect([encoder.pendingRows, encoder.pendingBytes]).toEqual([0, 0]);
});

test('rows are taken in pieces of a size, at row multiples, and across batches', () => {
  const batch = batchOf([long, [10n, 11n, 12n, 13n, 14n]]);
  const encoder = createExecJsonEncoder(batch.columns, { quoteLargeNum: false, quoteNonFinite: false });
  const taken = () => Buffer.from(encoder.take().bytes).toString();
  expect(encoder.encodeRows(batch, 1, 5, 6)).toBe(3);
  expect(taken()).toBe('[11],[12],');
  expect(encoder.encodeRows(batch, 3, 4)).toBe(4);
  expect(encoder.encodeRows(batch, 4, 5, 1)).toBe(4);
  expect(taken()).toBe('[13],');
  expect(encoder.encodeRows(batch, 4, 5, 1)).toBe(5);
  encoder.encode(batchOf([long, [1n]]));
  expect(taken()).toBe('[14],[1],');
});

test('a batch of no columns still has rows', () => {
  const encoder = createExecJsonEncoder([], { quoteLargeNum: false, quoteNonFinite: false });
  encoder.encode({ columns: [], rows: 2, vectors: [] });
  expect(Buffer.from(encoder.take().bytes).toString()).toBe('[],[],');
});

test('head and tail enclose the rows in the order query, columns, dataset, count', () => {
  const columns = [{ name: 'a "b"\n', type: long }];
  expect(
    Buffer.concat([
      execJsonHead({ query: 'handle:é', columns, isStatement: false }),
      execJsonTail({ count: 0, timings: undefined, explain: false }),
    ]).toString(),
  ).toBe('{"query":"handle:é","columns":[{"name":"a \\"b\\"\\n","type":"LONG"}],"dataset":[],"count":0}');
});

test('booleans, nulls and untyped NULL are bare words', () => {
  expect(cells({ kind: 'boolean' }, [true, false, null])).toEqual(['true', 'false', 'null']);
  expect(cells({ kind: 'null' }, [null, null])).toEqual(['null', 'null']);
});

test.each<[8 | 16 | 32, boolean, number[]]>([
  [8, true, [-128, 0, 127]],
  [8, false, [0, 255]],
  [16, true, [-32768, 32767]],
  [16, false, [65535]],
  [32, true, [-2147483648, 2147483647]],
  [32, false, [4294967295]],
])('an integer of %d bits, signed %s, keeps its limits', (bits, signed, values) => {
  expect(cells({ kind: 'int', bits, signed }, values)).toEqual(values.map(String));
});

test('a LONG is a number with all its digits, or a string where asked', () => {
  const values = [2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n, 0n, -5n];
  expect(cells(long, values)).toEqual(values.map(String));
  expect(cells(long, values, true)).toEqual(values.map((value) => `"${value}"`));
  expect(cells({ kind: 'int', bits: 32, signed: false }, [7], true)).toEqual(['"7"']);
  expect(cells({ kind: 'int', bits: 32, signed: true }, [7], true)).toEqual(['7']);
  expect(cells({ kind: 'list', element: long }, [[1n, null]], true)).toEqual(['["1",null]']);
});

test('wider integers and decimals are strings with all their digits', () => {
  expect(cells({ kind: 'int', bits: 64, signed: false }, [2n ** 64n - 1n])).toEqual(['"18446744073709551615"']);
  expect(cells({ kind: 'int', bits: 128, signed: true }, [-(2n ** 127n)])).toEqual([`"-${2n ** 127n}"`]);
  expect(cells({ kind: 'decimal', precision: 38, scale: 38 }, [-(10n ** 38n - 1n)])).toEqual([
    `"-0.${'9'.repeat(38)}"`,
  ]);
  expect(cells({ kind: 'decimal', precision: 9, scale: 3 }, [5n, -1234n, null])).toEqual([
    '"0.005"',
    '"-1.234"',
    'null',
  ]);
});

test('what is no number in JSON is null', () => {
  const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1.5];
  expect(cells({ kind: 'float', bits: 64 }, values)).toEqual(['null', 'null', 'null', '-0.0', '1.5']);
  expect(cells({ kind: 'float', bits: 32 }, values)).toEqual(['null', 'null', 'null', '-0.0', '1.5']);
});

test('text that is no UTF-8 gets replacement characters and spoils no other cell', () => {
  expect(cells(utf8, ['é', Uint8Array.of(0xff), '\ufeffb"'])).toEqual(['"é"', '"\ufffd"', '"\ufeffb\\""']);
});

test('a character cut in two by a row boundary is replaced in both rows', () => {
  expect(cells(utf8, ['a', Uint8Array.of(0xc3), Uint8Array.of(0xa9), '', 'é'])).toEqual([
    '"a"',
    '"\ufffd"',
    '"\ufffd"',
    '""',
    '"é"',
  ]);
});

test('binary is base64 and a uuid is its text', () => {
  const values = ['', 'f', 'fo', 'foo', 'foob'].map((text) => Buffer.from(text));
  expect(cells({ kind: 'binary' }, [...values, Uint8Array.of(0xff, 0xfe), null])).toEqual([
    ...['""', '"Zg=="', '"Zm8="', '"Zm9v"', '"Zm9vYg=="'],
    '"//4="',
    'null',
  ]);
  const uuid = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';
  expect(cells({ kind: 'uuid' }, [uuid])).toEqual([`"${uuid}"`]);
});

test('JSON stands as it is written, and what is no JSON becomes a string', () => {
  const valid = ['{"a": [1, 2.50]}', ' \n1e400 ', '"é"', 'null', '{"a":1,"a":2}'];
  expect(cells({ kind: 'json' }, valid)).toEqual(valid);
  expect(
    cells({ kind: 'json' }, ['{"a":', '', '1,2', '1]', '"\n"', '\u00a01', Uint8Array.of(0x22, 0xff, 0x22)]),
  ).toEqual(['"{\\"a\\":"', '""', '"1,2"', '"1]"', '"\\"\\n\\""', '"\u00a01"', '"\ufffd"']);
});

test('dates are midnight UTC, and infinite ones are null', () => {
  expect(cells({ kind: 'date' }, [20484, -1, 2932897, -735525, 2147483647, -2147483647])).toEqual([
    '"2026-01-31T00:00:00.000Z"',
    '"1969-12-31T00:00:00.000Z"',
    '"+10000-01-01T00:00:00.000Z"',
    '"-0044-03-15T00:00:00.000Z"',
    'null',
    'null',
  ]);
});

test('timestamps have six digits, those in nanoseconds nine', () => {
  expect(cells(timestamp('s'), [1769860800n, -1n])).toEqual([
    '"2026-01-31T12:00:00.000000Z"',
    '"1969-12-31T23:59:59.000000Z"',
  ]);
  expect(cells(timestamp('ms'), [1769860800123n, -1n])).toEqual([
    '"2026-01-31T12:00:00.123000Z"',
    '"1969-12-31T23:59:59.999000Z"',
  ]);
  expect(cells(timestamp('us'), [1769860800123456n, 1769860859999999n, 1769860800000000n, -1n, null])).toEqual([
    '"2026-01-31T12:00:00.123456Z"',
    '"2026-01-31T12:00:59.999999Z"',
    '"2026-01-31T12:00:00.000000Z"',
    '"1969-12-31T23:59:59.999999Z"',
    'null',
  ]);
  expect(cells(timestamp('ns'), [1769860800123456789n, -1n])).toEqual([
    '"2026-01-31T12:00:00.123456789Z"',
    '"1969-12-31T23:59:59.999999999Z"',
  ]);
});

test('timestamps are exact to the ends of their range', () => {
  const least = -(2n ** 63n);
  expect(cells(timestamp('ns'), [2n ** 63n - 2n, least])).toEqual([
    '"2262-04-11T23:47:16.854775806Z"',
    '"1677-09-21T00:12:43.145224192Z"',
  ]);
  expect(cells(timestamp('us'), [2n ** 63n - 2n, least])).toEqual([
    '"+294247-01-10T04:00:54.775806Z"',
    '"-290308-12-21T19:59:05.224192Z"',
  ]);
  expect(cells(timestamp('ms'), [2n ** 63n - 2n])).toEqual(['"+292278994-08-17T07:12:55.806000Z"']);
  expect(cells(timestamp('s'), [2n ** 63n - 2n])).toEqual(['"+292277026596-12-04T15:30:06.000000Z"']);
});

test.each(['s', 'ms', 'us', 'ns'] as const)('infinite timestamps in %s are null', (unit) => {
  expect(cells(timestamp(unit), [2n ** 63n - 1n, -(2n ** 63n - 1n)])).toEqual(['null', 'null']);
});

test('a time has the digits of its unit and may be 24:00', () => {
  expect(cells({ kind: 'time', unit: 'us' }, [0n, 43200000000n, 86399999999n, 86400000000n])).toEqual([
    '"00:00:00.000000"',
    '"12:00:00.000000"',
    '"23:59:59.999999"',
    '"24:00:00.000000"',
  ]);
  expect(cells({ kind: 'time', unit: 'ns' }, [3723000000001n, 86400000000000n])).toEqual([
    '"01:02:03.000000001"',
    '"24:00:00.000000000"',
  ]);
  expect(cells({ kind: 'time', unit: 'us' }, [-1n, 86400000001n, 2n ** 62n])).toEqual(['null', 'null', 'null']);
});

test('an interval is an ISO 8601 duration', () => {
  expect(cells({ kind: 'interval' }, [[14, 3, 14706789000000n], [0, 0, 0n], [-1, -1, -1n], null])).toEqual([
    '"P1Y2M3DT4H5M6.789S"',
    '"PT0S"',
    '"P-1M-1DT-0.000000001S"',
    'null',
  ]);
});

test('lists and arrays nest, with NULL at every level', () => {
  const inner: DataType = { kind: 'list', element: utf8 };
  expect(cells({ kind: 'list', element: inner }, [[['a', null], null, []], null, []])).toEqual([
    '[["a",null],null,[]]',
    'null',
    '[]',
  ]);
  const pair: DataType = { kind: 'array', size: 2, element: { kind: 'float', bits: 64 } };
  expect(cells(pair, [[1, null], null, [Number.NaN, 2.5]])).toEqual(['[1.0,null]', 'null', '[null,2.5]']);
});

test('a struct is an object that keeps repeated names, or an array without any, and its NULL hides its fields', () => {
  const fields = ['a"', 'a"', 'é'].map((name) => ({ name, type: long }));
  const type: DataType = { kind: 'struct', fields };
  expect(cells(type, [[1n, 2n, null], null])).toEqual(['{"a\\"":1,"a\\"":2,"é":null}', 'null']);
  expect(cells({ kind: 'struct', fields: [] }, [[]])).toEqual(['{}']);
  const nameless = fields.map((field) => ({ ...field, name: '' }));
  expect(cells({ kind: 'struct', fields: nameless }, [[1n, null, 3n], null])).toEqual(['[1,null,3]', 'null']);
  const children = fields.map((field) => vectorOf(field.type, [7n]));
  const vector = { type, length: 1, validity: Uint8Array.of(0), offsets: null, data: null, children };
  const encoder = createExecJsonEncoder([{ name: 's', type }], { quoteLargeNum: false, quoteNonFinite: false });
  encoder.encode({ columns: [{ name: 's', type }], rows: 1, vectors: [vector] });
  expect(Buffer.from(encoder.take().bytes).toString()).toBe('[null],');
});

test('a map is an object where its keys are strings, else an array of entries', () => {
  expect(
    cells({ kind: 'map', key: utf8, value: long }, [
      [
        ['a"', 1n],
        ['b', null],
      ],
      [],
      null,
      [[null, 2n]],
    ]),
  ).toEqual(['{"a\\"":1,"b":null}', '{}', 'null', '{"null":2}']);
  expect(
    cells({ kind: 'map', key: long, value: utf8 }, [
      [
        [1n, 'x'],
        [2n, null],
      ],
      [],
    ]),
  ).toEqual(['[{"key":1,"value":"x"},{"key":2,"value":null}]', '[]']);
});

test("a union is its member's value", () => {
  const members = [
    { name: 'n', type: long },
    { name: 's', type: utf8 },
  ];
  expect(cells({ kind: 'union', members }, [[0, 5n], [1, 'x'], [1, null], [-1, null], null])).toEqual([
    ...['5', '"x"', 'null', 'null', 'null'],
  ]);
});

test('values that lie unaligned in a Buffer are read all the same', () => {
  const types: DataType[] = [
    long,
    { kind: 'float', bits: 64 },
    timestamp('us'),
    { kind: 'int', bits: 16, signed: true },
  ];
  const values = [-3n, 2.25, 86_400_000_000n, -300];
  const vectors = types.map((type, i) => {
    const vector = vectorOf(type, [values[i]]);
    return { ...vector, data: Buffer.concat([Buffer.alloc(1), vector.data as Uint8Array]).subarray(1) };
  });
  const columns = types.map((type) => ({ name: '', type }));
  const encoder = createExecJsonEncoder(columns, { quoteLargeNum: false, quoteNonFinite: false });
  encoder.encode({ columns, rows: 1, vectors });
  expect(Buffer.from(encoder.take().bytes).toString()).toBe('[-3,2.25,"1970-01-02T00:00:00.000000Z",-300],');
});

test('a batch whose columns do not fit is refused', () => {
  const encoder = createExecJsonEncoder([], { quoteLargeNum: false, quoteNonFinite: false });
  expect(() => encoder.encode(batchOf([long, [1n]]))).toThrow('a batch of 1 columns where 0 are expected');
});
