import type { EncodedRows } from '@framehold/columns';
import { describe, expect, test } from 'vitest';
import { ChunkTable, encodeChunk } from './chunk-file.ts';

const text = (row: number): string => `[${row},"${'x'.repeat(row % 90)}"],`;

function lines(fromRow: number, toRow: number): EncodedRows {
  const rows = Array.from({ length: toRow - fromRow }, (_, i) => Buffer.from(text(fromRow + i)));
  let end = 0;
  const rowEnds = Uint32Array.from(rows, (row) => {
    end += row.length;
    return end;
  });
  return { rows: rows.length, bytes: Buffer.concat(rows), rowEnds };
}

const file = Buffer.concat(encodeChunk('a', [lines(0, 5000), lines(5000, 8192)]));

function read(table: ChunkTable, bytes: Buffer, fromRow: number, toRow: number): string | undefined {
  const span = table.span(fromRow, toRow);
  // As a read gives it: at the start of memory of its own.
  const chunk = table.piecesOf(
    span,
    Buffer.from(new Uint8Array(bytes.subarray(span.offset, span.offset + span.length)).buffer),
  );
  if (chunk === undefined) return undefined;
  let row = chunk.fromRow;
  const found: string[] = [];
  for (const piece of chunk.pieces) {
    for (let i = 0; i < piece.rows; i++, row++) {
      if (row < fromRow || row >= toRow) continue;
      found.push(Buffer.from(piece.bytes.subarray(i === 0 ? 0 : piece.rowEnds[i - 1], piece.rowEnds[i])).toString());
    }
  }
  return found.join('');
}

describe('a chunk in a file', () => {
  const table = ChunkTable.parse(file, 'a') as ChunkTable;

  test.each([
    [0, 1],
    [0, 8192],
    [4999, 5001],
    [123, 1123],
    [8191, 8192],
  ])('gives rows %i to %i, and reads little more than these', (fromRow, toRow) => {
    const wanted = Array.from({ length: toRow - fromRow }, (_, i) => text(fromRow + i)).join('');
    expect(read(table, file, fromRow, toRow)).toBe(wanted);
    expect(table.span(fromRow, toRow).length).toBeLessThan(wanted.length + (toRow - fromRow) * 4 + 100_000);
  });

  test('knows how long it is', () => {
    expect([table.rows, table.fileBytes]).toEqual([8192, file.length]);
  });

  test('is none where its table is damaged, cut, or of another chunk', () => {
    const damaged = Buffer.from(file);
    damaged[20] = (damaged[20] ?? 0) ^ 1;
    expect(ChunkTable.parse(damaged, 'a')).toBeUndefined();
    expect(ChunkTable.parse(file.subarray(0, 40), 'a')).toBeUndefined();
    expect(ChunkTable.parse(file, 'b')).toBeUndefined();
    expect(ChunkTable.parse(Buffer.from('PAR1PAR1PAR1PAR1PAR1'), 'a')).toBeUndefined();
  });

  test('gives no rows of a block of which one bit has changed, and those of the others', () => {
    const damaged = Buffer.from(file);
    const { offset, length } = table.span(3000, 3001);
    damaged[offset + length - 9] = (damaged[offset + length - 9] ?? 0) ^ 4;
    expect(read(table, damaged, 3000, 3001)).toBeUndefined();
    expect(read(table, damaged, 0, 10)).toBe(Array.from({ length: 10 }, (_, i) => text(i)).join(''));
  });

  test('of Arrow has its messages as they are', () => {
    const piece = { rows: 512, bytes: Buffer.alloc(100_001, 7), rowEnds: new Uint32Array() };
    const arrow = Buffer.concat(encodeChunk('a', [piece, piece]));
    const parsed = ChunkTable.parse(arrow, 'a') as ChunkTable;
    const span = parsed.span(0, 1024);
    const chunk = parsed.piecesOf(span, arrow.subarray(span.offset, span.offset + span.length));
    expect(chunk?.pieces.map(({ rows, bytes }) => [rows, Buffer.compare(bytes, piece.bytes)])).toEqual([
      [512, 0],
      [512, 0],
    ]);
  });
});
