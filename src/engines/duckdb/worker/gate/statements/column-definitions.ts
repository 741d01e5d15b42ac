import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Query } from '../../../../../core/sql/sql.ts';
import type { TableConstraints } from '../../../../../core/sql/table-constraints.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { isItemEnd } from '../text/token-groups.ts';
import { beginsClause, ConstraintClauses, noSequences } from './constraint-clauses.ts';
import { gateExpressions } from './gate-expressions.ts';

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
export async function definedTable(cursor: StatementCursor, gate: GateText): Promise<DefinedTable> {
  const clauses = new ConstraintClauses(cursor);
  const columns = takeColumns(cursor, clauses);
  // Before the expressions are analysed.
  clauses.constraintsOf(columns.map(({ name }) => name));
  const query = await gate(columnsText(columns, clauses));
  const texts = await gateExpressions(clauses.expressions, gate);
  const constraints = clauses.constraintsOf(
    columns.map(({ name }) => name),
    texts,
  );
  return { query, constraints };
}

function takeColumns(cursor: StatementCursor, clauses: ConstraintClauses): readonly DefinedColumn[] {
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

/** A generated column without a type is the only column whose type follows from the others. */
function columnsText(columns: readonly DefinedColumn[], clauses: ConstraintClauses): SourceText {
  const text = new SourceText();
  const typed = columns.filter(({ type }) => type !== undefined);
  const needsOthers = typed.length < columns.length;
  if (needsOthers) {
    for (const [index, { name, type }] of columns.entries()) {
      text.ours(index === 0 ? 'SELECT ' : ', ');
      if (type !== undefined) text.ours(sqlName(name));
      else
        text
          .ours('(')
          .words(clauses.generatedFrom(name) ?? [])
          .ours(`) AS ${sqlName(name)}`);
    }
    text.ours(' FROM (');
  }
  for (const [index, { name, type }] of typed.entries()) {
    const head = `${index === 0 ? 'SELECT ' : ', '}CAST(NULL AS `;
    text
      .ours(head)
      .words(type ?? [])
      .ours(`) AS ${sqlName(name)}`);
  }
  return text.ours(`${needsOthers ? ')' : ''} WHERE false`);
}

/** PostgreSQL's columns that number their rows. */
function refuseSerial([token]: readonly Token[], position: number): void {
  if (token?.kind === 'word' && /^(?:small|big)?serial[248]?$/i.test(token.text)) throw noSequences(position);
}

/** The tokens of a type, up to the next clause. */
export function takeType(
  cursor: StatementCursor,
  isEnd = (token: Token): boolean => isItemEnd(token) || beginsClause(token),
): readonly Token[] {
  const { index } = cursor;
  const type = cursor.takeUntil(isEnd);
  const wrong = type.findIndex(({ kind }) => kind === 'operator' || kind === 'parameter');
  if (wrong < 0) return type;
  cursor.skipTo(index + wrong);
  throw cursor.unexpected('a type');
}

/** A frame could keep both, but SQL would know the second only under another name. */
export function repeatedColumn(name: string, position: number): AppError {
  return new AppError('sql_error', `column ${sqlName(name)} is there already; case does not tell names apart`, {
    hint: 'give each column another name',
    position,
  });
}
