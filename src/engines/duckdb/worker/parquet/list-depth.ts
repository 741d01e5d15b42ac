import type { Column, DataType } from '@framehold/columns';
import { AppError } from '../../../../core/errors/app-error.ts';

/** For each list around a value DuckDB takes twice the time to read it from Parquet: with 24 it is seconds for one row. */
const mostListDepth = 16;

/** A frame that is taken must be readable. */
export function refuseDeepLists(columns: readonly Column[]): void {
  for (const { name, type } of columns) {
    const depth = listDepth(type);
    if (depth <= mostListDepth) continue;
    throw new AppError(
      'unsupported_type',
      `column ${JSON.stringify(name)} holds lists ${depth} deep; a frame keeps up to ${mostListDepth}`,
      { hint: 'keep it as JSON' },
    );
  }
}

/** A map is a list of entries. */
function listDepth(type: DataType): number {
  switch (type.kind) {
    case 'list':
    case 'array':
      return 1 + listDepth(type.element);
    case 'map':
      return 1 + Math.max(listDepth(type.key), listDepth(type.value));
    case 'struct':
      return Math.max(0, ...type.fields.map((field) => listDepth(field.type)));
    case 'union':
      return Math.max(0, ...type.members.map((member) => listDepth(member.type)));
    default:
      return 0;
  }
}
