import { type ArrowHeader, headerType, readArrowHeader, slot } from './arrow-header.ts';

/**
 * Counts the columns and rows of an upload by the Arrow headers of its messages. What it cannot read it leaves to the engine,
 * which says what is wrong with it.
 */
export class UploadCounts {
  columns = 0;
  rows = 0;

  add(header: Uint8Array): void {
    try {
      const read = readArrowHeader(header);
      if (read !== undefined) this.#count(read);
    } catch {
      // It is no flatbuffer.
    }
  }

  #count({ flatbuffer, type, table }: ArrowHeader): void {
    if (type === headerType.schema) {
      const fieldsAt = slot(flatbuffer, table, 1);
      if (fieldsAt !== undefined) this.columns = flatbuffer.readUInt32LE(fieldsAt + flatbuffer.readUInt32LE(fieldsAt));
    } else if (type === headerType.recordBatch) {
      const lengthAt = slot(flatbuffer, table, 0);
      if (lengthAt !== undefined) this.rows += Number(flatbuffer.readBigInt64LE(lengthAt));
    }
  }
}
