import { type ReceivedField, toColumn } from '@framehold/arrow-ipc';
import { type Column, isDecimalSize } from '@framehold/columns';
import { canWriteParquet } from '@framehold/parquet';
import { checkColumns } from '../append/check-columns.ts';

/** The columns of a frame made of these fields, where its file can be written without DuckDB, as DuckDB would. */
export function flatColumns(fields: readonly ReceivedField[]): readonly Column[] | undefined {
  checkColumns(fields);
  if (!fields.every(isFlat)) return undefined;
  const columns = fields.map(toColumn);
  return canWriteParquet(columns) ? columns : undefined;
}

const decimalBits: ReadonlySet<number> = new Set([32, 64, 128, 256]);

/** Of some fields DuckDB makes another type, or another value. */
function isFlat({ type, extension, sqlType }: ReceivedField): boolean {
  switch (type.kind) {
    case 'bool':
    case 'int':
    case 'float':
    case 'time':
    case 'timestamp':
      return true;
    case 'decimal':
      return isDecimalSize(type) && decimalBits.has(type.bits);
    case 'date':
      return type.unit === 'day';
    case 'bytes':
    case 'view':
      return sqlType !== 'JSON' || extension === 'arrow.json';
    default:
      return false;
  }
}
