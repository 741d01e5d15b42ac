import { AppError } from '../../../../core/app-error.ts';
import type { Statement } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { Clauses, type TokenRange } from './change/clauses.ts';
import { ComposedText } from './change/composed-text.ts';
import { returningQuery } from './change/returning.ts';
import { takeTarget } from './change/target.ts';
import type { GateText } from './gate-query.ts';
import { reservedWords } from './reserved-names.ts';
import { isWord, type TokenCursor } from './token-cursor.ts';
import type { Token, TokenizedStatement } from './tokenizer.ts';

type Insert = Extract<Statement, { kind: 'insert' }>;

/** INSERT INTO name [AS alias] [(column, …)] [BY NAME | BY POSITION] query [RETURNING …], or … DEFAULT VALUES [RETURNING …] */
export async function insert(
  cursor: TokenCursor,
  statement: TokenizedStatement,
  gate: GateText,
  withNames?: TokenRange,
): Promise<Statement> {
  const { sql, tokens } = statement;
  cursor.takes('insert');
  if (cursor.sees('or')) throw noEnforcedKeys('INSERT OR REPLACE and OR IGNORE', cursor.position);
  if (!cursor.takes('into')) throw cursor.unexpected('INTO');
  const target = takeTarget(cursor, 'by', 'default', 'values', 'describe', 'summarize', 'show', 'explain', 'table');
  const { table } = target;
  const columns = seesColumns(cursor) ? takeColumns(cursor) : undefined;
  const matchAt = cursor.position;
  const isByName = cursor.takes('by', 'name');
  if (isByName && columns !== undefined) {
    const hint = 'leave the list of columns out';
    throw new AppError('sql_error', 'BY NAME takes no list of columns', { hint, position: matchAt });
  }
  if (!isByName) cursor.takes('by', 'position');
  const insertOf = async (text: string, start: number, match: 'position' | 'name' | 'defaults'): Promise<Insert> => {
    const query = await gate(text, (at) => start + at, { takesDefault: true });
    return { kind: 'insert', table, columns, match, query };
  };
  if (columns === undefined && !isByName && cursor.takes('default', 'values')) {
    refuseClauses(tokens);
    if (cursor.done) return await insertOf('VALUES (DEFAULT)', matchAt, 'defaults');
    if (!cursor.sees('returning')) throw cursor.unexpected('RETURNING or the end of the statement');
    const clauses = new Clauses(statement);
    const returning = { from: cursor.index, to: clauses.end };
    return {
      ...(await insertOf('VALUES (DEFAULT)', matchAt, 'defaults')),
      returning: await returningQuery(statement, clauses, returning, { target, gate }),
    };
  }
  refuseClauses(tokens);
  if (cursor.done) throw cursor.unexpected('VALUES or a query');
  const start = cursor.position;
  const match = isByName ? 'name' : 'position';
  if (withNames === undefined && !tokens.some((token) => isWord(token, 'returning')))
    return await insertOf(sql.slice(start), start, match);
  const clauses = new Clauses(statement);
  const { end } = clauses;
  const returning = clauses.find({ from: cursor.index, to: end }, 'returning');
  const rows = { from: cursor.index, to: returning };
  const text = new ComposedText(statement, withNames);
  // A second WITH needs parentheses.
  if (withNames !== undefined && cursor.sees('with')) text.value(rows, 'a query');
  else if (rows.from < rows.to) text.callers(rows);
  else throw cursor.unexpected('VALUES or a query');
  return {
    kind: 'insert',
    table,
    columns,
    match,
    query: await text.gated(gate, { hasTarget: false, takesDefault: true }),
    returning: await returningQuery(statement, clauses, { from: returning, to: end }, { target, gate }),
  };
}

function seesColumns(cursor: TokenCursor): boolean {
  if (!cursor.seesMark('(')) return false;
  const token = cursor.peek(1);
  return (
    token?.kind === 'quoted' ||
    (token?.kind === 'word' && !startsQuery(token.text) && !reservedWords.has(asciiLower(token.text)))
  );
}

function startsQuery(word: string): boolean {
  return ['values', 'describe', 'summarize', 'show', 'explain'].includes(asciiLower(word));
}

function takeColumns(cursor: TokenCursor): string[] {
  const columns: string[] = [];
  cursor.takesMark('(');
  do columns.push(cursor.takeName('the name of a column'));
  while (cursor.takesMark(',') && !cursor.seesMark(')'));
  if (!cursor.takesMark(')')) throw cursor.unexpected('a closing parenthesis');
  return columns;
}

/** Clauses of INSERT that follow the query. */
function refuseClauses(tokens: readonly Token[]): void {
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'mark') depth += token.text === '(' ? 1 : token.text === ')' ? -1 : 0;
    if (depth > 0) continue;
    const after = tokens[index + 2];
    if (isWord(token, 'on') && isWord(tokens[index + 1], 'conflict') && (after?.text === '(' || isWord(after, 'do'))) {
      throw noEnforcedKeys('ON CONFLICT', token.start);
    }
  }
}

function noEnforcedKeys(what: string, position: number): AppError {
  return unsupported(what, 'keys are kept and told, but not enforced: leave out what is there with a query', position);
}

function unsupported(what: string, hint: string, position: number): AppError {
  return new AppError('sql_forbidden', `${what} is not supported`, { hint, position });
}
