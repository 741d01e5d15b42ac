import type { Column, DataType } from '../../../../core/data-type.ts';
import { parseSqlType } from '../../../sql-types/parse-sql-type.ts';
import type { ArrowField } from '../format/schema.ts';
import { toDataType } from './to-data-type.ts';

/** What DuckDB says of a NULL whose type nothing tells. */
export const untypedNull: DataType = { kind: 'int', bits: 32, signed: true };

/** A column of foreign Arrow as one of ours: of the type that the local engine has for the same. */
export function toColumn(field: ArrowField): Column {
  const type = toDataType(field, untypedNull);
  const meant = field.sqlType === undefined ? undefined : parseSqlType(field.sqlType);
  const isOurs = meant !== undefined && JSON.stringify(asSent(meant)) === JSON.stringify(asSent(type));
  return { name: field.name, type: isOurs ? meant : type };
}

/** Types that leave us as another. */
function asSent(type: DataType): DataType {
  if (type.kind === 'uuid' || type.kind === 'json') return { kind: 'utf8' };
  if (type.kind === 'int' && type.bits === 128) return { kind: 'decimal', precision: 38, scale: 0 };
  return type.kind === 'list' ? { ...type, element: asSent(type.element) } : type;
}
