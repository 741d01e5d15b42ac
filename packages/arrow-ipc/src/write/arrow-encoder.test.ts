import { type Batch, type Column, type DataType, joinBytes } from '@framehold/columns';
import { describe, expect, test } from 'vitest';
import { arrowContents } from '../../../../test/support/arrow-values.ts';
import { typeCases } from '../../../../test/support/type-cases.ts';
import { vectorOf } from '../../../../test/support/vector-of.ts';
import { arrowFields } from '../types/arrow-columns.ts';
import { createArrowEncoder } from './arrow-encoder.ts';
import { splitMessage } from './ipc-message.ts';
import { schemaMessage } from './schema-message.ts';

const int32: DataType = { kind: 'int', bits: 32, signed: true };
const utf8: DataType = { kind: 'utf8' };

const columnsOf = (...types: DataType[]): Column[] => types.map((type, i) => ({ name: `c${i}`, type }));

function batchOf(columns: readonly Column[], rows: readonly (readonly unknown[])[]): Batch {
  const vectors = columns.map(({ type }, i) =>
    vectorOf(
      type,
      rows.map((row) => row[i]),
    ),
  );
  return { columns, rows: rows.length, vectors };
}

const streamOf = (columns: readonly Column[], ...messages: Uint8Array[]): Uint8Array =>
  joinBytes([schemaMessage(arrowFields(columns)), ...messages]);

test.each(typeCases)('$sqlName comes back from any slices', ({ type, values }) => {
  const columns = columnsOf(type);
  const many = Array.from({ length: 23 }, (_, i) => [values[i % values.length]]);
  const batch = batchOf(columns, many);
  for (const [from, to] of [
    [0, 23],
    [0, 16],
    [3, 4],
    [5, 22],
    [8, 23],
  ] as const) {
    const encoder = createArrowEncoder(columns);
    encoder.encodeRows(batch, from, to);
    encoder.encodeRows(batch, from, to);
    expect(encoder.pendingRows).toBe(2 * (to - from));
    const { rows, bytes } = encoder.takeMessage();
    expect(rows).toBe(2 * (to - from));
    const slice = many.slice(from, to);
    expect(arrowContents(streamOf(columns, bytes), columns).rows).toEqual([...slice, ...slice]);
  }
});

test.each(typeCases)('$sqlName without rows is an empty batch', ({ type }) => {
  const columns = columnsOf(type);
  const { rows, bytes } = createArrowEncoder(columns).takeMessage();
  expect(rows).toBe(0);
  expect(arrowContents(streamOf(columns, bytes), columns)).toMatchObject({ rows: [], batches: [0] });
});

test('batches with and without NULLs follow each other', () => {
  const columns = columnsOf(int32, { kind: 'boolean' });
  const all = [
    [[1, true]],
    [
      [null, null],
      [2, false],
    ],
    [[3, true]],
    [[4, null]],
  ];
  const encoder = createArrowEncoder(columns);
  for (const rows of all) encoder.encodeRows(batchOf(columns, rows), 0, rows.length);
  expect(arrowContents(streamOf(columns, encoder.takeMessage().bytes), columns).rows).toEqual(all.flat());
});

test('a slice without NULLs has no bitmap', () => {
  const columns = columnsOf(int32);
  const batch = batchOf(columns, [[1], [null], [3]]);
  const encoder = createArrowEncoder(columns);
  encoder.encodeRows(batch, 2, 3);
  const { body } = splitMessage(encoder.takeMessage().bytes);
  expect(body.length).toBe(64);
});

test('what was taken stays as it was while the encoder goes on', () => {
  const columns = columnsOf(int32, utf8);
  const encoder = createArrowEncoder(columns);
  const taken = [1, 2, 3].map((n) => {
    encoder.encodeRows(batchOf(columns, [[n, `text ${n}`]]), 0, 1);
    return encoder.take();
  });
  const messages = taken.map(({ pieces }) => joinBytes(pieces));
  expect(arrowContents(streamOf(columns, ...messages), columns)).toMatchObject({
    rows: [
      [1, 'text 1'],
      [2, 'text 2'],
      [3, 'text 3'],
    ],
    batches: [1, 1, 1],
  });
});

test('every buffer and the body begin at a multiple of 64', () => {
  const columns = columnsOf(int32, utf8);
  const encoder = createArrowEncoder(columns);
  encoder.encodeRows(
    batchOf(columns, [
      [1, 'x'],
      [null, 'y'],
    ]),
    0,
    2,
  );
  const { pieces } = encoder.take();
  for (const piece of pieces) expect(piece.length % 64).toBe(0);
});

describe('a limit of bytes', () => {
  const columns = columnsOf(utf8);
  const batch = batchOf(
    columns,
    Array.from({ length: 100 }, () => ['x'.repeat(96)]),
  );

  test('stops behind the row that reaches it, at a whole byte of the bitmaps where that costs little', () => {
    const encoder = createArrowEncoder(columns);
    expect(encoder.encodeRows(batch, 0, 100, 1000)).toBe(10);
    expect(encoder.pendingBytes).toBe(1000);
    encoder.take();
    expect(encoder.encodeRows(batch, 0, 100, 3000)).toBe(30);
    encoder.take();
    expect(encoder.encodeRows(batch, 9, 100, 6200)).toBe(72);
  });

  test('lets at least one row through', () => {
    const encoder = createArrowEncoder(columns);
    expect(encoder.encodeRows(batch, 0, 100, 1)).toBe(1);
    expect(encoder.encodeRows(batch, 1, 100, 1)).toBe(2);
    expect(encoder.encodeRows(batch, 100, 100, 1)).toBe(100);
  });
});
