import { AppError } from '../../../../../core/app-error.ts';
import type { Statement, UnnamedColumns } from '../../../../../core/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { sqlName } from '../../../protocol/sql-text.ts';
import type { GateText } from '../gate-query.ts';
import { isWord, nameOf, TokenCursor } from '../token-cursor.ts';
import type { Token, TokenizedStatement } from '../tokenizer.ts';
import { Clauses, queryClauses, type TokenRange } from './clauses.ts';
import { ComposedText, targetRowNumber } from './composed-text.ts';
import { returningQuery } from './returning.ts';
import { takeTarget } from './target.ts';
import { type Assignment, assignments } from './update.ts';

/** Names of ours beside those of the caller. */
const branchName = sqlName('framehold branch');
const sourceName = sqlName('framehold source');

interface Branch {
  readonly of: 'matched' | 'target' | 'source';
  readonly condition: TokenRange | undefined;
  readonly action: 'UPDATE' | 'DELETE' | 'INSERT' | 'NOTHING' | 'ERROR';
  readonly set: readonly Assignment[];
  /** Of ERROR. */
  readonly message: TokenRange | undefined;
  /** What says of which columns it is, where that does not name them. */
  readonly unnamed?: UnnamedColumns['places'][number];
  /** Those of INSERT VALUES without names, which are checked here and run when the columns are named. */
  readonly values?: readonly TokenRange[];
}

/**
 * MERGE INTO name [[AS] alias] USING source ON condition | USING (column, …)
 * WHEN [NOT] MATCHED [BY SOURCE | BY TARGET] [AND condition] THEN action … [RETURNING …]
 */
export async function merge(
  cursor: TokenCursor,
  statement: TokenizedStatement,
  gate: GateText,
  withNames?: TokenRange,
): Promise<Statement> {
  cursor.takes('merge');
  if (!cursor.takes('into')) throw cursor.unexpected('INTO');
  const target = takeTarget(cursor, 'using');
  if (!cursor.takes('using')) throw cursor.unexpected('USING');
  const clauses = new Clauses(statement);
  const { end } = clauses;
  const returning = clauses.find({ from: cursor.index, to: end }, 'returning');
  const first = clauses.find({ from: cursor.index, to: returning }, 'when');
  const on = clauses.find({ from: cursor.index, to: first }, 'on', 'using');
  const source = { from: cursor.index, to: on };
  const joined = { from: on + 1, to: first };
  cursor.skipTo(on);
  if (source.from >= source.to || joined.from >= joined.to)
    throw cursor.unexpected('a source, and ON with a condition');
  clauses.refuse(source, ['join', 'natural', ...queryClauses], 'the source of MERGE');
  const branches = takeBranches(statement, clauses, { from: first, to: returning });
  const set = columnsOf(branches);
  const bySource = branches.some(({ of }) => of === 'source');
  const byTarget = branches.some(({ of }) => of === 'target');
  const alias = sqlName(target.alias);

  const text = new ComposedText(statement, withNames).ours(`SELECT * EXCLUDE (${branchName}) FROM (SELECT `);
  text.ours(`${alias}.${targetRowNumber}, CASE`);
  const isTarget = `${alias}.${targetRowNumber} IS NOT NULL`;
  const marker = bySource ? `${sqlName(sourceAlias(statement, source))}.${sourceName}` : '';
  const isSource = bySource ? `${marker} IS NOT NULL` : 'true';
  for (const [index, branch] of branches.entries()) {
    const when = { matched: `${isTarget} AND ${isSource}`, target: `NOT (${isTarget})`, source: `NOT (${isSource})` };
    text.ours(` WHEN ${when[branch.of]}`);
    if (branch.condition !== undefined) text.ours(' AND ').value(branch.condition, 'a condition');
    text.ours(` THEN ${branch.action === 'NOTHING' ? 'NULL' : index}`);
  }
  text.ours(` END AS ${branchName}, CASE ${branchName}`);
  for (const [index, branch] of branches.entries()) {
    if (branch.action === 'NOTHING') continue;
    text.ours(` WHEN ${index} THEN `);
    if (branch.action !== 'ERROR') text.ours(`'${branch.action}'`);
    for (const value of branch.values ?? []) text.ours(' || ').value(value, 'a value');
    if (branch.action !== 'ERROR') continue;
    if (branch.message === undefined) text.ours(`error('a row of MERGE is an error')`);
    else text.ours('error(CAST(').value(branch.message, 'a message').ours(' AS VARCHAR))');
  }
  text.ours(' END');
  addValues(text, branches, set, alias);
  text.ours(' FROM ').target(target);
  text.ours(bySource && byTarget ? ' FULL JOIN ' : bySource ? ' LEFT JOIN ' : byTarget ? ' RIGHT JOIN ' : ' JOIN ');
  if (bySource)
    text
      .ours(`(SELECT *, true AS ${sourceName} FROM `)
      .callers(source)
      .ours(`) AS ${sqlName(sourceAlias(statement, source))}`);
  else text.callers(source);
  if (clauses.isClause(on, 'using')) text.ours(' USING ').callers(joined);
  else text.ours(' ON ').value(joined, 'a condition');
  text.ours(` WHERE ${branchName} IS NOT NULL)`);
  const places = branches.flatMap(({ unnamed }) => unnamed ?? []);
  return {
    kind: 'change',
    verb: 'merge',
    table: target.table,
    set,
    isWhole: true,
    query: await text.gated(gate),
    ...(places.length > 0 && { unnamed: { places, ...(await sourceColumns(statement, source, gate, withNames)) } }),
    returning: await returningQuery(
      statement,
      clauses,
      { from: returning, to: end },
      { target, gate, hasAction: true },
    ),
  };
}

