import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { defaultColumn, excludedColumn, insertOrderColumn, type OnConflict } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import type { Clauses } from '../text/clauses.ts';
import { nameOf, StatementCursor } from '../text/statement-cursor.ts';
import { closingIndex, isMark, type TokenRange } from '../text/token-groups.ts';
import { ComposedText, type Target, targetRowNumber } from './composed-text.ts';
import { type Assignment, assignments } from './update.ts';

type Action = OnConflict['action'];

/** OR IGNORE or OR REPLACE behind INSERT. */
export function takesOr(cursor: StatementCursor): { readonly action: Action; readonly position: number } | undefined {
  const { position } = cursor;
  if (!cursor.takes('or')) return undefined;
  if (cursor.takes('ignore')) return { action: 'nothing', position };
  if (cursor.takes('replace')) return { action: 'replace', position };
  throw cursor.unexpected('IGNORE or REPLACE');
}

/** The start of ON CONFLICT behind the rows of an INSERT; else the end of the range. `conflict` alone may be a name of the query. */
export function findConflict(clauses: Clauses, { from, to }: TokenRange): number {
  const { tokens } = clauses;
  for (let index = from; index < to; index++) {
    if (!clauses.isClause(index, 'on') || tokens[index + 1]?.word !== 'conflict') continue;
    const isList = isMark(tokens[index + 2], '(');
    const next = isList ? closingIndex(tokens, index + 2) + 1 : index + 2;
    if (['do', 'where', 'on'].includes(tokens[next]?.word ?? '')) return index;
  }
  return to;
}

/** The action on rows whose key exists already: from `or`, or from ON CONFLICT in the range. */
export async function onConflict(
  clauses: Clauses,
  range: TokenRange,
  { target, gate, or }: { readonly target: Target; readonly gate: GateText; readonly or: ReturnType<typeof takesOr> },
): Promise<OnConflict | undefined> {
  const position = clauses.tokens[range.from]?.start ?? 0;
  if (range.from >= range.to) {
    return (
      or && {
        ...or,
        set: [],
        excluded: [],
        parameters: [],
        query: await changes(new ComposedText(clauses), { target, gate, set: [] }),
      }
    );
  }
  if (or !== undefined) {
    throw new AppError('sql_error', 'OR IGNORE and OR REPLACE take no ON CONFLICT', {
      hint: 'leave one of them out',
      position,
    });
  }
  const { key, set, where, action } = takeConflict(clauses, range);
  const isNamed = asciiLower(target.alias) === excludedColumn;
  if (isNamed && action === 'update') {
    throw new AppError('sql_error', '"excluded" means the row that was to be added, and the table has that name', {
      hint: 'give the table another one: INSERT INTO … AS other',
      position,
    });
  }
  const text = new ComposedText(clauses);
  const query = await changes(text, { target, gate, set, where, hasExcluded: action === 'update' });
  const columns = set.map(({ value: _, ...column }) => column);
  const excluded = excludedColumns(clauses, range);
  return { action, position, key, set: columns, excluded, parameters: text.parameters, query };
}

/** ON CONFLICT [(column, …)] DO NOTHING | DO UPDATE SET column = value, … [WHERE …] */
function takeConflict(
  clauses: Clauses,
  { from, to }: TokenRange,
): Pick<OnConflict, 'action' | 'key'> & { readonly set: readonly Assignment[]; readonly where?: TokenRange } {
  const { sql, tokens } = clauses;
  const cursor = new StatementCursor(tokens.slice(0, to), tokens[to]?.start ?? sql.length);
  cursor.skipTo(from + 2);
  if (cursor.sees('on')) {
    throw new AppError('sql_forbidden', 'ON CONSTRAINT is not supported', {
      hint: 'name the columns of the key: ON CONFLICT (column, …)',
      position: cursor.position,
    });
  }
  const key = cursor.seesMark('(') ? takeKey(cursor) : undefined;
  if (cursor.sees('where')) {
    throw new AppError('sql_error', 'WHERE cannot stand between ON CONFLICT and DO: there are no partial keys', {
      hint: 'write DO UPDATE SET … WHERE …',
      position: cursor.position,
    });
  }
  if (!cursor.takes('do')) throw cursor.unexpected('DO');
  if (cursor.takes('nothing')) {
    if (!cursor.done) throw cursor.unexpected('RETURNING or the end of the statement');
    return { action: 'nothing', key, set: [] };
  }
  if (!cursor.takes('update')) throw cursor.unexpected('NOTHING or UPDATE');
  if (!cursor.takes('set')) throw cursor.unexpected('SET');
  const where = clauses.find({ from: cursor.index, to }, 'where');
  const set = assignments(clauses, { from: cursor.index, to: where });
  return { action: 'update', key, set, ...(where < to && { where: { from: where + 1, to } }) };
}

