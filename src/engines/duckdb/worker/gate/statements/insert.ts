import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Query, Statement } from '../../../../../core/sql/sql.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import { ComposedText, takeTarget } from '../change/composed-text.ts';
import { findConflict, onConflict, takesOr } from '../change/on-conflict.ts';
import { returningQuery } from '../change/returning.ts';
import type { GateText } from '../gate-query.ts';
import { reservedWords } from '../rules/reserved-names.ts';
import { Clauses } from '../text/clauses.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import type { TokenRange } from '../text/token-groups.ts';

/**
 * INSERT [OR IGNORE | OR REPLACE] INTO name [AS alias] [(column, …)] [BY NAME | BY POSITION] query | DEFAULT VALUES
 * [ON CONFLICT …] [RETURNING …]
 */
export async function insert(
  cursor: StatementCursor,
  statement: TokenizedText,
  gate: GateText,
  withNames?: TokenRange,
): Promise<Statement> {
  cursor.takes('insert');
  const or = takesOr(cursor);
  if (!cursor.takes('into')) throw cursor.unexpected('INTO');
  const target = takeTarget(cursor, 'by', 'default', 'values', 'describe', 'summarize', 'show', 'explain', 'table');
  const { table } = target;
  const names = seesColumns(cursor) ? cursor.takeNames({ mayEndInComma: true }) : undefined;
  const columns = names?.map(({ name }) => name);
  const matchAt = cursor.position;
  const isByName = cursor.takes('by', 'name');
  if (isByName && columns !== undefined) {
    const hint = 'leave the list of columns out';
    throw new AppError('sql_error', 'BY NAME takes no list of columns', { hint, position: matchAt });
  }
  if (!isByName) cursor.takes('by', 'position');
  const isDefaults = columns === undefined && !isByName && cursor.takes('default', 'values');
  const match = isDefaults ? 'defaults' : isByName ? 'name' : 'position';
  const { tokens } = statement;
  const hasClauses = tokens.some(({ word }) => word === 'returning' || word === 'conflict');
  const clauses = hasClauses || or !== undefined || withNames !== undefined ? new Clauses(statement) : undefined;
  const { length: end } = tokens;
  const returning = clauses?.find({ from: cursor.index, to: end }, 'returning') ?? end;
  const conflict = clauses ? findConflict(clauses, { from: cursor.index, to: returning }) : returning;
  const rows = { from: cursor.index, to: conflict };
  if (isDefaults && rows.from < rows.to) throw cursor.unexpected('ON CONFLICT, RETURNING or the end of the statement');
  if (!isDefaults && rows.from >= rows.to) throw cursor.unexpected('VALUES or a query');
  const query = isDefaults
    ? await gate(new SourceText().ours('VALUES (DEFAULT)', matchAt), { takesDefault: true })
    : await rowsQuery(statement, rows, { gate, withNames });
  if (clauses === undefined) return { kind: 'insert', table, columns, match, query };
  const conflicts = { from: conflict, to: returning };
  return {
    kind: 'insert',
    table,
    columns,
    match,
    query,
    onConflict: await onConflict(clauses, conflicts, { target, gate, or }),
    returning: await returningQuery(clauses, { from: returning, to: end }, { target, gate }),
  };
}

/** If nothing follows the rows, their text is the caller's. */
async function rowsQuery(
  statement: TokenizedText,
  rows: TokenRange,
  { gate, withNames }: { readonly gate: GateText; readonly withNames: TokenRange | undefined },
): Promise<Query> {
  const { tokens } = statement;
  const start = tokens[rows.from]?.start ?? 0;
  if (withNames === undefined && rows.to === tokens.length)
    return await gate(SourceText.partOf(statement, start), { takesDefault: true });
  const text = new ComposedText(statement, withNames);
  // A second WITH needs parentheses.
  if (withNames !== undefined && tokens[rows.from]?.word === 'with') text.value(rows, 'a query');
  else text.callers(rows);
  return await text.gated(gate, { hasTarget: false, takesDefault: true });
}

function seesColumns(cursor: StatementCursor): boolean {
  if (!cursor.seesMark('(')) return false;
  const token = cursor.peek(1);
  return (
    token?.kind === 'quoted' ||
    (token?.kind === 'word' && !queryWords.has(token.word) && !reservedWords.has(token.word))
  );
}

const queryWords = new Set(['values', 'describe', 'summarize', 'show', 'explain']);
