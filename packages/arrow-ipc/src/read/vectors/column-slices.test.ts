import type { Vector } from '@framehold/columns';
import { expect, test } from 'vitest';
import { createNdjsonEncoder } from '../../../../../src/encoding/rows/ndjson.ts';
import {
  type ColumnCase,
  dictionaryCases,
  nestedCases,
  scalarCases,
} from '../../../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  dictionaryMessage,
  endOfStream,
  type RawBatch,
  type RawField,
  schemaMessage,
} from '../../../../../test/support/arrow-stream-writer.ts';
import type { ArrowColumn } from '../columns/column.ts';
import { ArrowStream } from '../columns/stream.ts';
import { isFolded, sliceColumn, sliceEnds } from './column-slices.ts';
import { toColumn } from './to-column.ts';
import { toVector } from './to-vector.ts';

const cases = [...scalarCases, ...nestedCases, ...dictionaryCases];

async function columnOf(
  field: RawField,
  batch: RawBatch,
  dictionaries: ColumnCase['dictionaries'] = [],
): Promise<ArrowColumn> {
  const before = dictionaries.map((one) => dictionaryMessage(one.id, one.batch, one.isDelta));
  const bytes = Buffer.concat([schemaMessage([field]), ...before, batchMessage(batch), endOfStream]);
  const input = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes;
  };
  await using stream = await ArrowStream.open(input());
  for await (const { columns } of stream.rows()) return columns[0] as ArrowColumn;
  throw new Error('the stream has no rows');
}

function linesOf(column: ArrowColumn, slices: readonly ArrowColumn[]): string {
  const columns = [toColumn(column.field)];
  const encoder = createNdjsonEncoder(columns);
  for (const slice of slices) {
    const vector: Vector = toVector(slice, (columns[0] as (typeof columns)[number]).type);
    encoder.encodeRows({ columns, rows: slice.length, vectors: [vector] }, 0, slice.length, Infinity);
  }
  return Buffer.from(encoder.take().bytes).toString();
}

test.each(cases)('the rows of $what, one by one, are those of the whole', async ({ field, batch, dictionaries }) => {
  const column = await columnOf(field, batch, dictionaries);
  const { rows } = batch;
  const whole = linesOf(column, [column]);
  expect(whole.split('\n')).toHaveLength(rows + 1);
  const singly = Array.from({ length: rows }, (_, row) => sliceColumn(column, row, row + 1));
  expect(linesOf(column, singly)).toBe(whole);
  expect(linesOf(column, [sliceColumn(column, 0, 1), sliceColumn(column, 1, rows)])).toBe(whole);
});

const utf8 = [5, {}] as const;
const text = (value: string): RawBatch => ({
  rows: 1,
  nodes: [[1, 0]],
  buffers: [new Uint8Array(0), new Uint8Array(Int32Array.of(0, value.length).buffer), Buffer.from(value)],
});

async function coded(rows: number, value: string): Promise<ArrowColumn> {
  const field = { name: 'a', type: utf8, dictionary: { id: 1, bits: 8, signed: true } };
  const batch = { rows, nodes: [[rows, 0] as const], buffers: [new Uint8Array(0), new Uint8Array(rows)] };
  return await columnOf(field, batch, [{ id: 1, batch: text(value) }]);
}

test('what a dictionary stands for is cut so that no piece is larger than can be held', async () => {
  expect(sliceEnds([await coded(100, 'x'.repeat(2_000_000))], 100)).toEqual([
    ...Array.from({ length: 32 }, (_, n) => 3 * (n + 1)),
    100,
  ]);
  expect(sliceEnds([await coded(3, 'x'.repeat(20_000_000))], 3)).toEqual([1, 2, 3]);
  expect(sliceEnds([await coded(20_000, 'x')], 20_000)).toEqual([8192, 16_384, 20_000]);
});

test('only rows that stand for themselves are left whole', async () => {
  expect(isFolded(await columnOf({ name: 'a', type: utf8 }, text('x')))).toBe(false);
  expect(isFolded(await coded(1, 'x'))).toBe(true);
});

test('an error in a slice names the row of the message', async () => {
  const { field, batch } = scalarCases.find(({ what }) => what === 'time32[s]') as ColumnCase;
  const seconds = new Uint8Array(Int32Array.of(0, 0, 86_401).buffer);
  const column = await columnOf(field, { ...batch, buffers: [batch.buffers[0] as Uint8Array, seconds] });
  const slice = sliceColumn(sliceColumn(column, 1, 3), 1, 2);
  expect(() => toVector(slice, toColumn(column.field).type)).toThrow('at row 2');
});
