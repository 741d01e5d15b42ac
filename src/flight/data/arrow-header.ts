export const headerType = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const;

/** The flatbuffer of an Arrow message: what the message is, and where the table that says more of it begins. */
export interface ArrowHeader {
  readonly flatbuffer: Buffer;
  readonly type: number;
  readonly table: number;
}

/** Undefined where it has no type. Throws a RangeError where it is no flatbuffer. */
export function readArrowHeader(header: Uint8Array): ArrowHeader | undefined {
  const flatbuffer = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  const message = flatbuffer.readUInt32LE(0);
  const typeAt = slot(flatbuffer, message, 1);
  const tableAt = slot(flatbuffer, message, 2);
  if (typeAt === undefined || tableAt === undefined) return undefined;
  return { flatbuffer, type: flatbuffer.readUInt8(typeAt), table: tableAt + flatbuffer.readUInt32LE(tableAt) };
}

/** Whether a message carries the values of a dictionary. One whose header cannot be read does not. */
export function isDictionary(header: Uint8Array): boolean {
  try {
    return readArrowHeader(header)?.type === headerType.dictionaryBatch;
  } catch {
    return false;
  }
}

/** Where a table of a flatbuffer has its field of that number; undefined when it is left out. */
export function slot(flatbuffer: Buffer, table: number, number: number): number | undefined {
  const vtable = table - flatbuffer.readInt32LE(table);
  const entry = 4 + 2 * number;
  if (entry >= flatbuffer.readUInt16LE(vtable)) return undefined;
  const offset = flatbuffer.readUInt16LE(vtable + entry);
  return offset === 0 ? undefined : table + offset;
}
