import type { DeclaredType } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import { isKeptAsOther } from '../../core/rows/type-in-frame.ts';
import type { AlterChange, SqlColumn } from '../../core/sql/sql.ts';
import type { ColumnExpression, TableConstraints, TableKey } from '../../core/sql/table-constraints.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';
import { didYouMeanName } from '../../core/text/did-you-mean.ts';
import type { HeldSummary } from '../../frames/catalog/frame-summary.ts';
import type { ChangedField } from './changed-field.ts';

type ColumnChange = Exclude<AlterChange, { readonly kind: 'renameTable' }>;
type Altered = Pick<HeldSummary, 'handle' | 'columns' | 'declared' | 'constraints'>;

/** Whether the change applies to the frame: to a column that exists, or a new one. A wrong change is refused. */
export function appliesTo(change: ColumnChange, { handle, columns }: Altered): boolean {
  const names = columns.map(({ name }) => name);
  const found = columnOf(change.column, names);
  if (change.kind === 'addColumn') {
    if (found !== undefined && change.ifTaken === 'fail') throw columnExists(found, handle);
    return found === undefined;
  }
  if (found === undefined) {
    if (change.kind === 'dropColumn' && change.ifAbsent === 'ignore') return false;
    if (change.kind === 'changeField' && change.action.verb === 'drop' && change.action.ifAbsent === 'ignore')
      return false;
    throw new AppError(
      'sql_error',
      `column ${JSON.stringify(change.column)} not found in ${handle}${didYouMeanName(change.column, names)}`,
    );
  }
  if (change.kind === 'dropColumn' && columns.length === 1) {
    throw new AppError('sql_error', `${found} is the only column of ${handle}`, {
      hint: 'a frame has at least one column; DROP TABLE drops the frame',
    });
  }
  if (change.kind === 'renameColumn') {
    const taken = columnOf(change.to, names);
    if (taken !== undefined && taken !== found) throw columnExists(taken, handle);
  }
  return true;
}

/** The constraints behind the change, on columns as the frame spells them. Undefined: none. */
export function alteredConstraints(
  change: ColumnChange,
  { columns, constraints }: Altered,
): TableConstraints | undefined {
  const column =
    columnOf(
      change.column,
      columns.map(({ name }) => name),
    ) ?? change.column;
  const before = constraints ?? noConstraints;
  const after = changed(change, column, before);
  const isEmpty = Object.values(after).every(
    (each) => each === undefined || (Array.isArray(each) && each.length === 0),
  );
  return isEmpty ? undefined : after;
}

/** The types that SQL declared for columns of the result that the frame keeps in another type. */
export function alteredTypes(
  change: ColumnChange,
  { columns, declared }: Altered,
  result: readonly SqlColumn[],
  retyped?: ChangedField,
): readonly (DeclaredType | null)[] | undefined {
  const names = columns.map(({ name }) => name);
  const at = names.indexOf(columnOf(change.column, names) ?? '');
  const before = columns.map((_, index) => declared?.[index] ?? null);
  if (change.kind === 'dropColumn') before.splice(at, 1);
  const isNew = (index: number): boolean =>
    (change.kind === 'addColumn' && index >= columns.length) || (change.kind === 'retypeColumn' && index === at);
  const types = result.map((column, index) => (isNew(index) ? (column.declared ?? null) : (before[index] ?? null)));
  const column = result[at];
  if (retyped !== undefined && column !== undefined) {
    const type = retyped.typeIn(column.declared ?? column.type);
    types[at] = isKeptAsOther(type) ? type : null;
  }
  return types.some((type) => type !== null) ? types : undefined;
}

const noConstraints: TableConstraints = {
  notNull: [],
  defaults: [],
  generated: [],
  checks: [],
  unique: [],
  foreignKeys: [],
};

function changed(change: ColumnChange, column: string, before: TableConstraints): TableConstraints {
  const isOther = (name: string): boolean => name !== column;
  const isOfOther = (expression: ColumnExpression): boolean => isOther(expression.column);
  switch (change.kind) {
    case 'addColumn': {
      const { isNotNull, default: value } = change;
      return {
        ...before,
        notNull: [...before.notNull, ...(isNotNull ? [column] : [])],
        defaults: [...before.defaults, ...(value === undefined ? [] : [{ column, sql: value }])],
      };
    }
    case 'dropColumn':
      refuseKey(before, column);
      return {
        ...before,
        notNull: before.notNull.filter(isOther),
        defaults: before.defaults.filter(isOfOther),
        generated: before.generated.filter(isOfOther),
      };
    case 'renameColumn':
      return renamed(before, (name) => (name === column ? change.to : name));
    case 'retypeColumn':
    case 'changeField':
      return before;
    case 'setDefault':
      refuseGenerated(before, column);
      return { ...before, defaults: [...before.defaults.filter(isOfOther), { column, sql: change.sql }] };
    case 'dropDefault':
      return { ...before, defaults: before.defaults.filter(isOfOther) };
    case 'setNotNull':
      return { ...before, notNull: [...before.notNull.filter(isOther), column] };
    case 'dropNotNull':
      if (before.primaryKey?.columns.includes(column)) {
        throw new AppError('sql_error', `${column} is in the primary key, whose columns are NOT NULL`);
      }
      return { ...before, notNull: before.notNull.filter(isOther) };
    default:
      return change satisfies never;
  }
}

function renamed(before: TableConstraints, nameOf: (name: string) => string): TableConstraints {
  const inKey = <K extends TableKey>(key: K): K => ({ ...key, columns: key.columns.map(nameOf) });
  const inExpression = ({ column, sql }: ColumnExpression): ColumnExpression => ({ column: nameOf(column), sql });
  const { primaryKey } = before;
  return {
    ...before,
    notNull: before.notNull.map(nameOf),
    defaults: before.defaults.map(inExpression),
    generated: before.generated.map(inExpression),
    unique: before.unique.map(inKey),
    foreignKeys: before.foreignKeys.map(inKey),
    ...(primaryKey !== undefined && { primaryKey: inKey(primaryKey) }),
  };
}

function refuseKey({ primaryKey, unique, foreignKeys }: TableConstraints, column: string): void {
  const keys = [...(primaryKey === undefined ? [] : [primaryKey]), ...unique, ...foreignKeys];
  if (!keys.some(({ columns }) => columns.includes(column))) return;
  throw new AppError('sql_error', `${column} is in a key of the table`, {
    hint: 'CREATE OR REPLACE TABLE … AS makes a table without it',
  });
}

function refuseGenerated({ generated }: TableConstraints, name: string): void {
  if (!generated.some(({ column }) => column === name)) return;
  throw new AppError('sql_error', `${name} is a generated column, which has no default`);
}

/** In the frame's spelling: names are compared without regard to case. */
export function columnOf(wanted: string, names: readonly string[]): string | undefined {
  return names.find((name) => isSameName(name, wanted));
}

function columnExists(column: string, handle: string): AppError {
  return new AppError('sql_error', `column ${JSON.stringify(column)} is in ${handle} already`);
}
