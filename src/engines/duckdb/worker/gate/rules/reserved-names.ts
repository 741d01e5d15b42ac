import { asciiLower } from '../../../../../core/text/ascii-lower.ts';

/** DuckDB's reserved words: a name only in quotes. */
export const reservedWords: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default
  deferrable desc describe distinct do else end except false fetch for foreign from group having in initially
  intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing
  primary qualify references returning select show some summarize symmetric table then to trailing true union unique
  unpivot using variadic when where window with`.split(/\s+/),
);

/** DuckDB's own views of tables, columns and types: catalogs. No frame can be read by these names. */
export const catalogViews: ReadonlySet<string> = new Set(
  `duckdb_columns duckdb_constraints duckdb_databases duckdb_indexes duckdb_schemas duckdb_tables duckdb_types
  duckdb_views pragma_database_list sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema pg_am pg_attrdef
  pg_attribute pg_class pg_collation pg_constraint pg_database pg_depend pg_description pg_enum pg_index pg_indexes
  pg_namespace pg_proc pg_sequence pg_sequences pg_tables pg_tablespace pg_type pg_views`.split(/\s+/),
);

/** Those of the schema information_schema. */
export const informationViews: ReadonlySet<string> = new Set(
  `character_sets check_constraints columns constraint_column_usage constraint_table_usage key_column_usage
  referential_constraints schemata table_constraints tables views`.split(/\s+/),
);

/** DuckDB's own views of the process: no caller reads them. */
const serverViews = ['duckdb_logs', 'pg_prepared_statements', 'pg_settings'];

/** All that DuckDB finds without a schema. */
export const systemTables: ReadonlySet<string> = new Set([...catalogViews, ...serverViews]);

/** Whether a name is that of a view of DuckDB's own, or may be in its next version. */
export function isSystemName(name: string): boolean {
  const lower = asciiLower(name);
  return systemTables.has(lower) || lower.startsWith('duckdb_');
}

export const systemSchemas: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog']);
