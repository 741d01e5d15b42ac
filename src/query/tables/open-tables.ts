import { Cleanup } from '../../core/async/cleanup.ts';
import type { FrameTable, Query, SqlTable, ViewTable } from '../../core/sql/sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { type OpenJob, TableOpener } from './table-opener.ts';

/** The tables of a query, each at one version until disposed. */
export interface OpenTables extends AsyncDisposable {
  readonly tables: readonly (FrameTable | ViewTable)[];
  /** With the tables of the external database, before the views that may read them: their columns, and no rows. */
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
 * Finds and opens the frames and views behind the names of a query; tables of the operator's database are left to the engine.
 * `viewMade`: the view of which it becomes the query, by `owner/handle`.
 */
export async function openTables(call: StatementRun, query: Query, viewMade?: string): Promise<OpenTables> {
  if (query.tables.length === 0 && query.live === undefined) return noTables;
  return Cleanup.scope(async (cleanup) => {
    const opener = new TableOpener(call, cleanup);
    await opener.openAll(query, viewMade);
    const { tables, described } = opener;
    return { tables, described, withRows: (...job) => opener.withRows(...job) };
  });
}
