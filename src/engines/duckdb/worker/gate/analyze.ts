import type { Connection } from '@framehold/duckdb';
import type { Definition } from '../../../../core/sql/definition.ts';
import type { Statement } from '../../../../core/sql/sql.ts';
import { SourceText } from '../../../../core/text/source-text.ts';
import {
  checkText,
  oneStatement,
  type TokenizedText,
  tokenize,
  withPlainSpaces,
} from '../../../../core/text/tokens.ts';
import { deleteFrom, truncate } from './change/delete.ts';
import { merge } from './change/merge.ts';
import { update } from './change/update.ts';
import { createDefinition, definitionKinds } from './definitions/create-definition.ts';
import { type GateReferences, type GateText, gateQuery, queryOf } from './gate-query.ts';
import { refuseStatement } from './rules/refused-statements.ts';
import { alterTable } from './statements/alter-table.ts';
import { createTable, seesCreate } from './statements/create-table.ts';
import { createView } from './statements/create-view.ts';
import { drop, dropDefinition, seesDropOfDefinition } from './statements/drop.ts';
import { explained } from './statements/explain.ts';
import { insert } from './statements/insert.ts';
import { pragma, shownSetting } from './statements/pragma.ts';
import { namesBeforeChange } from './text/clauses.ts';
import { StatementCursor } from './text/statement-cursor.ts';
import { checkTokens } from './text/text-limits.ts';

/** Reads a caller's SQL and checks it against the rights of callers. Rejects with `sql_error` or `sql_forbidden`. */
export async function analyzeSql(
  connection: Connection,
  sql: string,
  definitions: readonly Definition[] = [],
): Promise<Statement> {
  checkText(sql);
  const all = tokenize(sql);
  checkTokens(all);
  const tokens = oneStatement(all);
  const text: TokenizedText = { sql: withPlainSpaces(sql, tokens), tokens };
  const cursor = new StatementCursor(tokens, sql.length);
  const gateReferences: GateReferences = (query, rules) => gateQuery(connection, query, { ...rules, definitions });
  const gate: GateText = async (...part) => {
    return queryOf(await gateReferences(...part));
  };

  const change = await changeOf(cursor, text, gate);
  if (change !== undefined) return change;
  if (seesCreate(cursor, ...definitionKinds))
    return await createDefinition(cursor, text, { connection, definitions, gate: gateReferences });
  if (seesCreate(cursor, 'view')) return await createView(cursor, text, gateReferences);
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
  const query = await gate(SourceText.partOf(text, tokens[0]?.start ?? 0), { mayReadCatalogs: true });
  return { kind: 'query', query };
}

/** [WITH …] INSERT, UPDATE, DELETE or MERGE; TRUNCATE. */
async function changeOf(cursor: StatementCursor, text: TokenizedText, gate: GateText): Promise<Statement | undefined> {
  if (cursor.sees('truncate')) return truncate(cursor);
  const names = namesBeforeChange(text);
  if (names !== undefined) cursor.skipTo(names.to);
  if (cursor.sees('insert')) return await insert(cursor, text, gate, names);
  if (cursor.sees('update')) return await update(cursor, text, gate, names);
  if (cursor.sees('merge')) return await merge(cursor, text, gate, names);
  if (cursor.sees('delete')) return await deleteFrom(cursor, text, gate, names);
  return undefined;
}
