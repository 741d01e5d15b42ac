import type { EncodedRows } from '@framehold/columns';

const headBytes = 8;

/** The head of a `rows` message, before the encoded bytes: u32 rows, u32 count of row ends, the row ends. */
export function rowsHead(rows: number, rowEnds: Uint32Array): Uint8Array {
  const head = new Uint32Array(2 + rowEnds.length);
  head[0] = rows;
  head[1] = rowEnds.length;
  head.set(rowEnds, 2);
  return new Uint8Array(head.buffer);
}

/** The rows of a `rows` message, as views of it. */
export function encodedRows(payload: Buffer): EncodedRows {
  const ends = payload.readUInt32LE(4);
  return {
    rows: payload.readUInt32LE(0),
    rowEnds: new Uint32Array(payload.buffer, payload.byteOffset + headBytes, ends),
    bytes: payload.subarray(headBytes + 4 * ends),
  };
}