/** A query for the columns of the source. */
async function sourceColumns(
  statement: TokenizedStatement,
  range: TokenRange,
  gate: GateText,
  withNames: TokenRange | undefined,
): Promise<Pick<UnnamedColumns, 'sql' | 'source' | 'sourceName'>> {
  const text = new ComposedText(statement, withNames).ours('SELECT * FROM ').callers(range);
  const source = await text.gated(gate, { hasTarget: false, isForAll: false });
  return { sql: statement.sql, source, sourceName: sourceAlias(statement, range) };
}

function takeBranches(statement: TokenizedStatement, clauses: Clauses, range: TokenRange): readonly Branch[] {
  const { sql, tokens } = statement;
  const branches: Branch[] = [];
  for (let from = range.from; from < range.to; ) {
    const to = clauses.find({ from: from + 1, to: range.to }, 'when');
    const cursor = new TokenCursor(tokens.slice(0, to), tokens[to - 1]?.end ?? sql.length);
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
    branches.push({ of, condition, ...takeAction(statement, clauses, cursor, { of, to }) });
    from = to;
  }
  if (branches.length > 0) return branches;
  throw new AppError('sql_error', 'MERGE has no WHEN', {
    hint: 'write WHEN MATCHED THEN … or WHEN NOT MATCHED THEN …',
    position: tokens.at(-1)?.end ?? 0,
  });
}

