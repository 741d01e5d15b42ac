import { expect, test } from 'vitest';
import type { Listed, ListedTable } from '../../core/sql/sql.ts';
import { catalogListing } from './catalog-listing.ts';

const never = new AbortController().signal;

function table(name: string, columnCount: number): ListedTable {
  const columns = Array.from({ length: columnCount }, (_, index) => ({
    name: `c${index}`,
    type: { kind: 'utf8' } as const,
  }));
  return { catalog: 'framehold', schema: 'frames', name, kind: 'table', columns };
}

const listed = (...tables: readonly ListedTable[]): Listed => ({ tables, definitions: [] });

test('the same tables have the same signature, and a table more has another', async () => {
  const [first, second] = [table('a', 2000), table('b', 3)];
  const { signature } = await catalogListing(listed(first), never);
  expect((await catalogListing(listed(table('a', 2000)), never)).signature).toBe(signature);
  expect((await catalogListing(listed(first, second), never)).signature).not.toBe(signature);
  expect((await catalogListing(listed(first, { ...second, name: 'A' }), never)).tables).toHaveLength(1);
});

test('more columns than a process can show are refused before they are worded', async () => {
  const shared = table('wide', 1000).columns;
  const tables = Array.from({ length: 251 }, (_, index) => ({ ...table(`t${index}`, 0), columns: shared }));
  await expect(catalogListing(listed(...tables), never)).rejects.toMatchObject({
    code: 'sql_error',
    message: 'the catalogs would show 251000 columns, more than 250000',
  });
});

test('others have their turn while many tables are worded, and a cancel ends it', async () => {
  const abort = new AbortController();
  const listing = catalogListing(listed(...[1, 2, 3].map((n) => table(`t${n}`, 2000))), abort.signal);
  setImmediate(() => abort.abort(new Error('stop')));
  await expect(listing).rejects.toThrow('stop');
});
