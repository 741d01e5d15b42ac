import { AppError } from '../../core/app-error.ts';
import { ownedName } from '../../core/frame-name.ts';
import { generateHandle } from '../../core/handle.ts';
import type { Principal } from '../../core/principal.ts';
import type { AnalysedStatement, CallOptions, SqlUpdate } from '../frame-sql.ts';
import { frameNamer, withFullNames } from '../tables/full-names.ts';
import { openTables } from '../tables/open-tables.ts';
import type { TableSources } from '../tables/table-opener.ts';
import {
  ofSession,
  refuseTemporary,
  temporaryExists,
  temporaryHandle,
  temporaryTtlMs,
} from '../tables/temporary-tables.ts';
import { dropTemporary } from './drop.ts';
import { describeOwnText } from './run-query.ts';
import { targetFrame } from './target-frame.ts';

type CreateView = Extract<AnalysedStatement, { kind: 'createView' }>;

/** The view is saved with the whole name of each table that it reads: names mean the same for whoever reads it. */
export async function createView(
  sources: TableSources,
  principal: Principal,
  statement: CreateView,
  options: CallOptions,
): Promise<SqlUpdate> {
  const { engine, frames } = sources;
  const { table, ifTaken, isTemporary, query, written, definition } = statement;
  const session = isTemporary ? ofSession(options.temporary, 'VIEW', table) : undefined;
  const replaced = temporaryHandle(session, table);
  const { handle, isHeld } = session
    ? { handle: generateHandle(), isHeld: replaced !== undefined }
    : await targetFrame(frames, principal, table);
  if (ifTaken === 'keep' && isHeld) return { rows: 0, hasChanged: false };
  if (ifTaken === 'fail' && replaced !== undefined) throw temporaryExists(table);
  if (session === undefined) refuseTemporary('a view', query, options.temporary);
  const { tenant } = principal;
  const own = ownedName(tenant, handle);
  await using opened = await openTables(sources, principal, query, options);
  const { tables, described } = opened;
  await engine.describe({ query, tables: described }, { ...options, tenant });
  const before = replaced && ownedName(tenant, replaced);
  if (tables.some(({ frame }) => frame === own || frame === before)) throw readsItself(table.name);
  const frameOf = frameNamer(tables);
  const text = withFullNames(definition, frameOf);
  const reads = [...new Set(query.tables.flatMap((read) => frameOf(read) ?? []))].map((frame) =>
    frame.startsWith(`${tenant}/`) ? frame.slice(tenant.length + 1) : frame,
  );
  const columns = await describeOwnText(sources, principal, { sql: text, viewMade: own }, options);
  const view = { sql: written, query: text, reads: reads.sort() };
  const mode = ifTaken === 'replace' && !session ? 'replace' : 'fail';
  const ttlMs = session && temporaryTtlMs;
  await frames.saveView(principal, { handle, ifTaken: mode, view, columns, ttlMs }, options);
  session?.set(table.name, handle);
  if (replaced !== undefined) await dropTemporary(frames, principal, replaced);
  return { rows: 0, hasChanged: true };
}

function readsItself(name: string): AppError {
  return new AppError('sql_error', `view ${name} would read itself`, {
    hint: 'name the view otherwise',
  });
}
