import type { Query } from '../../../../core/sql.ts';
import type { TableConstraints } from '../../../../core/table-constraints.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import { BuiltText } from './built-text.ts';
import { beginsClause, ConstraintClauses, noSequences } from './constraint-clauses.ts';
import { gateExpressions } from './gate-expressions.ts';
import type { GateText } from './gate-query.ts';
import { repeatedColumn } from './repeated-column.ts';
import type { TokenCursor } from './token-cursor.ts';
import type { Token } from './tokenizer.ts';

export interface DefinedTable {
  /** Gives the columns and no rows. */
  readonly query: Query;
  readonly constraints: TableConstraints | undefined;
}

interface DefinedColumn {
  readonly name: string;
  /** Undefined: that of the expression from which it is generated. */
  readonly type: readonly Token[] | undefined;
}

/** (column type constraint …, constraint, …) */
export async function definedTable(cursor: TokenCursor, gate: GateText): Promise<DefinedTable> {
  const clauses = new ConstraintClauses(cursor);
  const columns = takeColumns(cursor, clauses);
  // Before anything is asked of the expressions.
  clauses.constraintsOf(columns.map(({ name }) => name));
  const text = columnsText(columns, clauses);
  const query = await gate(text.sql, text.origin);
  const texts = await gateExpressions(clauses.expressions, gate);
  const constraints = clauses.constraintsOf(
    columns.map(({ name }) => name),
    texts,
  );
  return { query: { ...query, start: undefined }, constraints };
}

function takeColumns(cursor: TokenCursor, clauses: ConstraintClauses): readonly DefinedColumn[] {
  const columns: DefinedColumn[] = [];
  const names = new Set<string>();
  cursor.takesMark('(');
  do {
    if (columns.length > 0 && clauses.takesOfTable()) continue;
    const { position } = cursor;
    const name = cursor.takeName('the name of a column');
    if (names.has(asciiLower(name))) throw repeatedColumn(name, position);
    names.add(asciiLower(name));
    const typeAt = cursor.position;
    const type = takeType(cursor);
    refuseSerial(type, typeAt);
    if (type.length === 0 && !cursor.sees('generated', 'always') && !cursor.sees('as'))
      throw cursor.unexpected(`the type of column ${sqlName(name)}`);
    clauses.takeOfColumn(name);
    columns.push({ name, type: type.length === 0 ? undefined : type });
    // DuckDB takes a comma behind the last column, too.
  } while (cursor.takesMark(',') && !cursor.seesMark(')'));
  if (!cursor.takesMark(')')) throw cursor.unexpected('a comma or a closing parenthesis');
  if (!cursor.done) throw cursor.unexpected('the end of the statement');
  return columns;
}

/** A generated column without a type is the only one that needs the others to tell it. */
function columnsText(columns: readonly DefinedColumn[], clauses: ConstraintClauses): BuiltText {
  const text = new BuiltText();
  const typed = columns.filter(({ type }) => type !== undefined);
  const needsOthers = typed.length < columns.length;
  if (needsOthers) {
    for (const [index, { name, type }] of columns.entries()) {
      text.add(index === 0 ? 'SELECT ' : ', ');
      if (type !== undefined) text.add(sqlName(name));
      else {
        text.add('(');
        text.addTokens(clauses.generatedFrom(name) ?? []);
        text.add(`) AS ${sqlName(name)}`);
      }
    }
    text.add(' FROM (');
  }
  for (const [index, { name, type }] of typed.entries()) {
    text.add(`${index === 0 ? 'SELECT ' : ', '}CAST(NULL AS `);
    text.addTokens(type ?? []);
    text.add(`) AS ${sqlName(name)}`);
  }
  text.add(`${needsOthers ? ')' : ''} WHERE false`);
  return text;
}

/** PostgreSQL's columns that number their rows. */
function refuseSerial([token]: readonly Token[], position: number): void {
  if (token?.kind === 'word' && /^(?:small|big)?serial[248]?$/i.test(token.text)) throw noSequences(position);
}

/** The tokens of a type, up to what stands behind it. */
export function takeType(cursor: TokenCursor): readonly Token[] {
  const type: Token[] = [];
  let depth = 0;
  for (let token = cursor.peek(); token !== undefined; token = cursor.peek()) {
    if (depth === 0 && (token.text === ',' || token.text === ')' || beginsClause(token))) break;
    if (token.kind === 'operator' || token.kind === 'parameter') throw cursor.unexpected('a type');
    if (/^[([{]$/.test(token.text)) depth++;
    else if (/^[)\]}]$/.test(token.text)) depth--;
    type.push(token);
    cursor.take();
  }
  return type;
}
