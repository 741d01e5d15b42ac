import type { CallOptions } from '../../../query/frame-sql.ts';
import { listTables, type TableSources } from './tables.ts';

export interface WantedTable {
  /** Undefined: in any. */
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  readonly table: string;
}

/** A row for each column of the primary key, in the order of the key. */
export async function primaryKeyRows(
  sources: TableSources,
  { catalog, schema, table }: WantedTable,
  options: CallOptions,
): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  const filter = { catalog, schemaPattern: schema && literally(schema), tablePattern: literally(table) };
  for await (const found of listTables(sources, filter, options)) {
    const { primaryKey } = found.constraints ?? {};
    for (const [index, column] of (primaryKey?.columns ?? []).entries())
      rows.push([found.catalog, found.schema, found.name, column, index + 1, primaryKey?.name ?? null]);
  }
  return rows;
}

/** A name is no pattern here. */
function literally(name: string): string {
  return name.replaceAll(/[%_\\]/g, '\\$&');
}
