import { arrowField, smallIpcStream, utf8Type } from '@framehold/arrow-ipc';
import type { Column, DataType } from '@framehold/columns';

/** The columns of DESCRIBE, under Spark's names. */
export const describedColumns: readonly Column[] = ['col_name', 'data_type', 'comment'].map((name) => ({
  name,
  type: { kind: 'utf8' },
}));

/** A row for each column. There are no comments. */
export function describedRows(columns: readonly Column[]): readonly (readonly unknown[])[] {
  return columns.map(({ name, type }) => [name, typeText(type), null]);
}

export async function* describedStream(rows: readonly (readonly unknown[])[]): AsyncGenerator<Uint8Array> {
  yield smallIpcStream(
    describedColumns.map(({ name }) => arrowField(name, utf8Type)),
    rows,
  );
}

const integers: Readonly<Record<number, string>> = { 8: 'tinyint', 16: 'smallint', 32: 'int', 64: 'bigint' };

/** In Spark's form. Types that only Sail has are written as in standard SQL. */
function typeText(type: DataType): string {
  switch (type.kind) {
    case 'null':
      return 'void';
    case 'int': {
      const name = integers[type.bits] ?? `int${type.bits}`;
      return type.signed ? name : `${name} unsigned`;
    }
    case 'float':
      return type.bits === 64 ? 'double' : 'float';
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'utf8':
      return 'string';
    case 'timestamp':
      return type.zoned ? 'timestamp' : 'timestamp_ntz';
    case 'list':
    case 'array':
      return `array<${typeText(type.element)}>`;
    case 'map':
      return `map<${typeText(type.key)},${typeText(type.value)}>`;
    case 'struct':
      return `struct<${type.fields.map((field) => `${field.name}:${typeText(field.type)}`).join(',')}>`;
    default:
      return type.kind;
  }
}
