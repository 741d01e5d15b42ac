import { AppError } from '../../../../core/app-error.ts';
import { analyticsCatalog, framesCatalog, framesSchema, type TableName, tableText } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { systemSchemas, systemTables } from './reserved-names.ts';

/** Refuses a table that is neither a frame nor one of the operator's database. */
export function checkReadable(table: TableName, position: number | undefined): void {
  const name = asciiLower(table.name);
  const { schema, isFrame, isAnalytics } = placeOf(table);
  if (
    (isFrame || isAnalytics) &&
    !systemTables.has(name) &&
    !name.startsWith('duckdb_') &&
    !(schema && systemSchemas.has(schema))
  )
    return;
  throw new AppError('sql_forbidden', `${tableText(table)} is not a table that may be read here`, {
    hint: 'name a frame, as "x" or frames."x", or a table of the database analytics; SHOW TABLES lists the frames',
    position,
  });
}

/** Refuses a target that is not a frame by its name. */
export function checkWritable(table: TableName, position: number): void {
  const { isFrame, isAnalytics } = placeOf(table);
  if (isFrame) return;
  throw new AppError(
    'sql_forbidden',
    isAnalytics
      ? `${tableText(table)} cannot be written: the database analytics is read only`
      : `${tableText(table)} is not a frame`,
    { hint: 'write to a frame, as "x" or frames."x"', position },
  );
}

/** Of `a.t` the first part parses as a schema, also where it is a database. */
function placeOf(table: TableName) {
  const schema = table.schema === undefined ? undefined : asciiLower(table.schema);
  const catalog = table.catalog === undefined ? undefined : asciiLower(table.catalog);
  const isFrame =
    catalog === undefined
      ? schema === undefined || schema === framesSchema || schema === framesCatalog
      : catalog === framesCatalog && schema === framesSchema;
  return { schema, isFrame, isAnalytics: (catalog ?? schema) === analyticsCatalog };
}
