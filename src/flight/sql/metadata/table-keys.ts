import { framesCatalog, framesSchema } from '../../../core/sql/sql.ts';
import type { ForeignKey } from '../../../core/sql/table-constraints.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import type { CallOptions } from '../../../query/frame-sql.ts';
import { likePattern } from './like-pattern.ts';
import { listTables, type SqlTableEntry, type TableSources } from './tables.ts';

export interface WantedTable {
  /** Undefined: in any. */
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  readonly table: string;
}

type Row = readonly unknown[];

/** A row for each column of the primary key, in the order of the key. */
export async function* primaryKeyRows(
  sources: TableSources,
  wanted: WantedTable,
  options: CallOptions,
): AsyncGenerator<Row> {
  for await (const { catalog, schema, name, constraints } of listTables(sources, filterOf(wanted), options)) {
    const { primaryKey } = constraints ?? {};
    for (const [index, column] of (primaryKey?.columns ?? []).entries())
      yield [catalog, schema, name, column, index + 1, primaryKey?.name ?? null];
  }
}

/** Filter of foreign keys. Undefined: any table. */
export interface WantedKeys {
  /** The table that is referred to. */
  readonly to?: WantedTable | undefined;
  /** The table that has the key. */
  readonly from?: WantedTable | undefined;
}

/** JDBC's importedKeyNoAction: no key changes other rows. */
const noAction = 3;

/** A row for each column of each foreign key of the caller's own frames: others name frames of another tenant. */
export async function* foreignKeyRows(
  sources: TableSources,
  { to, from }: WantedKeys,
  options: CallOptions,
): AsyncGenerator<Row> {
  let own: ReadonlyMap<string, SqlTableEntry> | undefined;
  const isTo = to === undefined ? () => true : matcher(to);
  const filter = from === undefined ? { catalog: framesCatalog, schemaPattern: framesSchema } : filterOf(from);
  for await (const { catalog, schema, name, constraints } of listTables(sources, filter, options)) {
    if (catalog !== framesCatalog || schema !== framesSchema) continue;
    const keys = constraints?.foreignKeys ?? [];
    if (keys.length > 0) own ??= await ownTables(sources, options);
    for (const key of keys) {
      const target = own?.get(asciiLower(key.table));
      const pkTable = target?.name ?? key.table;
      if (!isTo({ catalog, schema, name: pkTable })) continue;
      const pkColumns = referredColumns(key, target);
      for (const [index, column] of key.columns.entries()) {
        const pkColumn = pkColumns[index];
        // The frame of the key is missing, or has no key.
        if (pkColumn === undefined) continue;
        const names = [key.name ?? null, target?.constraints?.primaryKey?.name ?? null];
        yield [
          ...[catalog, schema, pkTable, pkColumn],
          ...[catalog, schema, name, column],
          ...[index + 1, ...names, noAction, noAction],
        ];
      }
    }
  }
}

function referredColumns({ references }: ForeignKey, target: SqlTableEntry | undefined): readonly string[] {
  return references ?? target?.constraints?.primaryKey?.columns ?? [];
}

/** By their names in lower case. */
async function ownTables(sources: TableSources, options: CallOptions): Promise<ReadonlyMap<string, SqlTableEntry>> {
  const tables = new Map<string, SqlTableEntry>();
  const filter = { catalog: framesCatalog, schemaPattern: framesSchema };
  for await (const table of listTables(sources, filter, options)) tables.set(asciiLower(table.name), table);
  return tables;
}

type Filter = Parameters<typeof listTables>[1];

function filterOf({ catalog, schema, table }: WantedTable): Filter {
  return { catalog, schemaPattern: schema && literally(schema), tablePattern: literally(table) };
}

function matcher(wanted: WantedTable): (table: Pick<SqlTableEntry, 'catalog' | 'schema' | 'name'>) => boolean {
  const { catalog, schemaPattern, tablePattern } = filterOf(wanted);
  const [catalogFits, schemaFits, nameFits] = [
    likePattern(catalog && literally(catalog)),
    likePattern(schemaPattern),
    likePattern(tablePattern),
  ];
  return (table) => catalogFits(table.catalog) && schemaFits(table.schema) && nameFits(table.name);
}

/** A name is no pattern here. */
function literally(name: string): string {
  return name.replaceAll(/[%_\\]/g, '\\$&');
}
