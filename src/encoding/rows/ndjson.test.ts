import type { DataType } from '@framehold/columns';
import { expect, test } from 'vitest';
import { typeCases } from '../../../test/support/type-cases.ts';
import { vectorOf } from '../../../test/support/vector-of.ts';
import { createExecJsonEncoder } from './exec-json.ts';
import { createNdjsonEncoder } from './ndjson.ts';

function lines(columns: readonly { name: string; type: DataType; values: readonly unknown[] }[]): string[] {
  const encoder = createNdjsonEncoder(columns);
  const vectors = columns.map(({ type, values }) => vectorOf(type, values));
  encoder.encode({ columns, rows: columns[0]?.values.length ?? 0, vectors });
  const { bytes, rowEnds } = encoder.take();
  const text = Buffer.from(bytes).toString();
  expect(text.split('\n')).toHaveLength(rowEnds.length + 1);
  return Array.from(rowEnds, (end, i) => Buffer.from(bytes.subarray(rowEnds[i - 1] ?? 0, end - 1)).toString());
}

const long: DataType = { kind: 'int', bits: 64, signed: true };

test('a row is an object on a line of its own', () => {
  expect(
    lines([
      { name: 'a "b"\n', type: long, values: [2n ** 63n - 1n, null] },
      { name: 'é', type: { kind: 'utf8' }, values: ['x\ny', ''] },
    ]),
  ).toEqual(['{"a \\"b\\"\\n":9223372036854775807,"é":"x\\ny"}', '{"a \\"b\\"\\n":null,"é":""}']);
});

test('numbers that JSON has not are null', () => {
  const values = [Number.NaN, -Infinity, 0.5];
  expect(lines([{ name: 'f', type: { kind: 'float', bits: 64 }, values }])).toEqual([
    '{"f":null}',
    '{"f":null}',
    '{"f":0.5}',
  ]);
});

test('JSON on several lines becomes one line', () => {
  const json = '{\r\n  "a": "x\\ny"\n}';
  const element: DataType = { kind: 'json' };
  expect(
    lines([
      { name: 'j', type: element, values: [json] },
      { name: 'l', type: { kind: 'list', element }, values: [[json]] },
    ]).map((line) => JSON.parse(line)),
  ).toEqual([{ j: { a: 'x\ny' }, l: [{ a: 'x\ny' }] }]);
});

test('timestamps without a zone have no Z, and dates no time', () => {
  const local: DataType = { kind: 'timestamp', unit: 'us', zoned: false };
  expect(
    lines([
      { name: 'at', type: local, values: [1n, 2n ** 63n - 1n] },
      { name: 'utc', type: { ...local, zoned: true }, values: [1n, null] },
      { name: 'day', type: { kind: 'date' }, values: [-1, 2 ** 31 - 1] },
      { name: 'list', type: { kind: 'list', element: local }, values: [[1n, null], []] },
    ]),
  ).toEqual([
    '{"at":"1970-01-01T00:00:00.000001","utc":"1970-01-01T00:00:00.000001Z","day":"1969-12-31","list":["1970-01-01T00:00:00.000001",null]}',
    '{"at":null,"utc":null,"day":null,"list":[]}',
  ]);
});

test.each(typeCases.filter(({ type }) => !/date|timestamp/.test(JSON.stringify(type))))(
  'values are those of exec JSON: $sqlName',
  ({ type, values }) => {
    const columns = [{ name: 'v', type }];
    const exec = createExecJsonEncoder(columns, { quoteLargeNum: false, quoteNonFinite: false });
    exec.encode({ columns, rows: values.length, vectors: [vectorOf(type, values)] });
    const rows = JSON.parse(`[${Buffer.from(exec.take().bytes).toString().slice(0, -1)}]`) as unknown[][];
    expect(lines([{ name: 'v', type, values }]).map((line) => (JSON.parse(line) as { v: unknown }).v)).toEqual(
      rows.map(([value]) => value),
    );
  },
);

test('without columns there are empty objects', () => {
  const encoder = createNdjsonEncoder([]);
  encoder.encode({ columns: [], rows: 2, vectors: [] });
  expect(Buffer.from(encoder.take().bytes).toString()).toBe('{}\n{}\n');
});
