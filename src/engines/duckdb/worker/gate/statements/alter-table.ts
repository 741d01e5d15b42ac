import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { AlterChange, FieldChange, Statement, TableName } from '../../../../../core/sql/sql.ts';
import { SourceText, textOf } from '../../../../../core/text/source-text.ts';
import { type Token, tokenize } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { checkCreatable, checkWritable } from '../rules/table-access.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { takeType } from './column-definitions.ts';
import { ConstraintClauses } from './constraint-clauses.ts';
import { refuseDependents } from './drop.ts';
import { gateExpressions } from './gate-expressions.ts';

/** An action of ALTER TABLE, and a query that gives the columns, and mostly the rows, of the next version. */
interface Action {
  readonly change: AlterChange;
  readonly text: SourceText;
  /** The caller's expressions in it. */
  readonly expressions?: readonly (readonly Token[])[];
}

/** ALTER TABLE [IF EXISTS] name action, ALTER VIEW [IF EXISTS] name RENAME TO name */
export async function alterTable(cursor: StatementCursor, gate: GateText): Promise<Statement> {
  const what = cursor.takes('alter', 'view') ? 'view' : 'table';
  if (what === 'table' && !cursor.takes('alter', 'table')) {
    const { position } = cursor;
    const message = 'only tables and views can be altered';
    throw new AppError('sql_forbidden', message, { hint: 'write ALTER TABLE name …', position });
  }
  const ifAbsent = cursor.takes('if', 'exists') ? 'ignore' : 'fail';
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkWritable(table, position);
  if (what === 'view' && !cursor.sees('rename', 'to')) throw cursor.unexpected('RENAME TO');
  const { change: written, text, expressions = [] } = takeAction(cursor, ` FROM ${sourceText(table)}`);
  if (!cursor.done) throw cursor.unexpected('the end of the statement (one change at a time)');
  const query = await gate(text);
  const [expression] = await gateExpressions(expressions, gate);
  const change = withExpression(written, expression);
  return { kind: 'alter', what, table, ifAbsent, change, query };
}

/** A default with definitions expanded. */
function withExpression(change: AlterChange, sql: string | undefined): AlterChange {
  if (sql === undefined) return change;
  if (change.kind === 'setDefault') return { ...change, sql };
  if (change.kind === 'changeField' && change.action.verb === 'add')
    return { ...change, action: { ...change.action, sql } };
  return change.kind === 'addColumn' && change.default !== undefined ? { ...change, default: sql } : change;
}

function takeAction(cursor: StatementCursor, from: string): Action {
  if (cursor.takes('add')) return addColumn(cursor, from);
  if (cursor.takes('drop')) return dropColumn(cursor, from);
  if (cursor.takes('rename', 'to')) {
    const { position } = cursor;
    const to = cursor.takeName('the new name of the table');
    checkCreatable({ catalog: undefined, schema: undefined, name: to }, position);
    return { change: { kind: 'renameTable', to }, text: built(`SELECT *${from}`) };
  }
  if (cursor.takes('rename')) return renameColumn(cursor, from);
  if (cursor.takes('alter')) return alterColumn(cursor, from);
  throw cursor.unexpected('ADD, DROP, RENAME or ALTER');
}

function addColumn(cursor: StatementCursor, from: string): Action {
  const { position } = cursor;
  if (['constraint', 'primary', 'unique', 'foreign', 'check'].some((word) => cursor.sees(word)))
    throw constraintsStay(cursor, 'constraints are given when a table is created');
  cursor.takes('column');
  const ifTaken = cursor.takes('if', 'not', 'exists') ? 'keep' : 'fail';
  const { column, path } = takePath(cursor);
  const type = takeType(cursor);
  if (type.length === 0) throw cursor.unexpected(`the type of ${what(path)} ${sqlName(path.at(-1) ?? column)}`);
  const clauses = new ConstraintClauses(cursor);
  clauses.takeOfColumn(column);
  const { notNull, defaults, ...others } = clauses.constraintsOf([column]) ?? { notNull: [], defaults: [] };
  if (Object.values(others).some((each) => !Array.isArray(each) || each.length > 0)) {
    throw new AppError('sql_forbidden', 'a column is added with a type, NOT NULL and DEFAULT alone', { position });
  }
  const [value] = clauses.expressions;
  if (path.length > 0) {
    if (notNull.length > 0)
      throw new AppError('sql_forbidden', 'a field is added with a type and DEFAULT alone', { position });
    const cast = castTokens(value ?? ours('NULL', position), type);
    const change = { kind: 'changeField', column, path, action: { verb: 'add', ifTaken, sql: textOf(cast) } } as const;
    return { change, text: built(`SELECT *${from}`), expressions: [cast] };
  }
  // A union inside another type is a struct with a field that has no name: of such a type SQL has no NULL.
  const writesRows = value !== undefined || type.some(({ word }) => word === 'union');
  const text = built('SELECT *, CAST((');
  if (value === undefined) text.ours('NULL');
  else text.words(value);
  const end = `) AS ${sqlName(column)}${from}${writesRows ? '' : ' LIMIT 0'}`;
  text.ours(') AS ').words(type).ours(end);
  const change = {
    kind: 'addColumn',
    column,
    ifTaken,
    isNotNull: notNull.length > 0,
    default: defaults[0]?.sql,
    writesRows,
  } as const;
  return { change, text, expressions: clauses.expressions };
}

