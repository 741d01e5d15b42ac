import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { FrameTable, ViewTable } from '../../core/sql/sql.ts';
import { LruMap } from '../../core/system/lru-map.ts';
import { typeChange } from '../../frames/catalog/column-difference.ts';
import { type ShownView, ViewFault } from './view-fault.ts';

/** Views with checked columns, by their version and the versions of their tables. */
const checkedViews = new LruMap<true>(1000, 16_000_000);

/** A view has the columns that it was made with, or none. */
export async function checkViewColumns(
  view: ViewTable,
  { name, position }: ShownView,
  {
    reads,
    live,
    describe,
  }: {
    readonly reads: readonly (FrameTable | ViewTable)[];
    /** The columns of its reads of the external database. */
    readonly live: readonly (readonly Column[])[] | undefined;
    /** The columns that its query gives now. */
    readonly describe: () => Promise<readonly Column[]>;
  },
): Promise<void> {
  const key = JSON.stringify([view.versionId, reads.map(({ frame, columns }) => [frame, columns]), live]);
  if (checkedViews.get(key) !== undefined) return;
  const changed = (why: string): AppError =>
    new ViewFault(`view ${name} reads tables whose columns have changed${why}`, {
      hint: view.isBarrier ? 'ask its owner' : 'make it anew: CREATE OR REPLACE VIEW',
      position,
    });
  const found = await describe().catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
    throw changed(view.isBarrier ? '' : `: ${error.message}`);
  });
  // Columns that its tables have got since are not among its own.
  const own = view.columns.map((column) => found.find((each) => each.name === column.name));
  const missing = view.columns.find((_, at) => own[at] === undefined);
  if (missing !== undefined) throw changed(`: column ${JSON.stringify(missing.name)} is gone`);
  const change = typeChange(view.columns, own as readonly Column[]);
  if (change !== undefined) throw changed(`: ${change}`);
  checkedViews.set(key, true, key.length);
}
