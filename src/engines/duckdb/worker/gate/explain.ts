import { AppError } from '../../../../core/app-error.ts';
import type { Query } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import type { GateText } from './gate-query.ts';
import { isWord, type TokenCursor } from './token-cursor.ts';
import type { TokenizedStatement } from './tokenizer.ts';

const formats = new Set(['default', 'text', 'json', 'html', 'graphviz', 'yaml', 'mermaid']);

/** EXPLAIN [(FORMAT f)] query. What runs is the whole text; what is explained has been gated as a query. */
export async function explained(cursor: TokenCursor, { sql }: TokenizedStatement, gate: GateText): Promise<Query> {
  const { position } = cursor;
  cursor.takes('explain');
  refuseAnalyze(cursor);
  const option = cursor.peek(1);
  if (cursor.seesMark('(') && (isWord(option, 'format') || isWord(option, 'analyze'))) takeOptions(cursor);
  if (cursor.done) throw cursor.unexpected('a query');
  const start = cursor.position;
  const query = await gate(sql.slice(start), (at) => start + at, 'refused');
  return { ...query, sql: sql.slice(position), start: position };
}

/** Its answer shows the paths of the files that were read. */
function refuseAnalyze(cursor: TokenCursor): void {
  if (!cursor.sees('analyze') && !cursor.sees('analyse')) return;
  throw new AppError('sql_forbidden', 'EXPLAIN ANALYZE is not allowed', {
    hint: 'EXPLAIN shows the plan',
    position: cursor.position,
  });
}

function takeOptions(cursor: TokenCursor): void {
  cursor.takesMark('(');
  do {
    refuseAnalyze(cursor);
    if (!cursor.takes('format')) throw cursor.unexpected('FORMAT');
    const format = cursor.take();
    if (format?.kind !== 'word' || !formats.has(asciiLower(format.text))) {
      throw new AppError('sql_error', 'EXPLAIN has no such format', {
        position: format?.start ?? cursor.position,
        hint: `use one of ${[...formats].join(', ')}`,
      });
    }
  } while (cursor.takesMark(','));
  if (!cursor.takesMark(')')) throw cursor.unexpected('a closing parenthesis');
}
