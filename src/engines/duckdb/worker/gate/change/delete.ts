import { sqlName } from '@framehold/columns';
import type { Statement } from '../../../../../core/sql/sql.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { checkWritable } from '../rules/table-access.ts';
import { Clauses } from '../text/clauses.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import type { TokenRange } from '../text/token-groups.ts';
import { ComposedText, oneForEachRow, takeTarget, targetRowNumber } from './composed-text.ts';
import { returningQuery } from './returning.ts';
import { addOthers } from './update.ts';

/** DELETE FROM name [[AS] alias] [USING …] [WHERE …] [RETURNING …] */
export async function deleteFrom(
  cursor: StatementCursor,
  statement: TokenizedText,
  gate: GateText,
  withNames?: TokenRange,
): Promise<Statement> {
  cursor.takes('delete');
  if (!cursor.takes('from')) throw cursor.unexpected('FROM');
  const target = takeTarget(cursor, 'using', 'where', 'returning');
  const clauses = new Clauses(statement);
  const { end } = clauses;
  const returning = clauses.find({ from: cursor.index, to: end }, 'returning');
  const where = clauses.find({ from: cursor.index, to: returning }, 'where');
  const hasOthers = cursor.takes('using');
  const others = { from: cursor.index, to: where };
  if (!hasOthers && cursor.index < where) throw cursor.unexpected('USING, WHERE or RETURNING');
  const isWhole = returning < end;
  // Without a look at any row.
  if (cursor.done && withNames === undefined) return { kind: 'truncate', table: target.table };

  const alias = sqlName(target.alias);
  const text = new ComposedText(statement, withNames).ours(`SELECT ${alias}.${targetRowNumber}, 'DELETE'`);
  if (isWhole) text.targetColumns(target.alias, {}, () => {});
  text.ours(' FROM ').target(target);
  if (hasOthers) addOthers(text, clauses, others, 'USING');
  if (where < returning) text.ours(' WHERE ').value({ from: where + 1, to: returning }, 'a condition');
  if (hasOthers) text.ours(oneForEachRow(target.alias));
  return {
    kind: 'change',
    verb: 'delete',
    table: target.table,
    set: [],
    isWhole,
    query: await text.gated(gate),
    returning: await returningQuery(clauses, { from: returning, to: end }, { target, gate }),
  };
}

/** TRUNCATE [TABLE] name */
export function truncate(cursor: StatementCursor): Statement {
  cursor.takes('truncate');
  cursor.takes('table');
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkWritable(table, position);
  if (!cursor.done) throw cursor.unexpected('the end of the statement');
  return { kind: 'truncate', table };
}
