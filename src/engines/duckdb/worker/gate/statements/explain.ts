import { AppError } from '../../../../../core/errors/app-error.ts';
import { type ExplainFormat, explainFormats, type Query, type TableName } from '../../../../../core/sql/sql.ts';
import { SourceText, type TextEdit } from '../../../../../core/text/source-text.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { checkReadable } from '../rules/table-access.ts';
import { namesBeforeChange } from '../text/clauses.ts';
import { StatementCursor } from '../text/statement-cursor.ts';
import { createTable } from './create-table.ts';
import { insert } from './insert.ts';

interface Options {
  readonly isAnalyzed: boolean;
  readonly format: ExplainFormat;
}

/**
 * EXPLAIN [ANALYZE] [(option, …)] statement. The inner statement has been gated on its own; of a statement that writes a
 * frame, the query is explained.
 */
export async function explained(cursor: StatementCursor, text: TokenizedText, gate: GateText): Promise<Query> {
  cursor.takes('explain');
  const explain = takesAnalyze(cursor) ? { isAnalyzed: true, format: 'text' as const } : takeOptions(cursor);
  if (cursor.done) throw cursor.unexpected('a query');
  const query = await explainedQuery(cursor, text, gate, explain);
  // DuckDB's profile holds paths of files: only in JSON can they be found.
  const format = explain.isAnalyzed ? 'json' : explain.format;
  const analyze = explain.isAnalyzed ? 'ANALYZE, ' : '';
  // DuckDB's parser knows no word for its default.
  const head = format === 'default' ? 'EXPLAIN ' : `EXPLAIN (${analyze}FORMAT ${format}) `;
  const behindHead = (edit: TextEdit): TextEdit => ({ ...edit, at: edit.at + head.length });
  const { rowIds, live, viewTextEdits } = query;
  const pieces = query.pieces?.map((piece) => ({ ...piece, built: piece.built + head.length }));
  return {
    ...query,
    sql: head + query.sql,
    pieces,
    explain,
    ...(rowIds !== undefined && { rowIds: { edits: rowIds.edits?.map(behindHead) } }),
    ...(live !== undefined && { live: { ...live, edits: live.edits.map(behindHead) } }),
    ...(viewTextEdits !== undefined && { viewTextEdits: viewTextEdits.map(behindHead) }),
  };
}

async function explainedQuery(
  cursor: StatementCursor,
  { sql, tokens }: TokenizedText,
  gate: GateText,
  { isAnalyzed }: Options,
): Promise<Query> {
  const start = cursor.position;
  if (unexplained.some((word) => cursor.sees(word)) || hasChangeBehindWith({ sql, tokens: cursor.rest }))
    throw new AppError('sql_forbidden', 'EXPLAIN takes queries, CREATE TABLE … AS and INSERT', {
      hint: 'explain a SELECT with the same FROM and WHERE',
      position: start,
    });
  const isCreate = cursor.sees('create');
  if (!isCreate && !cursor.sees('insert')) {
    return await gate(SourceText.partOf({ sql, tokens }, start), { mayReadCatalogs: true });
  }
  if (isAnalyzed) {
    throw new AppError('sql_forbidden', 'EXPLAIN ANALYZE is only for queries: it runs what it explains', {
      hint: 'explain the query that the statement takes its rows from',
      position: start,
    });
  }
  const { rest } = cursor;
  const inner = new StatementCursor(rest, sql.length);
  const read = isCreate ? createTable : insert;
  const statement = await read(inner, { sql, tokens: rest }, gate);
  if (!('query' in statement) || 'constraints' in statement) {
    throw new AppError('sql_forbidden', 'only a statement with a query can be explained', { position: start });
  }
  return statement.kind === 'insert' ? reading(statement.query, statement.table) : statement.query;
}

const unexplained = ['update', 'delete', 'merge', 'truncate', 'drop', 'alter'];

/** WITH … UPDATE, DELETE or MERGE. */
function hasChangeBehindWith(text: TokenizedText): boolean {
  const names = namesBeforeChange(text);
  return names !== undefined && unexplained.includes(text.tokens[names.to]?.word ?? '');
}

/** As a query that also reads the table, which must be there. */
function reading(query: Query, table: TableName): Query {
  checkReadable(table, undefined);
  return { ...query, tables: [...query.tables, table] };
}

function takesAnalyze(cursor: StatementCursor): boolean {
  return cursor.takes('analyze') || cursor.takes('analyse');
}

function takeOptions(cursor: StatementCursor): Options {
  let options: Options = { isAnalyzed: false, format: 'default' };
  const first = cursor.peek(1);
  const isList = ['format', 'analyze', 'analyse'].includes(first?.word ?? '');
  if (!isList || !cursor.takesMark('(')) return options;
  do options = takesAnalyze(cursor) ? { ...options, isAnalyzed: true } : { ...options, format: takeFormat(cursor) };
  while (cursor.takesMark(','));
  if (!cursor.takesMark(')')) throw cursor.unexpected('a closing parenthesis');
  return options;
}

function takeFormat(cursor: StatementCursor): ExplainFormat {
  if (!cursor.takes('format')) throw cursor.unexpected('FORMAT or ANALYZE');
  const token = cursor.take();
  const format = explainFormats.find((known) => known === token?.word);
  if (format !== undefined) return format;
  throw new AppError('sql_error', 'EXPLAIN has no such format', {
    position: token?.start ?? cursor.position,
    hint: `use one of ${explainFormats.join(', ')}`,
  });
}
