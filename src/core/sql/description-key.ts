import { isAnalytics, type SqlJob, type SqlRun } from './sql.ts';

/** Longer texts are not worth the memory. */
export const longestRememberedSql = 10_000;

/** Cache key of a query's description. Undefined if the same text may give another one the next time. */
export function descriptionKey({
  query,
  tables,
  into,
  settings,
  parameters,
}: SqlJob & Pick<SqlRun, 'parameters'>): string | undefined {
  const queries = [query, ...tables.flatMap((table) => (table.kind === 'view' ? table.query : []))];
  const readsAnalytics = queries.some((each) => each.tables.some(isAnalytics));
  const readsLive = tables.some(({ kind }) => kind === 'live');
  const isFixed =
    into === undefined && parameters === undefined && !query.readsCatalogs && !readsAnalytics && !readsLive;
  if (!isFixed || query.sql.length > longestRememberedSql) return undefined;
  const versions = tables.map((table) =>
    table.kind === 'list' || table.kind === 'changes' || table.kind === 'live'
      ? table
      : [table.schema, table.name, table.frame, table.versionId],
  );
  return JSON.stringify([query.sql, versions, settings]);
}