function constraintsStay(cursor: StatementCursor, message: string): AppError {
  return new AppError('sql_forbidden', message, {
    hint: 'ALTER TABLE changes columns, and their NOT NULL and DEFAULT',
    position: cursor.position,
  });
}

function dropColumn(cursor: StatementCursor, from: string): Action {
  if (cursor.sees('constraint'))
    throw constraintsStay(cursor, 'constraints stay as they were when the table was created');
  cursor.takes('column');
  const ifAbsent = cursor.takes('if', 'exists') ? 'ignore' : 'fail';
  const { column, path } = takePath(cursor);
  refuseDependents(cursor);
  if (path.length > 0) return fieldAction({ column, path, action: { verb: 'drop', ifAbsent } }, from);
  const text = built(`SELECT * EXCLUDE (${sqlName(column)})${from}`);
  return { change: { kind: 'dropColumn', column, ifAbsent }, text };
}

function renameColumn(cursor: StatementCursor, from: string): Action {
  cursor.takes('column');
  const { column, path } = takePath(cursor);
  if (!cursor.takes('to')) throw cursor.unexpected('TO');
  const to = cursor.takeName(`the new name of the ${what(path)}`);
  if (path.length > 0) return fieldAction({ column, path, action: { verb: 'rename', to } }, from);
  const text = built(`SELECT * RENAME (${sqlName(column)} AS ${sqlName(to)})${from}`);
  return { change: { kind: 'renameColumn', column, to }, text };
}

/** A column, and the path from there to a field where one is named. */
function takePath(cursor: StatementCursor): Pick<FieldChange, 'column' | 'path'> {
  const column = cursor.takeName('the name of a column');
  const path: string[] = [];
  while (cursor.takesMark('.')) path.push(cursor.takeName('the name of a field'));
  return { column, path };
}

function what(path: readonly string[]): string {
  return path.length === 0 ? 'column' : 'field';
}

function fieldAction(change: Omit<FieldChange, 'kind'>, from: string): Action {
  return { change: { kind: 'changeField', ...change }, text: built(`SELECT *${from}`) };
}

function castTokens(value: readonly Token[], type: readonly Token[]): readonly Token[] {
  const at = value[0]?.start ?? 0;
  return [...ours('CAST((', at), ...value, ...ours(') AS', at), ...type, ...ours(')', at)];
}

/** Our tokens among those of the caller, with a space behind each. */
function ours(text: string, at: number): readonly Token[] {
  return tokenize(text).map((token) => ({ ...token, start: at, end: -1 }));
}

function alterColumn(cursor: StatementCursor, from: string): Action {
  cursor.takes('column');
  const column = cursor.takeName('the name of a column');
  if (cursor.takes('set', 'data', 'type') || cursor.takes('type') || cursor.takes('set', 'type'))
    return retypeColumn(cursor, column, from);
  if (cursor.takes('set', 'not', 'null')) {
    const nulls = `SELECT *${from} WHERE ${sqlName(column)} IS NULL LIMIT 1`;
    return { change: { kind: 'setNotNull', column }, text: built(nulls) };
  }
  const text = built(`SELECT *${from} LIMIT 0`);
  if (cursor.takes('drop', 'not', 'null')) return { change: { kind: 'dropNotNull', column }, text };
  if (cursor.takes('drop', 'default')) return { change: { kind: 'dropDefault', column }, text };
  if (!cursor.takes('set', 'default')) throw cursor.unexpected('TYPE, SET or DROP');
  const tokens = cursor.takeUntil();
  if (tokens.length === 0) throw cursor.unexpected('a value');
  return { change: { kind: 'setDefault', column, sql: textOf(tokens) }, text, expressions: [tokens] };
}

function retypeColumn(cursor: StatementCursor, column: string, from: string): Action {
  const type = takeType(cursor);
  if (type.length === 0 && !cursor.sees('using')) throw cursor.unexpected('a type');
  const value = cursor.takes('using') ? cursor.takeUntil() : undefined;
  if (value?.length === 0) throw cursor.unexpected('an expression');
  const isCast = type.length > 0;
  const text = built(`SELECT * REPLACE (${isCast ? 'CAST(' : ''}(`);
  if (value === undefined) text.ours(sqlName(column));
  else text.words(value);
  text.ours(')');
  if (isCast) text.ours(' AS ').words(type).ours(')');
  text.ours(` AS ${sqlName(column)})${from}`);
  return { change: { kind: 'retypeColumn', column }, text, expressions: value === undefined ? [] : [value] };
}

function built(text: string): SourceText {
  return new SourceText().ours(text);
}

function sourceText({ catalog, schema, name }: TableName): string {
  return [catalog, schema, name].flatMap((part) => (part === undefined ? [] : sqlName(part))).join('.');
}
