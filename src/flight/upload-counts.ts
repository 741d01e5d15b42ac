const headerType = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const;

/**
 * Counts the columns and rows of an upload by the Arrow headers of its messages. What it cannot read it leaves to the engine,
 * which says what is wrong with it.
 */
export class UploadCounts {
  columns = 0;
  rows = 0;

  add(header: Uint8Array): void {
    try {
      this.#count(Buffer.from(header.buffer, header.byteOffset, header.byteLength));
    } catch {
      // It is no flatbuffer.
    }
  }

  #count(flatbuffer: Buffer): void {
    const message = flatbuffer.readUInt32LE(0);
    const typeAt = slot(flatbuffer, message, 1);
    const tableAt = slot(flatbuffer, message, 2);
    if (typeAt === undefined || tableAt === undefined) return;
    const table = tableAt + flatbuffer.readUInt32LE(tableAt);
    const type = flatbuffer.readUInt8(typeAt);
    if (type === headerType.schema) {
      const fieldsAt = slot(flatbuffer, table, 1);
      if (fieldsAt !== undefined) this.columns = flatbuffer.readUInt32LE(fieldsAt + flatbuffer.readUInt32LE(fieldsAt));
    } else if (type === headerType.recordBatch) {
      const lengthAt = slot(flatbuffer, table, 0);
      if (lengthAt !== undefined) this.rows += Number(flatbuffer.readBigInt64LE(lengthAt));
    }
  }
}

/** Whether a message carries the values of a dictionary. One whose header cannot be read does not. */
export function isDictionary(header: Uint8Array): boolean {
  try {
    const flatbuffer = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
    const typeAt = slot(flatbuffer, flatbuffer.readUInt32LE(0), 1);
    return typeAt !== undefined && flatbuffer.readUInt8(typeAt) === headerType.dictionaryBatch;
  } catch {
    return false;
  }
}

/** Where a table of a flatbuffer has its field of that number; undefined when it is left out. */
function slot(flatbuffer: Buffer, table: number, number: number): number | undefined {
  const vtable = table - flatbuffer.readInt32LE(table);
  const entry = 4 + 2 * number;
  if (entry >= flatbuffer.readUInt16LE(vtable)) return undefined;
  const offset = flatbuffer.readUInt16LE(vtable + entry);
  return offset === 0 ? undefined : table + offset;
}
