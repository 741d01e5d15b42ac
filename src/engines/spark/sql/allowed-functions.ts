/**
 * Every function that a caller's SQL may use on a cluster: the functions of Spark 4.1 without those in check-function.ts. A
 * function on neither list does not exist for a caller, even if an operator gave the cluster functions of their own.
 */
const groups = {
  conditions: `assert_true coalesce decode equal_null greatest if ifnull isnan isnotnull isnull least nanvl nullif
    nullifzero nvl nvl2 raise_error when zeroifnull`,
  mathematics: `abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc degrees div
    e exp expm1 factorial floor getbit hypot ln log log10 log1p log2 mod negative pi pmod positive pow power radians rand
    randn random randstr rint round sec shiftleft shiftright shiftrightunsigned sign signum sin sinh sqrt tan tanh
    try_add try_divide try_mod try_multiply try_subtract uniform width_bucket bit_count bit_get hex unhex crc32 md5 sha
    sha1 sha2 hash xxhash64`,
  text: `ascii base64 bit_length btrim char char_length character_length chr collate collation concat concat_ws contains
    elt encode endswith find_in_set format_number format_string initcap instr is_valid_utf8 lcase left len length
    levenshtein like ilike locate lower lpad ltrim luhn_check make_valid_utf8 mask octet_length overlay parse_url
    position printf quote regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like
    regexp_replace regexp_substr repeat replace reverse right rlike rpad rtrim sentences soundex space split split_part
    startswith string substr substring substring_index to_binary to_char to_number to_varchar translate trim
    try_parse_url try_to_binary try_to_number try_url_decode try_validate_utf8 ucase unbase64 upper url_decode url_encode
    validate_utf8 aes_decrypt aes_encrypt try_aes_decrypt uuid`,
  casts: `bigint binary boolean date decimal double float int smallint timestamp tinyint typeof time`,
  time: `add_months convert_timezone curdate current_date current_time current_timestamp current_timezone date_add
    date_diff date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname
    dayofmonth dayofweek dayofyear extract from_unixtime from_utc_timestamp hour last_day localtimestamp make_date
    make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval
    minute month monthname months_between next_day now quarter second session_window time_diff time_trunc timediff
    timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff to_date to_time to_timestamp
    to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp trunc try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time try_to_timestamp unix_date unix_micros
    unix_millis unix_seconds unix_timestamp weekday weekofyear window window_time year`,
  collections: `aggregate array array_append array_compact array_contains array_distinct array_except array_insert
    array_intersect array_join array_max array_min array_position array_prepend array_remove array_repeat array_size
    array_sort array_union arrays_overlap arrays_zip cardinality element_at exists filter flatten forall get map
    map_concat map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with
    named_struct reduce sequence shuffle size slice sort_array str_to_map struct transform transform_keys
    transform_values try_element_at zip_with`,
  rows: `explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
    monotonically_increasing_id spark_partition_id`,
  documents: `from_csv from_json get_json_object is_variant_null json_array_length json_object_keys parse_json
    schema_of_csv schema_of_json schema_of_variant schema_of_variant_agg to_csv to_json to_variant_object try_parse_json
    try_variant_get variant_get`,
  aggregates: `any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine approx_top_k_estimate array_agg avg bit_and bit_or bit_xor bitmap_and_agg
    bitmap_bit_position bitmap_bucket_number bitmap_construct_agg bitmap_count bitmap_or_agg bool_and
    bool_or collect_list collect_set corr count count_if count_min_sketch covar_pop covar_samp every first
    first_value grouping grouping_id histogram_numeric hll_sketch_agg hll_sketch_estimate hll_union
    hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint
    kll_sketch_agg_double kll_sketch_agg_float kll_sketch_get_n_bigint kll_sketch_get_n_double
    kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double
    kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double
    kll_sketch_get_rank_float kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float
    kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float kurtosis last
    last_value listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum theta_difference
    theta_intersection theta_intersection_agg theta_sketch_agg theta_sketch_estimate theta_union
    theta_union_agg try_avg try_sum var_pop var_samp variance`,
  windows: `cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number`,
  /** Names and constants; client tools read them when they connect. */
  about: `version`,
} as const;

const tableNames = `explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer range stack
  variant_explode variant_explode_outer`;

/** Names by which expressions call functions. Lower case. */
export const allowedFunctions: ReadonlySet<string> = new Set(
  Object.values(groups).flatMap((names) => names.split(/\s+/)),
);

/** Functions that stand in FROM or LATERAL VIEW. Lower case. */
export const allowedTableFunctions: ReadonlySet<string> = new Set(tableNames.split(/\s+/));
