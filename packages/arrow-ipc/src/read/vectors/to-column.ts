import { isDeepStrictEqual } from 'node:util';
import { type Column, type DataType, parseSqlType } from '@framehold/columns';
import { arrowFields } from '../../types/arrow-columns.ts';
import type { ArrowField } from '../../types/arrow-field.ts';
import type { ReceivedField } from '../format/schema.ts';
import { toDataType } from './to-data-type.ts';

/** DuckDB's type for a NULL of unknown type. */
export const untypedNull: DataType = { kind: 'int', bits: 32, signed: true };

/** A column of foreign Arrow as one of ours: of the type that the local engine has for the same. */
export function toColumn(field: ReceivedField): Column {
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

/** Whether batches with the field have the layout of our own encoder, so that they may be passed on unchanged. */
export function hasOwnLayout(field: ReceivedField): boolean {
  return arrowFields([toColumn(field)]).every((own) => isSameLayout(own, field));
}

function isSameLayout(own: ArrowField, { type, children, dictionary }: ReceivedField): boolean {
  // Unions of older versions have another buffer.
  if (dictionary !== undefined || type.kind === 'union' || !isDeepStrictEqual(own.type, type)) return false;
  return children.every((child, index) => isSameLayout(own.children[index] as ArrowField, child));
}
