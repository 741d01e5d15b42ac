import { AppError } from '../../core/errors/app-error.ts';
import { ownedName } from '../../core/names/frame-name.ts';
import type { AnalysedStatement, SqlUpdate } from '../frame-sql.ts';
import { describeOwnText } from '../rows/run-query.ts';
import type { StatementRun } from '../statement-run.ts';
import { frameNamer, withFullNames } from '../tables/full-names.ts';
import { openTables } from '../tables/open-tables.ts';
import { refuseTemporary } from '../tables/temporary-tables.ts';
import { createdFrame } from './created-frame.ts';

type CreateView = Extract<AnalysedStatement, { kind: 'createView' }>;

/** The view is saved with the whole name of each table that it reads: names mean the same for every reader. */
export async function createView(call: StatementRun, statement: CreateView): Promise<SqlUpdate> {
  const { engine, frames, principal, options } = call;
  const { table, ifTaken, isTemporary, query, written, definition } = statement;
  const created = await createdFrame(call, statement, 'VIEW');
  if (created === undefined) return { rows: 0, hasChanged: false };
  const { handle, replaced, ttlMs } = created;
  if (!isTemporary) refuseTemporary('a view', query, options.temporary);
  const { tenant } = principal;
  const own = ownedName(tenant, handle);
  await using opened = await openTables(call, query);
  const { tables, described } = opened;
  await engine.describe({ query, tables: described }, call.job);
  const before = replaced && ownedName(tenant, replaced);
  if (tables.some(({ frame }) => frame === own || frame === before)) throw readsItself(table.name);
  const frameOf = frameNamer(tables);
  const text = withFullNames(definition, frameOf);
  const reads = [...new Set(query.tables.flatMap((read) => frameOf(read) ?? []))].map((frame) =>
    frame.startsWith(`${tenant}/`) ? frame.slice(tenant.length + 1) : frame,
  );
  const columns = await describeOwnText(call, { sql: text, viewMade: own });
  const view = { sql: written, query: text, reads: reads.sort() };
  const mode = ifTaken === 'replace' && !isTemporary ? 'replace' : 'fail';
  await frames.saveView(principal, { handle, ifTaken: mode, view, columns, ttlMs }, options);
  await created.finish();
  return { rows: 0, hasChanged: true };
}

function readsItself(name: string): AppError {
  return new AppError('sql_error', `view ${name} would read itself`, {
    hint: 'name the view otherwise',
  });
}
