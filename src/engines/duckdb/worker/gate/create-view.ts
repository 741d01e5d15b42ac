import { AppError } from '../../../../core/app-error.ts';
import type { Statement } from '../../../../core/sql.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import type { GateReferences } from './gate-query.ts';
import { placed } from './placed-references.ts';
import { refuseStatement } from './refused-statements.ts';
import { checkCreatable } from './table-access.ts';
import type { TokenCursor } from './token-cursor.ts';
import type { TokenizedStatement } from './tokenizer.ts';

/** CREATE [OR REPLACE] [TEMP] VIEW [IF NOT EXISTS] name [(column, …)] AS query. What is saved is gated again each time it is read. */
export async function createView(
  cursor: TokenCursor,
  text: TokenizedStatement,
  gate: GateReferences,
): Promise<Statement> {
  const { position } = cursor;
  cursor.takes('create');
  const replace = cursor.takes('or', 'replace');
  const isTemporary = cursor.takes('temp') || cursor.takes('temporary');
  if (!cursor.takes('view')) refuseStatement(text.tokens);
  const keep = cursor.takes('if', 'not', 'exists');
  if (replace && keep) throw new AppError('sql_error', 'OR REPLACE and IF NOT EXISTS exclude each other', { position });
  const tableAt = cursor.position;
  const table = cursor.takeTableName();
  checkCreatable(table, tableAt);
  const columns = cursor.seesMark('(') ? takeColumns(cursor) : undefined;
  if (!cursor.takes('as')) throw cursor.unexpected('AS and a query');
  if (cursor.done) throw cursor.unexpected('a query');
  const start = cursor.position;
  const sql = text.sql.slice(start, text.tokens.at(-1)?.end);
  const ifTaken = replace ? 'replace' : keep ? 'keep' : 'fail';
  // By itself first: it is a query, whatever is put around it.
  const { references: _, isPivoted, ...query } = await gate(sql, (at) => start + at);
  if (isPivoted) {
    throw new AppError('sql_forbidden', 'a PIVOT in a view must list its values', {
      hint: 'write PIVOT … ON column IN (…)',
      position: start,
    });
  }
  const head = 'SELECT * FROM (\n';
  const names = columns === undefined ? '' : `(${columns.map(sqlName).join(', ')})`;
  const whole = `${head}${sql}\n) AS ${sqlName(table.name)}${names}`;
  const { sql: definition, references } = await gate(whole, (at) => start + at - head.length);
  if (query.parameterCount > 0) {
    throw new AppError('sql_error', 'a view takes no parameters', { hint: 'write the value itself', position: start });
  }
  return {
    kind: 'createView',
    table,
    ifTaken,
    ...(isTemporary && { isTemporary }),
    query,
    written: sql,
    definition: { sql: definition, references: placed(definition, references, 'a view') },
  };
}

function takeColumns(cursor: TokenCursor): string[] {
  const columns: string[] = [];
  cursor.takesMark('(');
  do columns.push(cursor.takeName('the name of a column'));
  while (cursor.takesMark(','));
  if (!cursor.takesMark(')')) throw cursor.unexpected('a closing parenthesis');
  return columns;
}
