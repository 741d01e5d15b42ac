import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { UnnamedPlace } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import type { Clauses } from '../text/clauses.ts';
import { nameOf, StatementCursor } from '../text/statement-cursor.ts';
import type { TokenRange } from '../text/token-groups.ts';
import { type Assignment, assignments } from './update.ts';

/** The action of a MERGE on rows that meet a condition. */
export interface Branch {
  readonly of: 'matched' | 'target' | 'source';
  readonly condition: TokenRange | undefined;
  readonly action: 'UPDATE' | 'DELETE' | 'INSERT' | 'NOTHING' | 'ERROR';
  readonly set: readonly Assignment[];
  /** The message of ERROR. */
  readonly message: TokenRange | undefined;
  /** Places for the frame's columns, and their defaults. */
  readonly places?: readonly UnnamedPlace[];
  /** Those of INSERT VALUES without names, which are checked here and run when the columns are named. */
  readonly values?: readonly TokenRange[];
}

const matchWords: Readonly<Record<Branch['of'], string>> = {
  matched: 'MATCHED',
  target: 'NOT MATCHED',
  source: 'NOT MATCHED BY SOURCE',
};

/** WHEN [NOT] MATCHED … THEN …, and so on to the end of the range */
export function takeBranches(clauses: Clauses, range: TokenRange): readonly Branch[] {
  const { sql, tokens } = clauses;
  const branches: Branch[] = [];
  for (let from = range.from; from < range.to; ) {
    const to = clauses.find({ from: from + 1, to: range.to }, 'when');
    const cursor = new StatementCursor(tokens.slice(0, to), tokens[to - 1]?.end ?? sql.length);
    cursor.skipTo(from + 1);
    const isNot = cursor.takes('not');
    if (!cursor.takes('matched')) throw cursor.unexpected('MATCHED');
    const of = !isNot ? 'matched' : cursor.takes('by', 'source') ? 'source' : 'target';
    if (of === 'target') cursor.takes('by', 'target');
    const then = clauses.find({ from: cursor.index, to }, 'then');
    const hasCondition = cursor.takes('and');
    const condition = hasCondition ? { from: cursor.index, to: then } : undefined;
    if (hasCondition) cursor.skipTo(then);
    if (!cursor.takes('then')) throw cursor.unexpected('THEN');
    if (!hasCondition && branches.some((other) => other.of === of && other.condition === undefined)) {
      throw new AppError('sql_error', `MERGE has two WHEN ${matchWords[of]} without a condition`, {
        hint: 'write AND and a condition behind one of them',
        position: tokens[from]?.start,
      });
    }
    branches.push({ of, condition, ...takeAction(clauses, cursor, { of, to }) });
    from = to;
  }
  if (branches.length > 0) return branches;
  throw new AppError('sql_error', 'MERGE has no WHEN', {
    hint: 'write WHEN MATCHED THEN … or WHEN NOT MATCHED THEN …',
    position: tokens.at(-1)?.end ?? 0,
  });
}

function takeAction(
  clauses: Clauses,
  cursor: StatementCursor,
  { of, to }: { readonly of: Branch['of']; readonly to: number },
): Pick<Branch, 'action' | 'set' | 'message' | 'places' | 'values'> {
  const none = { set: [], message: undefined };
  const { position } = cursor;
  if (cursor.takes('do', 'nothing')) return ended(cursor, { ...none, action: 'NOTHING' });
  if (cursor.takes('error')) {
    const message = cursor.done ? undefined : { from: cursor.index, to };
    return { ...none, action: 'ERROR', message };
  }
  if (of === 'target') {
    if (!cursor.takes('insert')) throw cursor.unexpected('INSERT, DO NOTHING or ERROR');
    const unnamed = unnamedInsert(clauses, cursor, to);
    if (unnamed !== undefined) return { ...none, action: 'INSERT', ...unnamed };
    return { ...none, action: 'INSERT', ...takeInsert(clauses, cursor, to) };
  }
  if (cursor.takes('delete')) return ended(cursor, { ...none, action: 'DELETE' });
  if (!cursor.takes('update')) throw cursor.unexpected('UPDATE, DELETE, DO NOTHING or ERROR');
  const unnamed = unnamedUpdate(cursor);
  if (unnamed !== undefined) {
    // Its rows have no row of the source.
    if (of === 'source') throw notNamed('UPDATE', 'UPDATE SET column = value, …', position);
    return ended(cursor, { ...none, action: 'UPDATE', places: [unnamed] });
  }
  if (!cursor.takes('set')) throw cursor.unexpected('SET, BY NAME or BY POSITION');
  const set = assignments(clauses, { from: cursor.index, to });
  return { ...none, action: 'UPDATE', set, places: defaultPlaces(clauses, set) };
}

/** Nothing, SET *, BY NAME or BY POSITION */
function unnamedUpdate(cursor: StatementCursor): UnnamedPlace | undefined {
  const { position: start } = cursor;
  const isAll = cursor.sees('set') && isStar(cursor.peek(1)) && cursor.peek(2) === undefined;
  if (isAll) cursor.skipTo(cursor.index + 2);
  const by = isAll || cursor.done ? 'position' : takesOrder(cursor);
  return by && { kind: 'columns', verb: 'UPDATE', by, start, end: cursor.behind };
}

