import { type DeclaredType, innerTypes } from '@framehold/columns';
import { duckdbType, nestedTypes, type StatementColumn } from '@framehold/duckdb';

export function hasFloats(column: StatementColumn): boolean {
  return hasKind(column, 'float', [duckdbType.FLOAT, duckdbType.DOUBLE]);
}

export function hasBytes(column: StatementColumn): boolean {
  return hasKind(column, 'binary', [duckdbType.BLOB]);
}

export function isInterval({ typeId }: StatementColumn): boolean {
  return typeId === duckdbType.INTERVAL;
}

/** At any depth. Of a type that cannot be told, it is assumed. */
function hasKind({ typeId, nested }: StatementColumn, kind: DeclaredType['kind'], typeIds: readonly number[]): boolean {
  if (!nestedTypes.has(typeId)) return typeIds.includes(typeId);
  const isInside = (type: DeclaredType): boolean => type.kind === kind || innerTypes(type).some(isInside);
  return nested === undefined || isInside(nested);
}
