import { AppError } from '../../../../core/app-error.ts';
import type { Statement } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import type { GateText } from './gate-query.ts';
import { reservedWords } from './reserved-names.ts';
import { checkWritable } from './table-access.ts';
import { isWord, type TokenCursor } from './token-cursor.ts';
import type { Token, TokenizedStatement } from './tokenizer.ts';

/** INSERT INTO name [AS alias] [(column, …)] [BY NAME | BY POSITION] query, or … DEFAULT VALUES */
export async function insert(
  cursor: TokenCursor,
  { sql, tokens }: TokenizedStatement,
  gate: GateText,
): Promise<Statement> {
  cursor.takes('insert');
  if (cursor.sees('or')) throw noEnforcedKeys('INSERT OR REPLACE and OR IGNORE', cursor.position);
  if (!cursor.takes('into')) throw cursor.unexpected('INTO');
  const tableAt = cursor.position;
  const table = cursor.takeTableName();
  checkWritable(table, tableAt);
  if (cursor.takes('as')) cursor.takeName('another name for the table');
  const columns = seesColumns(cursor) ? takeColumns(cursor) : undefined;
  const matchAt = cursor.position;
  const isByName = cursor.takes('by', 'name');
  if (isByName && columns !== undefined) {
    const hint = 'leave the list of columns out';
    throw new AppError('sql_error', 'BY NAME takes no list of columns', { hint, position: matchAt });
  }
  if (!isByName) cursor.takes('by', 'position');
  const insertOf = async (text: string, start: number, match: 'position' | 'name' | 'defaults'): Promise<Statement> => {
    const query = await gate(text, (at) => start + at, { takesDefault: true });
    return { kind: 'insert', table, columns, match, query };
  };
  if (columns === undefined && !isByName && cursor.takes('default', 'values')) {
    refuseClauses(tokens);
    if (!cursor.done) throw cursor.unexpected('the end of the statement');
    return await insertOf('VALUES (DEFAULT)', matchAt, 'defaults');
  }
  refuseClauses(tokens);
  if (cursor.done) throw cursor.unexpected('VALUES or a query');
  const start = cursor.position;
  return await insertOf(sql.slice(start), start, isByName ? 'name' : 'position');
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
    if (isWord(token, 'returning')) throw unsupported('RETURNING', 'read the frame afterwards', token.start);
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