/** Nothing or *, behind BY NAME or BY POSITION or alone; VALUES (value, …); DEFAULT VALUES */
function unnamedInsert(
  clauses: Clauses,
  cursor: StatementCursor,
  to: number,
): Pick<Branch, 'places' | 'values'> | undefined {
  const { position: start } = cursor;
  const { tokens } = clauses;
  if (cursor.takes('default', 'values'))
    return ended(cursor, { places: [{ kind: 'defaults', start, end: cursor.behind }] });
  if (cursor.sees('values')) {
    const given = clauses.insideParentheses({ from: cursor.index + 1, to });
    if (given === undefined) throw notNamed('INSERT', 'INSERT VALUES (value, …)', start);
    const items = clauses.items(given).map((value, column) => ({ value, column, isDefault: isDefault(tokens, value) }));
    const columns = { kind: 'columns', verb: 'INSERT', by: 'values', count: items.length, start, end: start } as const;
    const values = items.filter((item) => !item.isDefault).map(({ value }) => value);
    return { places: [columns, ...defaultPlaces(clauses, items)], values };
  }
  const order = takesOrder(cursor);
  const isAll = isStar(cursor.peek());
  if (isAll) cursor.take();
  if (order === undefined && !isAll && !cursor.done) return undefined;
  const place = { kind: 'columns', verb: 'INSERT', by: order ?? 'position', start, end: cursor.behind } as const;
  return ended(cursor, { places: [place] });
}

function takesOrder(cursor: StatementCursor): 'name' | 'position' | undefined {
  if (cursor.takes('by', 'name')) return 'name';
  return cursor.takes('by', 'position') ? 'position' : undefined;
}

function isStar(token: Token | undefined): boolean {
  return token?.text === '*';
}

/** (column, …) VALUES (value, …) */
function takeInsert(clauses: Clauses, cursor: StatementCursor, to: number): Pick<Branch, 'set' | 'places'> {
  const { position } = cursor;
  const { tokens } = clauses;
  const values = tokens.findIndex((token, index) => index >= cursor.index && index < to && token.word === 'values');
  const names = values < 0 ? undefined : clauses.insideParentheses({ from: cursor.index, to: values });
  const given = values < 0 ? undefined : clauses.insideParentheses({ from: values + 1, to });
  if (names === undefined || given === undefined)
    throw notNamed('INSERT', 'INSERT (column, …) VALUES (value, …)', position);
  const columns = clauses.items(names);
  const items = clauses.items(given);
  if (columns.length !== items.length) {
    throw new AppError('sql_error', `${columns.length} columns are inserted, from ${items.length} values`, {
      position,
    });
  }
  const seen = new Set<string>();
  const all = columns.map(({ from, to: behind }, index): Assignment => {
    const token = tokens[from];
    const name = token === undefined || behind - from !== 1 ? undefined : nameOf(token);
    if (token === undefined || name === undefined)
      throw new AppError('sql_error', 'expected the name of a column', { position: token?.start ?? position });
    if (seen.has(asciiLower(name)))
      throw new AppError('sql_error', `column ${sqlName(name)} is there more than once`, { position: token.start });
    seen.add(asciiLower(name));
    const value = items[index] as TokenRange;
    return { name, position: token.start, value, isDefault: isDefault(tokens, value) };
  });
  const named = all.map(({ name }) => name);
  const behind = (range: TokenRange): { readonly start: number; readonly end: number } => {
    const at = tokens[range.to]?.start ?? position;
    return { start: at, end: at };
  };
  const places: readonly UnnamedPlace[] = [
    { kind: 'others', part: 'names', named, ...behind(names) },
    ...defaultPlaces(clauses, all),
    { kind: 'others', part: 'values', named, ...behind(given) },
  ];
  return { set: all, places };
}

function isDefault(tokens: readonly Token[], { from, to }: TokenRange): boolean {
  return to - from === 1 && tokens[from]?.word === 'default';
}

/** Places of DEFAULT as a value: of a column with a name, or by position. */
function defaultPlaces(
  { tokens }: Clauses,
  items: readonly {
    readonly value: TokenRange;
    readonly isDefault: boolean;
    readonly name?: string;
    readonly column?: number;
  }[],
): readonly UnnamedPlace[] {
  return items.flatMap(({ value, isDefault: isOne, name, column = 0 }) => {
    const token = tokens[value.from];
    return isOne && token ? { kind: 'default', column: name ?? column, start: token.start, end: token.end } : [];
  });
}

function ended<T>(cursor: StatementCursor, action: T): T {
  if (!cursor.done) throw cursor.unexpected('WHEN, RETURNING or the end of the statement');
  return action;
}

function notNamed(what: string, form: string, position: number): AppError {
  return new AppError('sql_error', `${what} of MERGE must name its columns`, { hint: `write ${form}`, position });
}
