import { isTenant } from '../../../../../core/callers/principal.ts';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { isLiveTable } from '../../../../../core/sql/live-read.ts';
import { framesCatalog, isAnalytics, type TableName, tableText } from '../../../../../core/sql/sql.ts';
import { notReadable, notWritable, sharedSchema } from '../../../../../core/sql/table-name.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { catalogViews, informationViews, isSystemName, systemSchemas } from './reserved-names.ts';

/** Refuses a table that is neither a frame, by its name, nor one of the operator's database. */
export function checkReadable(table: TableName, position: number | undefined): void {
  const schema = table.schema === undefined ? undefined : asciiLower(table.schema);
  if (isLiveTable(table)) return;
  if ((isFrame(table) || isAnalytics(table)) && !isSystemName(table.name) && !(schema && systemSchemas.has(schema)))
    return;
  throw notReadable(table, position);
}

/** Whether a name is a view of DuckDB's own that describes tables and not the process. */
export function isCatalogView({ catalog, schema, name }: TableName): boolean {
  // DuckDB has no such view in another database, and `system.x` parses as a schema.
  if (catalog !== undefined && asciiLower(catalog) !== 'system') return false;
  switch (schema === undefined ? 'main' : asciiLower(schema)) {
    case 'main':
    case 'pg_catalog':
      return catalogViews.has(asciiLower(name));
    case 'information_schema':
      return informationViews.has(asciiLower(name));
    default:
      return false;
  }
}

/** Refuses a target that is not a frame by its name. */
export function checkWritable(table: TableName, position: number): void {
  if (isAnalytics(table)) {
    throw new AppError('sql_forbidden', `${tableText(table)} cannot be written: the database analytics is read only`, {
      hint: 'write to a frame, as "x" or frames."x"',
      position,
    });
  }
  if (isLiveTable(table)) {
    throw new AppError(
      'sql_forbidden',
      `${tableText(table)} cannot be written: tables of the external database are read only`,
      {
        hint: 'write to a frame, as "x" or frames."x"',
        position,
      },
    );
  }
  if (!isFrame(table)) throw notWritable(table, position);
}

/** Refuses a target that is not a frame by its name, or that no query could read. */
export function checkCreatable(table: TableName, position: number): void {
  checkWritable(table, position);
  if (!isSystemName(table.name)) return;
  throw new AppError(
    'sql_forbidden',
    `${tableText(table)} is a name of DuckDB's own catalogs: no query reads a frame by it`,
    {
      hint: 'choose another name',
      position,
    },
  );
}

/** Whether there is such a tenant, and a frame that it shares, is checked when the statement runs. */
function isFrame(table: TableName): boolean {
  const owner = sharedSchema(table);
  const isOurs = table.catalog === undefined || asciiLower(table.catalog) === framesCatalog;
  return isOurs && (owner === undefined || isTenant(owner));
}
