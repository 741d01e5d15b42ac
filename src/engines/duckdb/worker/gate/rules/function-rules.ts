import { settingNames } from '../../../../../core/sql/statement-settings.ts';
import { type Refusal, refusalLookup } from '../../../../../core/text/function-lists.ts';

/**
 * Every function that a caller's SQL may use. A test compares these lists and the reasons below with DuckDB's own
 * catalogue, so that a new version's functions are judged before they can be called.
 */
const scalarGroups = {
  operators: `!__postfix !~~ !~~* % & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~
    add subtract multiply divide mod xor`,
  conditions: `nullif greatest least error switch ifnull`,
  mathematics: `abs acos acosh asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees even exp
    factorial fdiv floor fmod gamma gcd greatest_common_divisor isfinite isinf isnan lcm least_common_multiple lgamma
    ln log log10 log2 nextafter pi pow power radians random round round_even roundbankers setseed sign signbit sin
    sinh sqrt tan tanh trunc`,
  text: `ascii bar base64 bin bit_length char_length character_length chr concat concat_ws contains damerau_levenshtein
    decode editdist3 encode ends_with format formatReadableDecimalSize formatReadableSize format_bytes from_base64
    from_binary from_hex hamming hash hex ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity lcase left
    left_grapheme len length length_grapheme levenshtein like_escape lower lpad ltrim md5 md5_number md5_number_lower
    md5_number_upper mismatches nfc_normalize not_ilike_escape not_like_escape octet_length ord parse_dirname
    parse_dirpath parse_filename parse_formatted_bytes parse_path pg_size_pretty position prefix printf regexp_escape
    regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
    regexp_split_to_table repeat replace reverse right right_grapheme rpad rtrim sha1 sha256 split split_part
    starts_with str_split str_split_regex string_split string_split_regex string_to_array strip_accents strlen strpos
    substr substring substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unbin unhex
    unicode upper url_decode url_encode icu_sort_key`,
  bits: `bit_position bitstring get_bit set_bit`,
  time: `age ago century current_date current_localtime current_localtimestamp date_add date_diff date_part date_sub
    date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade
    epoch epoch_ms epoch_ns epoch_us era get_current_time get_current_timestamp hour isodow isoyear julian last_day
    make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium
    millisecond minute month monthname nanosecond normalized_interval now quarter second strftime strptime time_bucket
    timetz_byte_comparable timezone timezone_hour timezone_minute to_centuries to_days to_decades to_hours
    to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks
    to_years today transaction_timestamp try_strptime week weekday weekofyear year yearweek`,
  uuids: `gen_random_uuid uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7`,
  lists: `aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
    array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product
    array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product
    array_intersect array_length array_negative_dot_product array_negative_inner_product array_pop_back
    array_pop_front array_position array_prepend array_push_back array_push_front array_reduce array_resize
    array_reverse array_reverse_sort array_select array_slice array_sort array_to_string array_to_string_comma_default
    array_transform array_unique array_value array_where array_zip equi_width_bins filter flatten generate_series
    generate_subscripts grade_up list_aggr list_aggregate list_any_value list_append list_apply
    list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat
    list_concat list_contains list_cosine_distance list_cosine_similarity list_count list_distance list_distinct
    list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all
    list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis list_kurtosis_pop
    list_last list_mad list_max list_median list_min list_mode list_negative_dot_product list_negative_inner_product
    list_pack list_position list_prepend list_product list_reduce list_resize list_reverse list_reverse_sort
    list_select list_sem list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum
    list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip range reduce unnest unlist`,
  structs: `element_at row struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof
    struct_insert struct_keys struct_pack struct_position struct_update struct_values union_extract union_tag
    union_value`,
  maps: `cardinality map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
    map_extract_value map_from_entries map_keys map_values`,
  variants: `variant_extract variant_normalize variant_typeof`,
  geometries: `st_asbinary st_astext st_aswkb st_aswkt st_crs st_intersects_extent st_setcrs`,
  types: `can_cast_implicitly cast_to_type constant_or_null create_sort_key remap_struct replace_type vector_type`,
  enums: `enum_code enum_first enum_last enum_range enum_range_boundary`,
  json: `array_to_json from_json from_json_strict json json_array json_array_length json_contains json_exists
    json_extract json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object
    json_group_structure json_structure
    json_keys json_merge_patch json_object json_pretty json_quote json_transform json_transform_strict json_type
    json_valid json_value row_to_json to_json`,
  /** Names and constants; client tools read them when they connect. */
  about: `alias current_catalog current_database current_role current_schema current_user pg_typeof session_user typeof
    user version`,
} as const;