function takeAction(
  statement: TokenizedStatement,
  clauses: Clauses,
  cursor: TokenCursor,
  { of, to }: { readonly of: Branch['of']; readonly to: number },
): Pick<Branch, 'action' | 'set' | 'message' | 'unnamed' | 'values'> {
  const none = { set: [], message: undefined };
  const { position } = cursor;
  if (cursor.takes('do', 'nothing')) return ended(cursor, { ...none, action: 'NOTHING' });
  if (cursor.takes('error')) {
    const message = cursor.done ? undefined : { from: cursor.index, to };
    return { ...none, action: 'ERROR', message };
  }
  if (of === 'target') {
    if (!cursor.takes('insert')) throw cursor.unexpected('INSERT, DO NOTHING or ERROR');
    const unnamed = unnamedInsert(statement, clauses, cursor, to);
    if (unnamed !== undefined) return { ...none, action: 'INSERT', ...unnamed };
    return { ...none, action: 'INSERT', set: takeInsert(statement, clauses, cursor, to) };
  }
  if (cursor.takes('delete')) return ended(cursor, { ...none, action: 'DELETE' });
  if (!cursor.takes('update')) throw cursor.unexpected('UPDATE, DELETE, DO NOTHING or ERROR');
  const unnamed = unnamedUpdate(cursor);
  if (unnamed !== undefined) {
    // Its rows have no row of the source.
    if (of === 'source') throw notNamed('UPDATE', 'UPDATE SET column = value, …', position);
    return ended(cursor, { ...none, action: 'UPDATE', unnamed });
  }
  if (!cursor.takes('set')) throw cursor.unexpected('SET, BY NAME or BY POSITION');
  return {
    ...none,
    action: 'UPDATE',
    set: withoutDefaults(assignments(statement, clauses, { from: cursor.index, to })),
  };
}

/** Nothing, SET *, BY NAME or BY POSITION */
function unnamedUpdate(cursor: TokenCursor): UnnamedColumns['places'][number] | undefined {
  const { position: start } = cursor;
  const isAll = cursor.sees('set') && isStar(cursor.peek(1)) && cursor.peek(2) === undefined;
  if (isAll) cursor.skipTo(cursor.index + 2);
  const by = isAll || cursor.done ? 'position' : takesOrder(cursor);
  return by && { verb: 'UPDATE', by, start, end: cursor.behind };
}

/** Nothing or *, behind BY NAME or BY POSITION or alone; VALUES (value, …) */
function unnamedInsert(
  { tokens }: TokenizedStatement,
  clauses: Clauses,
  cursor: TokenCursor,
  to: number,
): Pick<Branch, 'unnamed' | 'values'> | undefined {
  const { position: start } = cursor;
  if (cursor.sees('values')) {
    const given = clauses.insideParentheses({ from: cursor.index + 1, to });
    if (given === undefined) throw notNamed('INSERT', 'INSERT VALUES (value, …)', start);
    const values = clauses.itemsInside(given);
    const isDefault = ({ from, to: behind }: TokenRange): boolean =>
      behind - from === 1 && isWord(tokens[from], 'default');
    const found = values.find(isDefault);
    if (found !== undefined) throw noDefault(tokens[found.from]?.start ?? start);
    return { unnamed: { verb: 'INSERT', by: 'values', count: values.length, start, end: start }, values };
  }
  const order = takesOrder(cursor);
  const isAll = isStar(cursor.peek());
  if (isAll) cursor.take();
  if (order === undefined && !isAll && !cursor.done) return undefined;
  return ended(cursor, { unnamed: { verb: 'INSERT', by: order ?? 'position', start, end: cursor.behind } });
}

function takesOrder(cursor: TokenCursor): 'name' | 'position' | undefined {
  if (cursor.takes('by', 'name')) return 'name';
  return cursor.takes('by', 'position') ? 'position' : undefined;
}

function isStar(token: Token | undefined): boolean {
  return token?.text === '*';
}

/** (column, …) VALUES (value, …) */
function takeInsert(
  { tokens }: TokenizedStatement,
  clauses: Clauses,
  cursor: TokenCursor,
  to: number,
): readonly Assignment[] {
  const { position } = cursor;
  const values = tokens.findIndex((token, index) => index >= cursor.index && index < to && isWord(token, 'values'));
  const names = values < 0 ? undefined : clauses.insideParentheses({ from: cursor.index, to: values });
  const given = values < 0 ? undefined : clauses.insideParentheses({ from: values + 1, to });
  if (names === undefined || given === undefined)
    throw notNamed('INSERT', 'INSERT (column, …) VALUES (value, …)', position);
  const columns = clauses.itemsInside(names);
  const items = clauses.itemsInside(given);
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
    if (seen.has(name.toLowerCase()))
      throw new AppError('sql_error', `column ${sqlName(name)} is there more than once`, { position: token.start });
    seen.add(name.toLowerCase());
    const value = items[index] as TokenRange;
    const isDefault = value.to - value.from === 1 && isWord(tokens[value.from], 'default');
    return { name, position: token.start, value, isDefault };
  });
  return withoutDefaults(all);
}

