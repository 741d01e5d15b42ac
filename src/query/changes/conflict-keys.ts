import { AppError } from '../../core/errors/app-error.ts';
import type { OnConflict } from '../../core/sql/sql.ts';
import type { TableKey } from '../../core/sql/table-constraints.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import { assertColumns } from '../tables/target-frame.ts';

/** The columns of the keys of ON CONFLICT: of the named key, or of all keys of the frame. */
export function conflictKeys(
  { key, action, position }: OnConflict,
  { columns, constraints, handle }: Pick<FrameReader, 'columns' | 'constraints' | 'handle'>,
): readonly (readonly string[])[] {
  const { primaryKey, unique = [] } = constraints ?? {};
  const declared = primaryKey === undefined ? unique : [primaryKey, ...unique];
  if (key !== undefined) {
    assertColumns(key, columns, handle);
    const named = setOf(key.map(({ name }) => name));
    const found = declared.find((each) => setOf(each.columns) === named);
    if (found !== undefined) return [found.columns];
    const message = `the columns of ON CONFLICT are not those of a PRIMARY KEY or UNIQUE of ${handle}`;
    throw new AppError('sql_error', message, { hint: hintOf(declared), position: key[0]?.position });
  }
  if (declared.length === 0) {
    const message = `${handle} has no PRIMARY KEY and no UNIQUE, so that no row can conflict`;
    throw new AppError('sql_error', message, { hint: hintOf(declared), position });
  }
  if (declared.length > 1 && action !== 'nothing') {
    const message = `${handle} has several keys, and a row could have those of two others`;
    const hint = `name one: ON CONFLICT (column, …) DO UPDATE SET …; ${hintOf(declared)}`;
    throw new AppError('sql_error', message, { hint, position });
  }
  return declared.map((each) => each.columns);
}

function setOf(names: readonly string[]): string {
  return JSON.stringify([...new Set(names.map(asciiLower))].sort());
}

function hintOf(declared: readonly TableKey[]): string {
  if (declared.length === 0) return 'keys are declared with the table: CREATE TABLE x (a BIGINT PRIMARY KEY, …)';
  return `its keys are ${declared.map(({ columns }) => `(${columns.join(', ')})`).join(', ')}`;
}