const aggregateGroups = {
  aggregates: `any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null
    arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor
    bitstring_agg bool_and bool_or corr count count_if count_star countif covar_pop covar_samp entropy favg first fsum
    geomean geometric_mean group_concat histogram histogram_exact is_histogram_other_bin kahan_sum kurtosis
    kurtosis_pop last list listagg mad max max_by mean median min min_by mode product quantile quantile_cont
    quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum sum_no_overflow sumkahan var_pop
    var_samp variance wavg weighted_avg`,
  windows: `cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense
    row_number`,
} as const;

const tableGroups = {
  rows: `generate_series range repeat repeat_row unnest`,
  json: `json_each json_tree`,
  about: `icu_calendar_names pg_timezone_names`,
  samples: `test_all_types test_vector_types`,
  /** Functions of a table: of its name, which is checked as such, or of a subquery. */
  tables: `histogram histogram_values summary`,
} as const;

/** Functions that describe tables, columns and types, for client tools. They reveal nothing about the process. */
const catalogGroups = {
  search: `current_schemas in_search_path`,
  types: `format_pg_type format_type map_to_pg_oid`,
  texts: `col_description obj_description shobj_description pg_get_constraintdef pg_get_expr pg_get_viewdef`,
  visible: `pg_collation_is_visible pg_conversion_is_visible pg_function_is_visible pg_opclass_is_visible
    pg_operator_is_visible pg_opfamily_is_visible pg_table_is_visible pg_ts_config_is_visible pg_ts_dict_is_visible
    pg_ts_parser_is_visible pg_ts_template_is_visible pg_type_is_visible pg_is_other_temp_schema pg_my_temp_schema`,
  rights: `has_any_column_privilege has_column_privilege has_database_privilege has_foreign_data_wrapper_privilege
    has_function_privilege has_language_privilege has_schema_privilege has_sequence_privilege has_server_privilege
    has_table_privilege has_tablespace_privilege pg_has_role`,
} as const;

const catalogTableGroups = {
  duckdb: `duckdb_columns duckdb_constraints duckdb_databases duckdb_dependencies duckdb_functions duckdb_indexes
    duckdb_keywords duckdb_schemas duckdb_sequences duckdb_tables duckdb_types duckdb_views`,
  pragmas: `pragma_collations pragma_show pragma_table_info pragma_version`,
} as const;

/** Names by which expressions call functions: scalar, aggregate, window. Lower case. */
export const allowedFunctions = namesOf({ ...scalarGroups, ...aggregateGroups });

/** Those of them that make one value of several rows. */
export const aggregateFunctions = namesOf({
  aggregates: aggregateGroups.aggregates,
  json: 'json_group_array json_group_object json_group_structure',
});

/** Functions that stand in FROM. Lower case. */
export const allowedTableFunctions = namesOf(tableGroups);

/** Both kinds together: the functions of a statement that reads catalogs and no rows of tables. */
export const catalogFunctions = namesOf(catalogGroups);
export const catalogTableFunctions = namesOf(catalogTableGroups);

function namesOf(groups: Readonly<Record<string, string>>): ReadonlySet<string> {
  return new Set(Object.values(groups).flatMap((names) => names.toLowerCase().split(/\s+/)));
}

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

/** Reason for which a function of DuckDB is refused. The name in lower case. */
export const refusalOf = refusalLookup(refusals);
