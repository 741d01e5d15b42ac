import type { Column, DataType } from '@framehold/columns';
import { type Data, RecordBatchReader, type Schema } from 'apache-arrow';

export interface ArrowContents {
  readonly schema: Schema;
  readonly rows: unknown[][];
  /** Rows of each record batch. */
  readonly batches: number[];
}

/** An Arrow IPC stream, read by apache-arrow, with its values spelled as `vectorOf` takes them. */
export function arrowContents(stream: Uint8Array, columns: readonly Column[]): ArrowContents {
  const reader = RecordBatchReader.from(stream).open();
  // At the end of a stream without batches the reader forgets it.
  const { schema } = reader;
  const rows: unknown[][] = [];
  const batches: number[] = [];
  for (const batch of reader) {
    batches.push(batch.numRows);
    // For a stream without batches the reader makes one up, and leaves out nested columns.
    if (batch.numRows === 0) continue;
    const values = columns.map(({ type }, i) => valuesOf(batch.data.children[i] as Data, type));
    for (let row = 0; row < batch.numRows; row++) rows.push(values.map((column) => column[row]));
  }
  return { schema, rows, batches };
}

function valuesOf(data: Data, type: DataType): unknown[] {
  const read = readerOf(data, type);
  const values = Array.from({ length: data.length }, (_, row) => (isPresent(data, type, row) ? read(row) : null));
  if (type.kind !== 'union' && values.filter((value) => value === null).length !== data.nullCount) {
    throw new Error(`${data.nullCount} nulls are declared in ${JSON.stringify(values)}`);
  }
  return values;
}

function isPresent(data: Data, type: DataType, row: number): boolean {
  if (type.kind === 'union') return true;
  return type.kind !== 'null' && data.getValid(row);
}

function readerOf(data: Data, type: DataType): (row: number) => unknown {
  const { values } = data;
  const view = values === undefined ? new DataView(new ArrayBuffer(0)) : viewOf(values);
  const child = (index: number, childType: DataType): unknown[] => valuesOf(data.children[index] as Data, childType);
  const slice = (items: unknown[]) => (row: number) =>
    items.slice(data.valueOffsets[row] as number, data.valueOffsets[row + 1] as number);
  switch (type.kind) {
    case 'null':
      return () => null;
    case 'boolean':
      return (row) => ((view.getUint8(row >> 3) >> (row & 7)) & 1) === 1;
    case 'int':
      return integerReader(view, type);
    case 'float':
      return type.bits === 32 ? (row) => view.getFloat32(row * 4, true) : (row) => view.getFloat64(row * 8, true);
    case 'decimal':
      return (row) => int128(view, row * 16);
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary':
      return (row) => {
        const [from, to] = [data.valueOffsets[row] as number, data.valueOffsets[row + 1] as number];
        const bytes = Buffer.from(view.buffer, view.byteOffset + from, to - from);
        return type.kind === 'binary' ? Uint8Array.from(bytes) : bytes.toString();
      };
    case 'date':
      return (row) => view.getInt32(row * 4, true);
    case 'time':
    case 'timestamp':
      return (row) => view.getBigInt64(row * 8, true);
    case 'interval':
      return (row) => [
        view.getInt32(row * 16, true),
        view.getInt32(row * 16 + 4, true),
        view.getBigInt64(row * 16 + 8, true),
      ];
    case 'list':
      return slice(child(0, type.element));
    case 'array': {
      const items = child(0, type.element);
      return (row) => items.slice(row * type.size, (row + 1) * type.size);
    }
    case 'struct': {
      const fields = type.fields.map((field, i) => child(i, field.type));
      return (row) => fields.map((field) => field[row]);
    }
    case 'map': {
      const fields = [
        { name: 'key', type: type.key },
        { name: 'value', type: type.value },
      ];
      return slice(child(0, { kind: 'struct', fields }));
    }
    case 'union': {
      const members = type.members.map((member, i) => child(i, member.type));
      return (row) => {
        const tag = data.typeIds[row] as number;
        const value = members[tag]?.[row];
        return value === null ? null : [tag, value];
      };
    }
    default:
      return type satisfies never;
  }
}

function integerReader(view: DataView, { bits, signed }: Extract<DataType, { kind: 'int' }>): (row: number) => unknown {
  switch (bits) {
    case 8:
      return (row) => (signed ? view.getInt8(row) : view.getUint8(row));
    case 16:
      return (row) => (signed ? view.getInt16(row * 2, true) : view.getUint16(row * 2, true));
    case 32:
      return (row) => (signed ? view.getInt32(row * 4, true) : view.getUint32(row * 4, true));
    case 64:
      return (row) => (signed ? view.getBigInt64(row * 8, true) : view.getBigUint64(row * 8, true));
    case 128:
      return (row) => int128(view, row * 16);
    default:
      return bits satisfies never;
  }
}

function int128(view: DataView, at: number): bigint {
  return (view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true);
}

function viewOf(values: ArrayBufferView): DataView {
  return new DataView(values.buffer, values.byteOffset, values.byteLength);
}
