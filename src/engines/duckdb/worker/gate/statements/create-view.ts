import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Statement } from '../../../../../core/sql/sql.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import { type GateReferences, queryOf } from '../gate-query.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { placed } from '../tree/placed-references.ts';
import { takeCreatable, takeCreate } from './create-table.ts';

/** CREATE [OR REPLACE] [TEMP] VIEW [IF NOT EXISTS] name [(column, …)] AS query. The saved text is gated again at each read. */
export async function createView(
  cursor: StatementCursor,
  text: TokenizedText,
  gate: GateReferences,
): Promise<Statement> {
  const { head } = takeCreate(cursor, text, 'view');
  const table = takeCreatable(cursor);
  const columns = cursor.seesMark('(') ? cursor.takeNames() : undefined;
  if (!cursor.takes('as')) throw cursor.unexpected('AS and a query');
  if (cursor.done) throw cursor.unexpected('a query');
  const start = cursor.position;
  const written = SourceText.partOf(text, start);
  // The query alone first: it must be a query without the text around it.
  const gated = await gate(written);
  if (gated.isPivoted) {
    throw new AppError('sql_forbidden', 'a PIVOT in a view must list its values', {
      hint: 'write PIVOT … ON column IN (…)',
      position: start,
    });
  }
  const names = columns === undefined ? '' : `(${columns.map(({ name }) => sqlName(name)).join(', ')})`;
  const whole = new SourceText().ours('SELECT * FROM (\n').add(written.segments);
  const { text: read, references } = await gate(whole.ours(`\n) AS ${sqlName(table.name)}${names}`));
  if (gated.parameterCount > 0) {
    throw new AppError('sql_error', 'a view takes no parameters', { hint: 'write the value itself', position: start });
  }
  return {
    kind: 'createView',
    table,
    ...head,
    query: queryOf(gated),
    written: written.sql,
    definition: { sql: read.sql, references: placed(read, references, 'a view') },
  };
}
