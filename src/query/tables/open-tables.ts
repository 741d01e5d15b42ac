import { Cleanup } from '../../core/async/cleanup.ts';
import type { Principal } from '../../core/principal.ts';
import type { FrameTable, Query, SqlTable, ViewTable } from '../../core/sql.ts';
import type { CallOptions } from '../frame-sql.ts';
import { type OpenJob, TableOpener, type TableSources } from './table-opener.ts';

/** What a query reads, each at one version until this is disposed of. */
export interface OpenTables extends AsyncDisposable {
  readonly tables: readonly (FrameTable | ViewTable)[];
  /** With what is read of the external database, before the views that may read it: its columns, and no rows. */
  readonly described: readonly SqlTable[];
  /** The same with its rows, for a job over them and the tables beside. */
  withRows(job: OpenJob, beside?: readonly SqlTable[]): Promise<readonly SqlTable[]>;
}

const noTables: OpenTables = {
  tables: [],
  described: [],
  withRows: async () => [],
  [Symbol.asyncDispose]: async () => {},
};

/**
 * Finds and opens the frames and views behind the names of a query; those of the operator's database are not our business.
 * `viewMade`: the view of which it becomes the query, by `owner/handle`.
 */
export async function openTables(
  sources: TableSources,
  principal: Principal,
  query: Query,
  options: CallOptions,
  viewMade?: string,
): Promise<OpenTables> {
  if (query.tables.length === 0 && query.live === undefined) return noTables;
  return Cleanup.scope(async (cleanup) => {
    const opener = new TableOpener(sources, principal, cleanup, options);
    await opener.openAll(query, viewMade);
    const { tables, described } = opener;
    return { tables, described, withRows: (...job) => opener.withRows(...job) };
  });
}
