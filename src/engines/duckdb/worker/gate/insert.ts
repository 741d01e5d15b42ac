import { AppError } from '../../../../core/app-error.ts';
import type { Statement } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import type { GateText } from './gate-query.ts';
import { reservedWords } from './reserved-names.ts';
import { checkWritable } from './table-access.ts';
import { isWord, type TokenCursor } from './token-cursor.ts';
import type { Token, TokenizedStatement } from './tokenizer.ts';

/** INSERT INTO name [(column, …)] query */
export async function insert(
  cursor: TokenCursor,
  { sql, tokens }: TokenizedStatement,
  gate: GateText,
): Promise<Statement> {
  cursor.takes('insert');
  if (cursor.sees('or')) throw unsupported('INSERT OR REPLACE and OR IGNORE', 'frames have no keys', cursor.position);
  if (!cursor.takes('into')) throw cursor.unexpected('INTO');
  const tableAt = cursor.position;
  const table = cursor.takeTableName();
  checkWritable(table, tableAt);
  const columns = seesColumns(cursor) ? takeColumns(cursor) : undefined;
  if (cursor.sees('by')) {
    throw unsupported('INSERT … BY NAME', 'list the columns behind the name of the table', cursor.position);
  }
  if (cursor.sees('default', 'values'))
    throw unsupported('DEFAULT VALUES', 'columns of frames have no defaults', cursor.position);
  refuseClauses(tokens);
  if (cursor.done) throw cursor.unexpected('VALUES or a query');
  const start = cursor.position;
  return { kind: 'insert', table, columns, query: await gate(sql.slice(start), (at) => start + at) };
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
  while (cursor.takesMark(','));
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
      throw unsupported('ON CONFLICT', 'frames have no keys', token.start);
    }
  }
}

function unsupported(what: string, hint: string, position: number): AppError {
  return new AppError('sql_forbidden', `${what} is not supported`, { hint, position });
}
