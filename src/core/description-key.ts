import { isAnalytics, type SqlJob, type SqlRun } from './sql.ts';

/** Longer texts are not worth the memory. */
export const longestRememberedSql = 10_000;

/** By what a description of a query is found again. Undefined where the same text may give something else the next time. */
export function descriptionKey({
  query,
  tables,
  into,
  settings,
  parameters,
}: SqlJob & Pick<SqlRun, 'parameters'>): string | undefined {
  const isFixed =
    into === undefined && parameters === undefined && !query.readsCatalogs && !query.tables.some(isAnalytics);
  if (!isFixed || query.sql.length > longestRememberedSql) return undefined;
  const versions = tables.map((table) => (table.kind === 'frame' ? [table.name, table.frame, table.versionId] : table));
  return JSON.stringify([query.sql, versions, settings]);
}
