/** DuckDB's reserved words: a name only in quotes. */
export const reservedWords: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default
  deferrable desc describe distinct do else end except false fetch for foreign from group having in initially
  intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing
  primary qualify references returning select show some summarize symmetric table then to trailing true union unique
  unpivot using variadic when where window with`.split(/\s+/),
);

/** DuckDB's own views: they answer in every schema of every database, so no frame can be read by these names. */
export const systemTables: ReadonlySet<string> = new Set(
  `duckdb_columns duckdb_constraints duckdb_databases duckdb_indexes duckdb_logs duckdb_schemas duckdb_tables
  duckdb_types duckdb_views pragma_database_list sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema
  pg_am pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_database pg_depend pg_description pg_enum
  pg_index pg_indexes pg_namespace pg_prepared_statements pg_proc pg_sequence pg_sequences pg_settings pg_tables
  pg_tablespace pg_type pg_views`.split(/\s+/),
);

export const systemSchemas: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog']);
