import type { EncodedRows } from '../../../core/frame-engine.ts';

const headBytes = 8;

/** What stands before the encoded bytes in a `rows` message: u32 rows, u32 count of row ends, the row ends. */
export function rowsHead(rows: number, rowEnds: Uint32Array): Uint8Array {
  const head = new Uint32Array(2 + rowEnds.length);
  head[0] = rows;
  head[1] = rowEnds.length;
  head.set(rowEnds, 2);
  return new Uint8Array(head.buffer);
}

/** The rows of such a message, as views of it. */
export function encodedRows(payload: Buffer): EncodedRows {
  const ends = payload.readUInt32LE(4);
  return {
    rows: payload.readUInt32LE(0),
    rowEnds: new Uint32Array(payload.buffer, payload.byteOffset + headBytes, ends),
    bytes: payload.subarray(headBytes + 4 * ends),
  };
}
