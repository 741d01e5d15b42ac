import type { Connection } from '@framehold/duckdb';
import type { Definition } from '../../../../core/sql/definition.ts';
import type { Statement } from '../../../../core/sql/sql.ts';
import { oneStatement } from '../../../../core/text/one-statement.ts';
import { SourceText } from '../../../../core/text/source-text.ts';
import { deleteFrom, truncate } from './change/delete.ts';
import { merge } from './change/merge.ts';
import { update } from './change/update.ts';
import { namesBeforeChange } from './change/with-before.ts';
import { createDefinition, seesDefinition } from './definitions/create-definition.ts';
import { dropDefinition, seesDropOfDefinition } from './definitions/drop-definition.ts';
import { type GateReferences, type GateText, gateQuery } from './gate-query.ts';
import { refuseStatement } from './rules/refused-statements.ts';
import { alterTable } from './statements/alter-table.ts';
import { createTable } from './statements/create-table.ts';
import { createView } from './statements/create-view.ts';
import { drop } from './statements/drop-table.ts';
import { explained } from './statements/explain.ts';
import { insert } from './statements/insert.ts';
import { pragma } from './statements/pragma.ts';
import { shownSetting } from './statements/show-setting.ts';
import { checkText, checkTokens } from './text/text-limits.ts';
import { TokenCursor } from './text/token-cursor.ts';
import { type Token, type TokenizedStatement, tokenize, withPlainSpaces } from './text/tokenizer.ts';

/** Reads a caller's SQL and checks it against the rights of callers. Rejects with `sql_error` or `sql_forbidden`. */
export async function analyzeSql(
  connection: Connection,
  sql: string,
  definitions: readonly Definition[] = [],
): Promise<Statement> {
  checkText(sql);
  const all = tokenize(sql);
  checkTokens(all);
  const tokens = oneStatement(all, isEnd);
  const text: TokenizedStatement = { sql: withPlainSpaces(sql, tokens), tokens };
  const cursor = new TokenCursor(tokens, sql.length);
  const gateReferences: GateReferences = (query, rules) => gateQuery(connection, query, { ...rules, definitions });
  const gate: GateText = async (...part) => {
    const { references: _, isPivoted: __, ...query } = await gateReferences(...part);
    return query;
  };

  const change = await changeOf(cursor, text, gate);
  if (change !== undefined) return change;
  if (seesDefinition(cursor))
    return await createDefinition(cursor, text, { connection, definitions, gate: gateReferences });
  if (isView(cursor)) return await createView(cursor, text, gateReferences);
  if (cursor.sees('create')) return await createTable(cursor, text, gate);
  if (cursor.sees('alter')) return await alterTable(cursor, gate);
  if (seesDropOfDefinition(cursor)) return dropDefinition(cursor);
  if (cursor.sees('drop', 'table') || cursor.sees('drop', 'view')) return drop(cursor);
  if (cursor.sees('show', 'tables') && tokens.length === 2) return { kind: 'showTables' };
  const setting = await shownSetting(tokens, gate);
  if (setting !== undefined) return { kind: 'query', query: setting };
  if (cursor.sees('explain')) return { kind: 'query', query: await explained(cursor, text, gate) };
  if (cursor.sees('pragma')) return await pragma(cursor, tokens, gate);
  refuseStatement(tokens);
  const query = await gate(new SourceText().callers(text.sql, tokens[0]?.start), { mayReadCatalogs: true });
  return { kind: 'query', query };
}

/** [WITH …] INSERT, UPDATE, DELETE or MERGE; TRUNCATE. */
async function changeOf(cursor: TokenCursor, text: TokenizedStatement, gate: GateText): Promise<Statement | undefined> {
  if (cursor.sees('truncate')) return truncate(cursor);
  const names = namesBeforeChange(text);
  if (names !== undefined) cursor.skipTo(names.to);
  if (cursor.sees('insert')) return await insert(cursor, text, gate, names);
  if (cursor.sees('update')) return await update(cursor, text, gate, names);
  if (cursor.sees('merge')) return await merge(cursor, text, gate, names);
  if (cursor.sees('delete')) return await deleteFrom(cursor, text, gate, names);
  return undefined;
}

function isView(cursor: TokenCursor): boolean {
  const head = cursor.sees('create', 'or', 'replace') ? ['create', 'or', 'replace'] : ['create'];
  return [[], ['temp'], ['temporary']].some((words) => cursor.sees(...head, ...words, 'view'));
}

function isEnd({ kind, text }: Token): boolean {
  return kind === 'mark' && text === ';';
}
