import { createHash } from 'node:crypto';
import { type Column, sqlName } from '@framehold/columns';
import {
  defaultColumn,
  excludedColumn,
  insertOrderColumn,
  type OnConflict,
  rowNumberColumn,
} from '../../core/sql/sql.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';

/** Names that no frame has. */
export const insertedName = 'framehold rows';
export const frameName = 'framehold frame';

const [number, order] = [sqlName(rowNumberColumn), sqlName(insertOrderColumn)];

interface Conflict {
  readonly columns: readonly Column[];
  readonly keys: readonly (readonly string[])[];
  readonly onConflict: Pick<OnConflict, 'action' | 'set'>;
  /** Columns that OR REPLACE replaces, in any case. */
  readonly replaced: readonly string[];
  /** Definition of the columns and their types. */
  readonly definition: string;
}

/**
 * The text of a query over the rows that an INSERT adds and those of the frame: each row that has no key of the frame, without a
 * number; and except for DO NOTHING, each row of the frame whose key is inserted, with its number.
 */
export function conflictingRows({ columns, keys, onConflict, replaced, definition }: Conflict): string {
  const { action, set } = onConflict;
  // DuckDB remembers the types of this query, by its text.
  const types = createHash('sha256').update(definition).digest('hex').slice(0, 16);
  const steps = keys.map((key, at) => `r${at + 1} AS (${firstOfEach(key, `r${at}`)})`);
  const names = [`r0 AS (SELECT * FROM ${sqlName(insertedName)})`, ...steps].join(', ');
  const rows = `r${keys.length} AS r`;
  const frame = `${sqlName(frameName)} AS f`;
  const isSame = (key: readonly string[]): string =>
    key.map((name) => `f.${sqlName(name)} = r.${sqlName(name)}`).join(' AND ');
  const head = `WITH ${sqlName(types)} AS (SELECT 1), ${names} SELECT`;
  if (action === 'nothing') {
    const own = columns.map(({ name }) => `r.${sqlName(name)}`);
    const free = keys.map((key) => `NOT EXISTS (SELECT 1 FROM ${frame} WHERE ${isSame(key)})`);
    const items = [...own, `CAST(NULL AS BIGINT) AS ${number}`, `r.${order}`];
    return `${head} ${items.join(', ')} FROM ${rows} WHERE ${free.join(' AND ')}`;
  }
  const isReplaced = (name: string): boolean => action === 'replace' && replaced.some((each) => isSameName(each, name));
  const own = columns.map(({ name }) => {
    const column = sqlName(name);
    if (isReplaced(name)) return `r.${column}`;
    return `CASE WHEN f.${number} IS NULL THEN r.${column} ELSE f.${column} END AS ${column}`;
  });
  const excluded = columns.map(({ name }) => `${sqlName(name)} := r.${sqlName(name)}`);
  const defaults = defaultsOf({ set }).map((name) => `r.${sqlName(defaultColumn(name))}`);
  const named = action === 'update' ? [`struct_pack(${excluded.join(', ')}) AS ${excludedColumn}`, ...defaults] : [];
  const items = [...own, `f.${number}`, `r.${order}`, ...named];
  return `${head} ${items.join(', ')} FROM ${frame} RIGHT JOIN ${rows} ON ${keys.map(isSame).join(' OR ')}`;
}

/** The columns of that query. */
export function conflictingColumns({ columns, onConflict }: Pick<Conflict, 'columns' | 'onConflict'>): Column[] {
  const bigint = { kind: 'int', bits: 64, signed: true } as const;
  const own = [...columns, { name: rowNumberColumn, type: bigint }, { name: insertOrderColumn, type: bigint }];
  if (onConflict.action !== 'update') return own;
  const typeOf = (name: string) => columns.find((each) => isSameName(each.name, name))?.type ?? bigint;
  const defaults = defaultsOf(onConflict).map((name) => ({ name: defaultColumn(name), type: typeOf(name) }));
  return [...own, { name: excludedColumn, type: { kind: 'struct', fields: columns } }, ...defaults];
}

/** Columns that are set to their default. */
export function defaultsOf({ set }: Pick<OnConflict, 'set'>): readonly string[] {
  return set.flatMap(({ name, isDefault }) => (isDefault ? name : []));
}

/** The first of rows with the same key. NULL equals nothing. */
function firstOfEach(key: readonly string[], rows: string): string {
  const columns = key.map(sqlName);
  const isNull = columns.map((column) => `${column} IS NULL`).join(' OR ');
  return `SELECT * FROM ${rows} WHERE ${isNull} OR ${order} IN (SELECT min(${order}) FROM ${rows} GROUP BY ${columns.join(', ')})`;
}

/** The text of a query that gives a row where inserted rows have the same key. */
export function repeatedKey(key: readonly string[]): string {
  const columns = key.map(sqlName);
  const isKey = columns.map((column) => `${column} IS NOT NULL`).join(' AND ');
  return `SELECT 1 AS n FROM ${sqlName(insertedName)} WHERE ${isKey} GROUP BY ${columns.join(', ')} HAVING count(*) > 1 LIMIT 1`;
}
