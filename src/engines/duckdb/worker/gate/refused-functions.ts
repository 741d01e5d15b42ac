import { settingNames } from '../../../../core/statement-settings.ts';
import { type Refusal, refusalLookup } from '../../../../core/text/refused-names.ts';

const frameTables: Pick<Refusal, 'hint'> = { hint: 'name a frame as a table; SHOW TABLES lists them' };
const noSqlText: Pick<Refusal, 'hint'> = { hint: 'send that SQL as a statement of its own' };

/** Functions of DuckDB that callers may not use, and why. Both in expressions and in FROM. */
const refusals: readonly Refusal[] = [
  {
    reason: 'it reads files',
    ...frameTables,
    names: `glob parquet_bloom_probe parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata
      parquet_scan parquet_schema read_blob read_csv read_csv_auto read_duckdb read_json read_json_auto
      read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text
      sniff_csv`,
  },
  {
    reason: 'it reads memory by its address',
    ...frameTables,
    names: 'arrow_scan arrow_scan_dumb seq_scan',
  },
  {
    reason: 'it runs SQL that is given as text',
    ...noSqlText,
    names: `query query_table json_execute_serialized_sql json_serialize_plan json_serialize_sql json_deserialize_sql
      sql_auto_complete check_peg_parser`,
  },
  {
    reason: 'it tells about the server, not about frames',
    hint: 'SHOW TABLES lists the frames and DESCRIBE the columns of one',
    names: `duckdb_approx_database_count duckdb_connection_count duckdb_coordinate_systems duckdb_extensions
      duckdb_external_file_cache duckdb_log* duckdb_memory duckdb_optimizers duckdb_prepared_statements
      duckdb_profiling_settings duckdb_secret* duckdb_settings duckdb_table_sample duckdb_temporary_files
      duckdb_variables pragma_database_size pragma_last_profiling_output pragma_metadata_info pragma_platform
      pragma_storage_info pragma_user_agent current_query get_block_size which_secret inet_* pg_conf_load_time
      pg_postmaster_start_time`,
  },
  {
    reason: 'it reads settings of the server',
    hint: `readable are ${settingNames.join(', ')}, by a name that is a literal`,
    names: 'current_setting',
  },
  {
    reason: 'it reads or changes settings of the server',
    names: `getvariable getenv checkpoint force_checkpoint disable_* enable_* truncate_duckdb_logs
      verify_* add_parquet_key all_profiling_output collations copy_database database_list database_size
      extension_versions functions import_database metadata_info platform show show_databases show_tables
      show_tables_expanded storage_info table_info user_agent write_log parse_duckdb_log_message`,
  },
  {
    reason: 'a query has no session: nothing is kept from one to the next',
    names: 'current_connection_id current_query_id current_transaction_id txid_current nextval currval',
  },
  { reason: 'it only waits', names: 'sleep_ms pg_sleep' },
  {
    reason: 'it takes bytes for values without a check',
    hint: 'use CAST(… AS VARIANT) or CAST(… AS GEOMETRY)',
    names: 'variant_bytes_to_variant variant_to_parquet_variant st_geomfromwkb',
  },
  {
    reason: 'it makes types while the query runs',
    hint: 'use CAST(… AS type)',
    names: 'get_type make_type',
  },
  {
    reason: 'it is internal to DuckDB',
    names: '__internal_* combine finalize icu_collate_* unpivot_list',
  },
  {
    reason: 'it shows values of rows that the statement does not read',
    hint: 'use min(column) and max(column)',
    names: 'stats',
  },
];

/** Why a function is refused, if it is one that DuckDB has. The name in lower case. */
export const refusalOf = refusalLookup(refusals);
