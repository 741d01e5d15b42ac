import type { Principal } from '../../core/callers/principal.ts';
import {
  defaultColumn,
  type FrameTable,
  type InsertedTable,
  insertOrderColumn,
  type OnConflict,
  type SqlColumn,
} from '../../core/sql/sql.ts';
import { isSameName } from '../../core/text/ascii-lower.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { AnalysedStatement } from '../frame-sql.ts';
import type { StagedRows } from '../rows/staged-rows.ts';
import { tableOf } from '../tables/frame-tables.ts';
import { defaultsOf, insertedName } from './conflicting-rows.ts';

/** An INSERT with ON CONFLICT. */
export type Upsert = Extract<AnalysedStatement, { kind: 'insert' }> & { readonly onConflict: OnConflict };

/** Whole rows, with the defaults that DO UPDATE needs beside them. They are not checked against constraints: some are not added. */
export function insertedTable(onConflict: OnConflict, { columns, constraints, ...into }: InsertedTable): InsertedTable {
  const added: SqlColumn[] = [];
  const defaults = [...(constraints?.defaults ?? [])];
  for (const name of defaultsOf(onConflict)) {
    const column = columns.find((each) => isSameName(each.name, name));
    if (column !== undefined) added.push({ ...column, name: defaultColumn(name) });
    const sql = constraints?.defaults.find((each) => isSameName(each.column, name))?.sql;
    if (sql !== undefined) defaults.push({ column: defaultColumn(name), sql });
  }
  return {
    ...into,
    columns: [...columns, ...added],
    named: into.named ?? (into.isByName === true ? undefined : columns.map(({ name }) => name)),
    constraints: constraints && { ...constraints, defaults, notNull: [], checks: [] },
  };
}

/** The rows as a table like the frame, with their numbers; of none, where there is no file. */
export async function insertedRows(
  { tenant }: Principal,
  reader: FrameReader,
  { columns }: InsertedTable,
  staged: StagedRows | undefined,
): Promise<FrameTable> {
  const frame = await tableOf(reader, tenant, { name: insertedName, schema: undefined });
  if (staged === undefined) {
    const order: SqlColumn = { name: insertOrderColumn, type: { kind: 'int', bits: 64, signed: true } };
    return { ...frame, definition: { columns: [...columns, order] } };
  }
  const { path, rows } = staged;
  const readAs = columns.map(({ declared }) => declared ?? null);
  return { ...frame, versionId: path, columns, readAs, rows, parts: [{ path, rows }], rowNumbers: insertOrderColumn };
}
