import {
  Binary,
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
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { caseNamed } from '../../../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  endOfStream,
  i8,
  type RawBatch,
  schemaMessage,
} from '../../../../../test/support/arrow-stream-writer.ts';
import { readSmallStream } from './read-small-stream.ts';

const read = (vector: Vector) => readSmallStream(tableToIPC(new Table({ p: vector }), 'stream'));
const nulls = (length: number) => makeData({ type: new Null(), length, nullCount: length });

test('rows are read as plain values', async () => {
  const { fields, rows } = await read(vectorFromArray(['a', null, 'c'], new Utf8()));
  expect(fields.map((field) => field.name)).toEqual(['p']);
  expect(rows).toEqual([['a'], [null], ['c']]);
});

test('bytes of one batch are still there after the next one', async () => {
  const batches = [[Uint8Array.of(1, 2)], [Uint8Array.of(3, 4)]].map((values) => vectorFromArray(values, new Binary()));
  const { rows } = await read(new Vector(batches.flatMap((vector) => vector.data)));
  expect(rows).toEqual([[Uint8Array.of(1, 2)], [Uint8Array.of(3, 4)]]);
});

test('two thousand million nulls, which take no bytes, are refused', async () => {
  await expect(read(makeVector(nulls(2 ** 31 - 1)))).rejects.toMatchObject({ code: 'too_large' });
});

/** One row: a list of booleans, of a bit each. */
const bits = (length: number) =>
  makeData({
    type: new List(new Field('item', new Bool(), true)),
    length: 1,
    nullCount: 0,
    valueOffsets: Int32Array.of(0, length),
    child: makeData({ type: new Bool(), length, nullCount: 0, data: new Uint8Array(length / 8) }),
  });

test('a list of five million values is refused', async () => {
  await expect(read(makeVector(bits(5_000_000)))).rejects.toMatchObject({ code: 'too_large' });
});

test('as many in several batches are refused', async () => {
  const vector = new Vector(Array.from({ length: 10 }, () => bits(400_000)));
  await expect(read(vector)).rejects.toMatchObject({ code: 'too_large' });
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

const stream = (what: string, change: Partial<RawBatch>, extra = {}): Uint8Array => {
  const { field, batch } = caseNamed(what);
  return Buffer.concat([schemaMessage([field]), batchMessage({ ...batch, ...change }, extra), endOfStream]);
};

test('a thousand views of one long text are refused before they are looked at', async () => {
  const rows = 1000;
  const views = Buffer.alloc(16 * rows);
  const text = Buffer.alloc(100_000, 'x');
  for (let row = 0; row < rows; row++) views.writeInt32LE(text.length, 16 * row);
  const overlapping = stream('utf8_view', {
    rows,
    nodes: [[rows, 0]],
    buffers: [new Uint8Array(0), views, text],
    viewedCounts: [1],
  });
  await expect(readSmallStream(overlapping)).rejects.toMatchObject({ code: 'too_large' });
});

test('a few bytes that unpack to a hundred million are refused', async () => {
  const packed = Buffer.alloc(16);
  packed.writeBigInt64LE(100_000_000n);
  const bomb = stream('int64', { buffers: [new Uint8Array(0), packed] }, { 3: { 0: i8(1) } });
  await expect(readSmallStream(bomb)).rejects.toMatchObject({ code: 'too_large' });
});

test('a union, of which many rows may mean one long list, is refused', async () => {
  await expect(readSmallStream(stream('dense union', {}))).rejects.toMatchObject({ code: 'unsupported_type' });
});
