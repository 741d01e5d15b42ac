import { type Data, DataType, RecordBatchReader } from 'apache-arrow';

/** Each column of an Arrow stream, by its name: its values as text that tells every bit of them. */
export function arrowBytes(stream: Uint8Array): Map<string, string[]> {
  const columns = new Map<string, string[]>();
  for (const batch of RecordBatchReader.from(stream)) {
    for (const [index, { name }] of batch.schema.fields.entries()) {
      const texts = columns.get(name) ?? [];
      texts.push(...textsOf(batch.data.children[index] as Data));
      columns.set(name, texts);
    }
  }
  return columns;
}

function textsOf(data: Data): string[] {
  const read = readerOf(data);
  return Array.from({ length: data.length }, (_, row) => (data.getValid(row) ? read(row) : 'null'));
}

function readerOf(data: Data): (row: number) => string {
  const { type, children } = data;
  if (DataType.isStruct(type)) {
    const fields = children.map(textsOf);
    return (row) => `{${fields.map((field) => field[row]).join(', ')}}`;
  }
  const [items] = children.map(textsOf);
  if (items !== undefined) {
    return (row) => `[${items.slice(data.valueOffsets[row], data.valueOffsets[row + 1]).join(', ')}]`;
  }
  const bytes = Buffer.from(data.values.buffer, data.values.byteOffset, data.values.byteLength);
  if (DataType.isBool(type)) return (row) => String(((bytes[row >> 3] ?? 0) >> (row & 7)) & 1);
  if (DataType.isUtf8(type) || DataType.isBinary(type)) {
    return (row) => bytes.toString('hex', data.valueOffsets[row], data.valueOffsets[row + 1]);
  }
  const width = widthOf(type);
  return (row) => bytes.toString('hex', row * width, (row + 1) * width);
}

function widthOf(type: DataType): number {
  if (DataType.isInt(type) || DataType.isTime(type) || DataType.isDecimal(type)) return type.bitWidth / 8;
  if (DataType.isFloat(type)) return 2 << type.precision;
  if (DataType.isDate(type)) return 4;
  if (DataType.isTimestamp(type)) return 8;
  if (DataType.isInterval(type)) return 16;
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth;
  throw new Error(`the width of ${type} is not known`);
}