function withoutDefaults(set: readonly Assignment[]): readonly Assignment[] {
  const found = set.find(({ isDefault }) => isDefault);
  if (found === undefined) return set;
  throw noDefault(found.position);
}

function noDefault(position: number): AppError {
  return new AppError('sql_error', 'DEFAULT is not supported in MERGE', {
    hint: 'write the value itself, or NULL',
    position,
  });
}

function ended<T>(cursor: TokenCursor, action: T): T {
  if (!cursor.done) throw cursor.unexpected('WHEN, RETURNING or the end of the statement');
  return action;
}

function notNamed(what: string, form: string, position: number): AppError {
  return new AppError('sql_error', `${what} of MERGE must name its columns`, { hint: `write ${form}`, position });
}

/** Of all branches, each once. */
function columnsOf(branches: readonly Branch[]): { name: string; position: number; isDefault: false }[] {
  const columns = new Map<string, { name: string; position: number; isDefault: false }>();
  for (const { set } of branches) {
    for (const { name, position } of set) {
      if (!columns.has(name.toLowerCase())) columns.set(name.toLowerCase(), { name, position, isDefault: false });
    }
  }
  return [...columns.values()];
}

/**
 * The values of all columns, by branch. Each is cast to the type of its column at once: between two types DuckDB would choose a
 * third for both, which may not hold what the column holds now.
 */
function addValues(
  text: ComposedText,
  branches: readonly Branch[],
  set: readonly { readonly name: string }[],
  alias: string,
): void {
  text.ours(`, ${alias}.* EXCLUDE (${targetRowNumber})`);
  for (const [at, { name }] of set.entries()) {
    const column = `${alias}.${sqlName(name)}`;
    text.ours(`${at === 0 ? ' REPLACE (' : ', '}CASE ${branchName}`);
    for (const [index, branch] of branches.entries()) {
      const value = branch.set.find((each) => each.name.toLowerCase() === name.toLowerCase())?.value;
      if (value === undefined) continue;
      text.ours(` WHEN ${index} THEN cast_to_type(`).value(value, 'a value').ours(`, ${column})`);
    }
    text.ours(` ELSE ${column} END AS ${sqlName(name)}${at === set.length - 1 ? ')' : ''}`);
  }
}

/** What the source is called: its alias, with the names of columns behind it or not, or its own name. */
function sourceAlias({ tokens }: TokenizedStatement, { from, to }: TokenRange): string {
  let last = to - 1;
  if (tokens[last]?.text === ')' && last > from) {
    let depth = 0;
    let open = last;
    for (; open > from; open--) {
      if (tokens[open]?.text === ')') depth++;
      if (tokens[open]?.text === '(' && --depth === 0) break;
    }
    // (…) alias (column, …), but neither name (…) nor (…) alone.
    last = open - 1;
    const before = tokens[last - 1];
    const isAlias = last > from && before !== undefined && (before.text === ')' || before.kind !== 'mark');
    if (!isAlias) last = -1;
  }
  const token = tokens[last];
  const name = token === undefined ? undefined : nameOf(token);
  if (name !== undefined && asciiLower(name) !== '') return name;
  throw new AppError('sql_error', 'the source of MERGE needs a name', {
    hint: 'write USING (…) AS source ON …',
    position: tokens[from]?.start ?? 0,
  });
}
