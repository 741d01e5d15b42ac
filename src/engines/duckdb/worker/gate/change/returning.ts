import { sqlName } from '@framehold/columns';
import { mergeActionColumn, type Query, targetSchema } from '../../../../../core/sql/sql.ts';
import { isSameName } from '../../../../../core/text/ascii-lower.ts';
import type { GateText } from '../gate-query.ts';
import { type Clauses, queryClauses } from '../text/clauses.ts';
import { nameOf } from '../text/statement-cursor.ts';
import type { TokenRange } from '../text/token-groups.ts';
import { ComposedText, type Target } from './composed-text.ts';

/** The list behind RETURNING as a query over the rows that a statement changes. */
export async function returningQuery(
  clauses: Clauses,
  range: TokenRange,
  {
    target,
    gate,
    hasAction = false,
  }: { readonly target: Target; readonly gate: GateText; readonly hasAction?: boolean },
): Promise<Query | undefined> {
  if (range.from >= range.to) return undefined;
  const items = { from: range.from + 1, to: range.to };
  clauses.refuse(items, ['distinct', 'all', 'using', 'on', ...queryClauses], 'RETURNING');
  const text = new ComposedText(clauses).ours('SELECT ');
  if (items.from >= items.to) text.value(items, 'columns behind RETURNING');
  const namesAction =
    hasAction &&
    clauses.tokens.slice(items.from, items.to).some((token) => isSameName(nameOf(token) ?? '', mergeActionColumn));
  if (namesAction) addWithAction(text, clauses, items, target);
  else text.callers(items).ours(' FROM ').target(target);
  const query = await text.gated(gate, { isForAll: false, isOfEachRow: 'RETURNING' });
  return namesAction ? { ...query, namesAction } : query;
}

/** With a column more, which `*` does not mean. */
function addWithAction(text: ComposedText, clauses: Clauses, items: TokenRange, { table, alias }: Target): void {
  for (const [index, item] of clauses.items(items).entries()) {
    text.ours(index === 0 ? '' : ', ').callers(item);
    const before = clauses.tokens[item.to - 2];
    const isAll = item.to - item.from === 1 || before?.text === '.';
    if (isAll && clauses.tokens[item.to - 1]?.text === '*') text.ours(` EXCLUDE (${mergeActionColumn})`);
  }
  const action = `REPLACE (CAST(${mergeActionColumn} AS VARCHAR) AS ${mergeActionColumn})`;
  text.ours(` FROM (SELECT * ${action} FROM ${sqlName(targetSchema)}.${sqlName(table.name)}) AS ${sqlName(alias)}`);
}
