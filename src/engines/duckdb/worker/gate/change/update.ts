import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { SetColumn, Statement } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { notExpected } from '../../../../../core/text/token-cursor.ts';
import type { Token, TokenizedText } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { Clauses, queryClauses } from '../text/clauses.ts';
import { nameOf, type StatementCursor } from '../text/statement-cursor.ts';
import type { TokenRange } from '../text/token-groups.ts';
import { ComposedText, oneForEachRow, takeTarget, targetRowNumber } from './composed-text.ts';
import { returningQuery } from './returning.ts';

/** A column with its new value. */
export interface Assignment extends SetColumn {
  readonly value: TokenRange;
}

/** UPDATE name [[AS] alias] SET column = value, … [FROM …] [WHERE …] [RETURNING …] */
export async function update(
  cursor: StatementCursor,
  statement: TokenizedText,
  gate: GateText,
  withNames?: TokenRange,
): Promise<Statement> {
  cursor.takes('update');
  const target = takeTarget(cursor, 'set');
  if (!cursor.takes('set')) throw cursor.unexpected('SET');
  const clauses = new Clauses(statement);
  const { end } = clauses;
  const returning = clauses.find({ from: cursor.index, to: end }, 'returning');
  const where = clauses.find({ from: cursor.index, to: returning }, 'where');
  const from = clauses.find({ from: cursor.index, to: where }, 'from');
  const set = assignments(clauses, { from: cursor.index, to: from });
  const others = { from: from + 1, to: where };

  const { alias } = target;
  const text = new ComposedText(statement, withNames).ours(`SELECT ${sqlName(alias)}.${targetRowNumber}, 'UPDATE'`);
  // Unchanged values are checked against CHECK constraints, too.
  const hidden = set.filter(({ isDefault }) => isDefault).map(({ name }) => name);
  const given = set.filter(({ isDefault }) => !isDefault);
  text.targetColumns(alias, { hidden, set: given }, ({ value }) => text.value(value, 'a value'));
  text.ours(' FROM ').target(target);
  if (from < where) addOthers(text, clauses, others, 'FROM');
  if (where < returning) text.ours(' WHERE ').value({ from: where + 1, to: returning }, 'a condition');
  if (from < where) text.ours(oneForEachRow(alias));
  return {
    kind: 'change',
    verb: 'update',
    table: target.table,
    set: set.map(({ value: _, ...column }) => column),
    isWhole: true,
    query: await text.gated(gate),
    returning: await returningQuery(clauses, { from: returning, to: end }, { target, gate }),
  };
}

/** Other tables beside the target. */
export function addOthers(text: ComposedText, clauses: Clauses, range: TokenRange, clause: string): void {
  const words = ['set', 'returning', ...queryClauses];
  clauses.refuse(range, words, `the tables of ${clause}`);
  if (range.from >= range.to) text.value(range, 'a table');
  text.ours(', ').callers(range);
}

/** column = value, (column, …) = (value, …), (column, …) = value */
export function assignments(clauses: Clauses, range: TokenRange): readonly Assignment[] {
  const { tokens } = clauses;
  const seen = new Set<string>();
  const all: Assignment[] = [];
  const expected = (what: string, token: Token | undefined): AppError =>
    notExpected(what, token, tokens.at(-1)?.end ?? 0);
  const add = (name: Token | undefined, value: TokenRange): void => {
    const column = nameOf(name);
    if (name === undefined || column === undefined) throw expected('the name of a column', name);
    if (seen.has(asciiLower(column))) {
      throw new AppError('sql_error', `column ${sqlName(column)} is set more than once`, { position: name.start });
    }
    seen.add(asciiLower(column));
    const isDefault = value.to - value.from === 1 && tokens[value.from]?.word === 'default';
    all.push({ name: column, position: name.start, isDefault, value });
  };
  const items = [...clauses.items(range)];
  // DuckDB takes a comma behind the last one, too.
  const last = items.at(-1);
  if (items.length > 1 && last !== undefined && last.from >= last.to) items.pop();
  for (const { from, to } of items) {
    const equals = tokens.findIndex((token, index) => index >= from && index < to && token.kind === 'operator');
    if (from >= to || equals < 0 || tokens[equals]?.text !== '=') {
      throw expected('column = value', tokens[equals < 0 ? Math.min(from + 1, to - 1) : equals]);
    }
    const names = clauses.insideParentheses({ from, to: equals });
    const value = { from: equals + 1, to };
    if (names === undefined) {
      if (equals !== from + 1) throw expected('=', tokens[from + 1]);
      add(tokens[from], value);
      continue;
    }
    const columns = clauses.items(names);
    const row = tokens[value.from]?.word === 'row' ? { ...value, from: value.from + 1 } : value;
    const values = clauses.insideParentheses(row);
    // One value is for each column.
    const isOne = values === undefined && row === value && value.from < value.to;
    const isList = values !== undefined && !['select', 'from', 'with'].includes(tokens[values.from]?.word ?? '');
    const listed = isList ? clauses.items(values) : isOne ? columns.map(() => value) : [];
    if (listed.length !== columns.length) {
      throw new AppError('sql_error', `${columns.length} columns are set, to ${listed.length} values`, {
        hint: 'write (a, b) = (1, 2); a query cannot give several columns their values',
        position: tokens[value.from]?.start ?? tokens[equals]?.end,
      });
    }
    for (const [index, item] of columns.entries()) {
      if (item.to - item.from !== 1) throw expected('the name of a column', tokens[item.from]);
      add(tokens[item.from], listed[index] ?? value);
    }
  }
  return all;
}
