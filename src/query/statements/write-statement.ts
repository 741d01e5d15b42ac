import type { Principal } from '../../core/principal.ts';
import type { AnalysedStatement, CallOptions, PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import { ofSession } from '../tables/temporary-tables.ts';
import { alterFrame } from './alter-frame.ts';
import { changeRows, prepareChange, truncate } from './change.ts';
import { createTable } from './create-table.ts';
import { createView } from './create-view.ts';
import { define, undefine } from './definitions.ts';
import { drop } from './drop.ts';
import { type InsertSources, insertRows, prepareInsert } from './insert.ts';
import { retried } from './retried.ts';
import { describeQuery } from './run-query.ts';

/** A statement that changes frames or definitions. */
export type WriteStatement = Exclude<AnalysedStatement, { kind: 'query' | 'showTables' }>;

/** What it will give and take. */
export async function prepareWrite(
  sources: InsertSources,
  principal: Principal,
  statement: WriteStatement,
  options: CallOptions,
): Promise<PreparedSql> {
  const isUpdate = true;
  const nothing = { isUpdate, columns: [], parameters: [] };
  sources.frames.assertMayWrite(principal);
  switch (statement.kind) {
    case 'createTable': {
      const { query, settings, table, isTemporary } = statement;
      if (isTemporary) ofSession(options.temporary, 'TABLE', table);
      return { ...(await describeQuery(sources, principal, { query, settings }, options)), isUpdate, columns: [] };
    }
    case 'insert':
      return { ...(await prepareInsert(sources, principal, statement, options)), isUpdate };
    case 'createView':
      if (statement.isTemporary) ofSession(options.temporary, 'VIEW', statement.table);
      await describeQuery(sources, principal, { query: statement.query }, options);
      return nothing;
    case 'change':
      return { ...(await prepareChange(sources, principal, statement, options)), isUpdate };
    case 'truncate':
    case 'drop':
    case 'alter':
    case 'define':
    case 'undefine':
      return nothing;
    default:
      return statement satisfies never;
  }
}

/** Runs it. */
export async function runWrite(
  sources: InsertSources,
  principal: Principal,
  request: UpdateRequest & { readonly statement: WriteStatement },
  options: CallOptions,
): Promise<SqlUpdate> {
  const { statement, parameters } = request;
  const { frames } = sources;
  frames.assertMayWrite(principal);
  switch (statement.kind) {
    case 'createTable':
      return await createTable(sources, principal, statement, parameters, options);
    case 'insert':
      return await retried(() => insertRows(sources, principal, { ...request, statement }, options));
    case 'createView':
      return await createView(sources, principal, statement, options);
    case 'change':
      return await retried(() => changeRows(sources, principal, statement, request, options));
    case 'truncate':
      return await truncate(sources, principal, statement, options);
    case 'drop':
      return await drop(frames, principal, statement, options);
    case 'alter':
      return await alterFrame(sources, principal, statement, options);
    case 'define':
      return { rows: 0, hasChanged: await define(sources, principal, statement, options) };
    case 'undefine':
      return { rows: 0, hasChanged: await undefine(frames, principal, statement, options) };
    default:
      return statement satisfies never;
  }
}
