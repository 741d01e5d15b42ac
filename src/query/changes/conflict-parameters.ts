import { sqlName } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { FrameTable, Query, SqlResult, SqlRun } from '../../core/sql/sql.ts';
import type { UpdateRequest } from '../frame-sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { ownQuery } from '../tables/own-query.ts';
import { repeatedKey } from './conflicting-rows.ts';
import type { Upsert } from './inserted-rows.ts';

interface Bound extends Pick<UpdateRequest, 'parameters'> {
  readonly statement: Upsert;
  readonly keys: readonly (readonly string[])[];
  /** The rows that the statement inserts for all rows of parameters. */
  readonly given: FrameTable;
}

/**
 * The parameters of DO UPDATE, once. Several rows of parameters are applied at once: refuses rows of which one would change a row
 * that another has added, and rows that give DO UPDATE different values.
 */
export async function conflictParameters(
  call: StatementRun,
  { statement, parameters, keys, given }: Bound,
): Promise<Uint8Array | undefined> {
  const { engine } = call;
  const { onConflict, query } = statement;
  if (parameters === undefined || onConflict.action === 'nothing') return undefined;
  const { job } = call;
  const read = async (sql: string, run: Partial<SqlRun>): Promise<SqlResult> => {
    const own = await ownQuery(engine, sql, job);
    return await engine.run({ query: own, tables: [], form: 'ndjson', ...run }, job);
  };
  const linesOf = async (sql: string, run: Partial<SqlRun>): Promise<readonly string[]> => {
    await using result = await read(sql, run);
    const pieces: Uint8Array[] = [];
    for await (const { bytes } of result.rows()) pieces.push(bytes.slice());
    return Buffer.concat(pieces)
      .toString()
      .split('\n')
      .filter((line) => line !== '');
  };
  const used = onConflict.parameters.map((name, index) => `${name} AS p${index}`);
  const isRepeated = async (): Promise<boolean> => {
    for (const key of keys) if ((await linesOf(repeatedKey(key), { tables: [given] })).length > 0) return true;
    return false;
  };
  const repeated = await isRepeated();
  if (!repeated && used.length === 0) return undefined;
  const values = await linesOf(ofEachBinding(query, used.length > 0 ? used : ['1 AS p']), { parameters });
  if (repeated && values.length > 1) {
    throw new AppError('sql_error', 'two rows of bound parameters have the same key', {
      hint: 'they are applied at once, and neither is before the other: bind one of them, or send them one by one',
    });
  }
  if (new Set(values).size > 1) {
    throw new AppError('sql_error', 'the rows of bound parameters give DO UPDATE different values', {
      hint: 'name the inserted row, as in SET a = excluded.a, or send the rows one by one',
      position: onConflict.position,
    });
  }
  if (used.length === 0) return undefined;
  if (values.length <= 1) return parameters;
  const all = namesOf(query).map((name) => `$${name} AS ${sqlName(name)}`);
  await using first = await read(ofEachBinding(query, all), { parameters, form: 'arrow', toRow: 1 });
  const pieces: Uint8Array[] = [];
  for await (const piece of first.arrowStream()) pieces.push(piece.slice());
  return Buffer.concat(pieces);
}

/** A query that gives one row for each of parameters, all of which it takes. */
function ofEachBinding(query: Query, items: readonly string[]): string {
  const all = namesOf(query).map((name) => `$${name}`);
  return `WITH bound AS (SELECT ${all.join(', ')}) SELECT ${items.join(', ')}`;
}

function namesOf({ parameterCount, parameterNames }: Query): readonly string[] {
  return parameterNames ?? Array.from({ length: parameterCount }, (_, index) => String(index + 1));
}
