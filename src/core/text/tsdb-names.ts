/**
 * Functions of QuestDB 9.3.4 that only compute, or make rows of numbers. Its other functions read files, change something, or show the
 * process, other statements, all tables or the users. A test compares this with `functions()`.
 */
export const computingFunctions: ReadonlySet<string> = new Set(
  `abs acos and approx_count_distinct approx_median approx_percentile arg_max arg_min array array_avg array_build array_count array_cum_sum
  array_elem_avg array_elem_max array_elem_min array_elem_sum array_max array_min array_position array_reverse array_sort array_stddev
  array_stddev_pop array_stddev_samp array_sum asin atan atan2 avg base64 between bit_and bit_or bit_xor bool_and bool_or case cast ceil ceiling
  coalesce concat corr cos cot count count_distinct covar_pop covar_samp date_trunc dateadd datediff day day_of_week day_of_week_sunday_first
  days_in_month degrees dense_rank dim_length dot_product exp extract first first_not_null first_value flatten floor from_base64 generate_series
  geo_distance_meters geo_within_radius_latlon geomean greatest haversine_dist_deg hour ilike in insertion_point interval interval_end
  interval_start is_leap_year isordered json_extract ksum l2price lag last last_not_null last_value lead least left length length_bytes like
  list ln log long_sequence lower lpad ltrim make_geohash matmul max md5 micros mid millis min minute mode month nanos netmask not now now_ns
  nsum nullif or percent_rank pi position power quote_ident radians rank regexp_replace regr_intercept regr_slope replace right rnd_bin
  rnd_boolean rnd_byte rnd_char rnd_date rnd_decimal rnd_double rnd_double_array rnd_float rnd_geohash rnd_int rnd_interval rnd_ipv4 rnd_log
  rnd_long rnd_long256 rnd_short rnd_str rnd_symbol rnd_symbol_weighted rnd_symbol_zipf rnd_timestamp rnd_timestamp_ns rnd_uuid4 rnd_varchar
  round round_down round_half_even round_up row_number rpad rtrim second sha1 sha256 shift sign sin size_pretty split_part spread spread_bps
  sqrt starts_with stddev stddev_pop stddev_samp string_agg string_distinct_agg strpos substring sum switch sysdate systimestamp systimestamp_ns
  tan timestamp_ceil timestamp_floor timestamp_sequence timestamp_sequence_ns timestamp_shuffle to_char to_date to_long128 to_long256
  to_lowercase to_pg_date to_str to_timestamp to_timestamp_ns to_timezone to_uppercase to_utc to_uuid today tomorrow transpose trim twap typeof
  upper var_pop var_samp variance vwap week_of_year weighted_avg weighted_stddev weighted_stddev_freq weighted_stddev_rel within within_box
  within_radius wmid year yesterday`.split(/\s+/),
);

/** Words before a parenthesis that are no function. */
export const wordsBeforeParenthesis: ReadonlySet<string> = new Set(
  `all any as by decimal default distinct else end except exclude fill for from geohash group having intersect join lateral limit offset on order
  over partition pivot sample select some then timestamp to union unnest values when where with`.split(/\s+/),
);

/** Functions of QuestDB where a table is expected, also without parentheses. */
export const catalogs: ReadonlySet<string> = new Set(
  `all_tables checkpoint_status export_activity export_files functions import_files keywords materialized_views memory_metrics query_activity
  reader_pool table_storage table_writer_metrics tables views wal_tables writer_pool`.split(/\s+/),
);

/** The same where a value is expected. Constants such as `version` are left out: columns have such names. */
export const valuesOfTheServer: ReadonlySet<string> = new Set(
  `build current_data_id current_user dump_memory_usage dump_thread_stacks flush_query_cache session_user txid_current`.split(
    /\s+/,
  ),
);

/** Catalogs of other databases, wherever they stand. */
export const catalogPrefix = /^(?:pg_|information_schema\.)/;

/** Tables of QuestDB's own. */
export const ownTablePrefix = /^(?:sys\.|telemetry|_query_trace)/;
