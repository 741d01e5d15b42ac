import { type Data, type DataType, type Decimal, type Field, type Table, TimeUnit, Type } from 'apache-arrow';
import {
  blobText,
  dateText,
  decimalText,
  floatText,
  intervalText,
  nestedText,
  quoted,
  timestampText,
  timeText,
} from './value-text.ts';

/** A cell as text, or undefined where it is NULL. */
type CellText = (row: number) => string | undefined;

/** Every value as DuckDB writes it. What is read is the buffers of Arrow, since apache-arrow's own values lose digits. */
export function arrowText(table: Table): string[][] {
  const rows: string[][] = [];
  for (const batch of table.batches) {
    if (batch.numRows === 0) continue;
    const columns = table.schema.fields.map((field, at) => cellTexts(batch.data.children[at] as Data, field));
    for (let row = 0; row < batch.numRows; row++) rows.push(columns.map((column) => column(row) ?? 'NULL'));
  }
  return rows;
}

function cellTexts(data: Data, field: Field): CellText {
  const read = present(data, field.type, field);
  if (data.typeId === Type.Null) return () => undefined;
  if (data.typeId === Type.Union) return read;
  return (row) => (data.getValid(row) ? read(row) : undefined);
}

function present(data: Data, type: DataType, field: Field): CellText {
  const { values } = data;
  const view = new DataView(values?.buffer ?? new ArrayBuffer(0), values?.byteOffset ?? 0, values?.byteLength ?? 0);
  const at64 = (row: number): bigint => view.getBigInt64(row * 8, true);
  switch (type.typeId) {
    case Type.Null:
      return () => undefined;
    case Type.Bool:
      return (row) => `${((view.getUint8((data.offset + row) >> 3) >> ((data.offset + row) & 7)) & 1) === 1}`;
    case Type.Int:
      return (row) => `${(values as ArrayLike<number | bigint>)[row]}`;
    case Type.Float: {
      const is32 = values instanceof Float32Array;
      return (row) => floatText((values as ArrayLike<number>)[row] ?? Number.NaN, is32 ? 32 : 64);
    }
    case Type.Decimal:
      return (row) => {
        const digits = (view.getBigInt64(row * 16 + 8, true) << 64n) | view.getBigUint64(row * 16, true);
        const { precision, scale } = type as Decimal;
        return decimalText(digits, precision, scale);
      };
    case Type.Utf8:
      return (row) => bytesAt(data, row).toString();
    case Type.Binary:
      return (row) => blobText(bytesAt(data, row));
    case Type.Date:
      return (row) => dateText(BigInt(view.getInt32(row * 4, true)));
    case Type.Time:
      return (row) => timeText(at64(row), perSecond(type));
    case Type.Timestamp: {
      const hasZone = (type as DataType & { timezone?: string | null }).timezone != null;
      return (row) => timestampText(at64(row), perSecond(type), hasZone);
    }
    case Type.Interval:
      return (row) =>
        intervalText(
          view.getInt32(row * 16, true),
          view.getInt32(row * 16 + 4, true),
          view.getBigInt64(row * 16 + 8, true),
        );
    case Type.Duration:
      return (row) => intervalText(0, 0, at64(row) * (1_000_000_000n / perSecond(type)));
    default:
      return nested(data, type, field);
  }
}

function nested(data: Data, type: DataType, field: Field): CellText {
  const children = type.children as Field[];
  const inner = (at: number): CellText => itemTexts(data.children[at] as Data, children[at] as Field);
  const range = (row: number): readonly [number, number] => {
    const size = (type as DataType & { listSize?: number }).listSize;
    if (type.typeId === Type.FixedSizeList && size !== undefined) return [row * size, (row + 1) * size];
    return [data.valueOffsets[row] as number, data.valueOffsets[row + 1] as number];
  };
  const between = (row: number, item: CellText): string[] => {
    const [from, to] = range(row);
    return Array.from({ length: to - from }, (_, at) => item(from + at) ?? 'NULL');
  };
  switch (type.typeId) {
    case Type.List:
    case Type.FixedSizeList: {
      // DuckDB puts no quotes around JSON in a list.
      const isJson = children[0]?.metadata.get('ARROW:extension:name') === 'arrow.json';
      const item = isJson ? cellTexts(data.children[0] as Data, children[0] as Field) : inner(0);
      return (row) => `[${between(row, item).join(', ')}]`;
    }
    case Type.Map: {
      const entries = data.children[0] as Data;
      const [key, value] = [0, 1].map((at) =>
        itemTexts(entries.children[at] as Data, (children[0] as Field).type.children[at] as Field),
      ) as [CellText, CellText];
      return (row) => `{${between(row, (at) => `${key(at)}=${value(at) ?? 'NULL'}`).join(', ')}}`;
    }
    case Type.Struct: {
      const items = children.map((_, at) => inner(at));
      // `row(1, 2)` has no names.
      const isRow = children.every(({ name }) => name === '');
      const names = children.map(({ name }) => (isRow ? '' : `${quoted(name)}: `));
      const texts = (row: number) => items.map((item, at) => `${names[at]}${item(row) ?? 'NULL'}`).join(', ');
      return isRow ? (row) => `(${texts(row)})` : (row) => `{${texts(row)}}`;
    }
    case Type.Union: {
      const members = children.map((child, at) => cellTexts(data.children[at] as Data, child));
      return (row) => members[data.typeIds[row] as number]?.(data.valueOffsets?.[row] ?? row);
    }
    default:
      throw new Error(`column ${field.name} has the type ${type}, which the tests do not read`);
  }
}

/** Of what is inside another value: in quotes where it could be misread. */
function itemTexts(data: Data, field: Field): CellText {
  const text = cellTexts(data, field);
  const isNested = [Type.List, Type.FixedSizeList, Type.Map, Type.Struct, Type.Union].includes(field.type.typeId);
  if (isNested) return text;
  return (row) => {
    const found = text(row);
    return found === undefined ? undefined : nestedText(found);
  };
}

function bytesAt(data: Data, row: number): Buffer {
  const [from, to] = [data.valueOffsets[row] as number, data.valueOffsets[row + 1] as number];
  const { buffer, byteOffset } = data.values as Uint8Array;
  return Buffer.from(buffer, byteOffset + from, to - from);
}

function perSecond(type: DataType): bigint {
  switch ((type as DataType & { unit: TimeUnit }).unit) {
    case TimeUnit.SECOND:
      return 1n;
    case TimeUnit.MILLISECOND:
      return 1_000n;
    case TimeUnit.MICROSECOND:
      return 1_000_000n;
    case TimeUnit.NANOSECOND:
      return 1_000_000_000n;
  }
}
