import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Statement, UnnamedColumns, UnnamedPlace } from '../../../../../core/sql/sql.ts';
import { asciiLower, isSameName } from '../../../../../core/text/ascii-lower.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { Clauses, queryClauses } from '../text/clauses.ts';
import { nameOf, type StatementCursor } from '../text/statement-cursor.ts';
import { isMark, openingIndex, type TokenRange } from '../text/token-groups.ts';
import { ComposedText, takeTarget, targetRowNumber } from './composed-text.ts';
import { type Branch, takeBranches } from './merge-branches.ts';
import { returningQuery } from './returning.ts';

/** Our names beside those of the caller. */
const branchName = sqlName('framehold branch');
const sourceName = sqlName('framehold source');

/**
 * MERGE INTO name [[AS] alias] USING source ON condition | USING (column, …)
 * WHEN [NOT] MATCHED [BY SOURCE | BY TARGET] [AND condition] THEN action … [RETURNING …]
 */
export async function merge(
  cursor: StatementCursor,
  statement: TokenizedText,
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
  const branches = takeBranches(clauses, { from: first, to: returning });
  const set = columnsOf(branches);
  const bySource = branches.some(({ of }) => of === 'source');
  const byTarget = branches.some(({ of }) => of === 'target');
  const alias = sqlName(target.alias);

  const isBeside = branches.some(({ condition }) => condition !== undefined && isOnlyForTable(statement, condition));
  const excluded = isBeside ? '' : ` EXCLUDE (${branchName})`;
  const text = new ComposedText(statement, withNames).ours(`SELECT *${excluded} FROM (SELECT `);
  text.ours(`${alias}.${targetRowNumber}, `);
  const isTarget = `${alias}.${targetRowNumber} IS NOT NULL`;
  const marker = bySource ? `${sqlName(sourceAlias(statement, source))}.${sourceName}` : '';
  const isSource = bySource ? `${marker} IS NOT NULL` : 'true';
  const addBranch = (): void => {
    text.ours('CASE');
    // DuckDB evaluates a branch without a condition after the others of its kind, wherever it is written.
    const last = ({ condition }: Branch): number => Number(condition === undefined);
    for (const [index, branch] of [...branches.entries()].sort(([, a], [, b]) => last(a) - last(b))) {
      const when = { matched: `${isTarget} AND ${isSource}`, target: `NOT (${isTarget})`, source: `NOT (${isSource})` };
      text.ours(` WHEN ${when[branch.of]}`);
      if (branch.condition !== undefined) text.ours(' AND ').value(branch.condition, 'a condition');
      text.ours(` THEN ${branch.action === 'NOTHING' ? 'NULL' : index}`);
    }
    text.ours(` END AS ${branchName}`);
  };
  if (!isBeside) {
    addBranch();
    text.ours(', ');
  }
  text.ours(`CASE ${branchName} WHEN NULL THEN NULL`);
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
  addValues(text, branches, set, target.alias);
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
  if (isBeside) {
    text.ours(', LATERAL (SELECT ');
    addBranch();
    text.ours(`) AS ${sqlName('framehold branches')}`);
  }
  text.ours(` WHERE ${branchName} IS NOT NULL)`);
  const places = branches.flatMap((branch) => branch.places ?? []);
  return {
    kind: 'change',
    verb: 'merge',
    table: target.table,
    set,
    isWhole: true,
    query: await text.gated(gate),
    ...(places.length > 0 && {
      unnamed: {
        sql: statement.sql,
        places,
        source: places.some(takesSource) ? await sourceColumns(statement, source, gate, withNames) : undefined,
      },
    }),
    returning: await returningQuery(clauses, { from: returning, to: end }, { target, gate, hasAction: true }),
  };
}

/** Whether other columns of the same SELECT cannot refer to it: a condition with a subquery, or with something that is new each time. */
function isOnlyForTable({ tokens }: TokenizedText, { from, to }: TokenRange): boolean {
  const words = new Set(['select', 'from', 'values', 'table', 'random', 'uuid', 'gen_random_uuid', 'uuidv4', 'uuidv7']);
  return tokens.slice(from, to).some(({ word }) => words.has(word));
}

/** A query for the columns of the source. */
async function sourceColumns(
  statement: TokenizedText,
  range: TokenRange,
  gate: GateText,
  withNames: TokenRange | undefined,
): Promise<UnnamedColumns['source']> {
  const text = new ComposedText(statement, withNames).ours('SELECT * FROM ').callers(range);
  const query = await text.gated(gate, { hasTarget: false, isForAll: false });
  return { query, name: sourceAlias(statement, range) };
}

function takesSource(place: UnnamedPlace): boolean {
  return place.kind === 'columns' && place.by !== 'values';
}

/** The columns of all branches, each once. */
function columnsOf(branches: readonly Branch[]): { name: string; position: number; isDefault: false }[] {
  const columns = new Map<string, { name: string; position: number; isDefault: false }>();
  for (const { set } of branches) {
    for (const { name, position } of set) {
      if (!columns.has(asciiLower(name))) columns.set(asciiLower(name), { name, position, isDefault: false });
    }
  }
  return [...columns.values()];
}

/**
 * The values of all columns, by branch. Each is cast to the type of its column at once: between two types DuckDB would choose a
 * third for both, which may not be able to hold the column's present values.
 */
function addValues(
  text: ComposedText,
  branches: readonly Branch[],
  set: readonly { readonly name: string }[],
  alias: string,
): void {
  text.targetColumns(alias, { set }, ({ name }) => {
    const column = `${sqlName(alias)}.${sqlName(name)}`;
    text.ours(`CASE ${branchName}`);
    for (const [index, branch] of branches.entries()) {
      const item = branch.set.find((each) => isSameName(each.name, name));
      if (item === undefined) continue;
      // A column's default replaces this before the statement runs.
      if (item.isDefault) text.ours(` WHEN ${index} THEN NULL`);
      else text.ours(` WHEN ${index} THEN cast_to_type(`).value(item.value, 'a value').ours(`, ${column})`);
    }
    text.ours(` ELSE ${column} END`);
  });
}

/** The name of the source: its alias, with or without column names behind it, or its own name. */
function sourceAlias({ tokens }: TokenizedText, { from, to }: TokenRange): string {
  let last = to - 1;
  if (isMark(tokens[last], ')') && last > from) {
    // (…) alias (column, …), but neither name (…) nor (…) alone.
    last = openingIndex(tokens, last) - 1;
    const before = tokens[last - 1];
    const isAlias = last > from && before !== undefined && (before.text === ')' || before.kind !== 'mark');
    if (!isAlias) last = -1;
  }
  const token = tokens[last];
  const name = nameOf(token);
  if (name !== undefined && asciiLower(name) !== '') return name;
  throw new AppError('sql_error', 'the source of MERGE needs a name', {
    hint: 'write USING (…) AS source ON …',
    position: tokens[from]?.start ?? 0,
  });
}
