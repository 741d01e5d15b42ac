import {
  Bool,
  Dictionary,
  Field,
  Int32,
  List,
  makeData,
  makeVector,
  Null,
  Table,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { readSmallStream } from './read-small-stream.ts';

const read = (vector: Vector) => readSmallStream(tableToIPC(new Table({ p: vector }), 'stream'));
const nulls = (length: number) => makeData({ type: new Null(), length, nullCount: length });

test('rows are read as plain values', async () => {
  const { fields, rows } = await read(vectorFromArray(['a', null, 'c'], new Utf8()));
  expect(fields.map((field) => field.name)).toEqual(['p']);
  expect(rows).toEqual([['a'], [null], ['c']]);
});

test('two thousand million nulls, which take no bytes, are refused', async () => {
  await expect(read(makeVector(nulls(2 ** 31 - 1)))).rejects.toMatchObject({ code: 'too_large' });
});

test('a list of five million values, of a bit each, is refused', async () => {
  const length = 5_000_000;
  const data = makeData({
    type: new List(new Field('item', new Bool(), true)),
    length: 1,
    nullCount: 0,
    valueOffsets: Int32Array.of(0, length),
    child: makeData({ type: new Bool(), length, nullCount: 0, data: new Uint8Array(length / 8) }),
  });
  await expect(read(makeVector(data))).rejects.toMatchObject({ code: 'too_large' });
});

test('one long text that ten thousand rows mean is refused', async () => {
  const data = makeData({
    type: new Dictionary(new Utf8(), new Int32()),
    length: 10_000,
    nullCount: 0,
    data: new Int32Array(10_000),
    dictionary: vectorFromArray(['x'.repeat(1_000_000)], new Utf8()),
  });
  await expect(read(makeVector(data))).rejects.toMatchObject({ code: 'too_large' });
});