/** Each `excluded.column`. */
function excludedColumns({ tokens }: TokenizedText, { from, to }: TokenRange): OnConflict['excluded'] {
  return tokens.slice(from, to).flatMap((token, index, all) => {
    const [before, dot, column] = [all[index - 1], all[index + 1], all[index + 2]];
    const isExcluded = asciiLower(nameOf(token) ?? '') === excludedColumn && before?.text !== '.' && dot?.text === '.';
    const name = isExcluded && column !== undefined ? nameOf(column) : undefined;
    return name === undefined || column === undefined ? [] : { name, position: column.start };
  });
}

function takeKey(cursor: StatementCursor): NonNullable<OnConflict['key']> {
  const key: { name: string; position: number }[] = [];
  cursor.takesMark('(');
  do {
    const { position } = cursor;
    const token = cursor.take();
    const name = nameOf(token);
    if (name === undefined || !(cursor.seesMark(',') || cursor.seesMark(')'))) {
      throw new AppError('sql_error', 'expected the names of columns behind ON CONFLICT', {
        hint: 'write ON CONFLICT (column, …): those of a PRIMARY KEY or UNIQUE',
        position,
      });
    }
    key.push({ name, position });
  } while (cursor.takesMark(','));
  cursor.takesMark(')');
  return key;
}

interface Changed {
  readonly target: Target;
  readonly gate: GateText;
  readonly set: readonly Assignment[];
  readonly where?: TokenRange | undefined;
  readonly hasExcluded?: boolean;
}

/** A row without a number is a new row. Rows are in the order in which they are to be added. */
async function changes(
  text: ComposedText,
  { target, gate, set, where, hasExcluded = false }: Changed,
): Promise<OnConflict['query']> {
  const alias = sqlName(target.alias);
  const isNew = `${alias}.${targetRowNumber} IS NULL`;
  const defaults = set.filter(({ isDefault }) => isDefault).map(({ name }) => defaultColumn(name));
  const hidden = [insertOrderColumn, ...(hasExcluded ? [excludedColumn] : []), ...defaults];
  text.ours(`SELECT ${alias}.${targetRowNumber}, CASE WHEN ${isNew} THEN 'INSERT' ELSE 'UPDATE' END`);
  text.targetColumns(target.alias, { hidden, set }, ({ name, value, isDefault }) => {
    const column = `${alias}.${sqlName(name)}`;
    text.ours(`CASE WHEN ${isNew} THEN ${column} ELSE `);
    if (isDefault) text.ours(`${alias}.${sqlName(defaultColumn(name))}`);
    else text.ours('cast_to_type(').value(value, 'a value').ours(`, ${column})`);
    text.ours(' END');
  });
  text.ours(' FROM ').target(target);
  if (where !== undefined) text.ours(` WHERE ${isNew} OR `).value(where, 'a condition');
  // Settings of the statement may turn the order round.
  text.ours(` ORDER BY ${alias}.${sqlName(insertOrderColumn)} ASC`);
  return await text.gated(gate, { isForAll: false, isOfEachRow: 'DO UPDATE' });
}
