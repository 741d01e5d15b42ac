import { duckdbFunctions, sparkFunctions } from './functions.ts';

/** The dialect of a text. */
export type DialectName = 'duckdb' | 'questdb' | 'spark';

export interface Dialect {
  readonly name: DialectName;
  readonly title: string;
  readonly keywords: string;
  readonly types: string;
  readonly functions: string;
  /** The quote of a name that needs one. */
  readonly quote: '"' | '`';
  readonly hasBackslashEscapes: boolean;
  readonly hasDollarQuotes: boolean;
}

const commonKeywords = `all and any as asc between by case cast create cross desc distinct drop else end escape except
exists extract false first following from full group having if in inner insert intersect into interval is join last
lateral left like limit natural not null nulls offset on or order outer over partition preceding range right rows
select set table then true unbounded union using values when where window with`;

const commonTypes = `bigint binary boolean char date decimal double float int integer smallint timestamp tinyint
varchar`;

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  duckdb: {
    name: 'duckdb',
    title: 'DuckDB',
    keywords: `${commonKeywords} anti asof columns cube current describe exclude explain filter for glob grouping ilike
      materialized percent pivot positional qualify recursive replace respect ignore returning rollup row sample semi
      sets show similar some summarize tables tablesample try_cast unnest unpivot`,
    types: `${commonTypes} bit blob bool enum float4 float8 hugeint int1 int2 int4 int8 json list long map numeric real
      short string struct text time timestamptz ubigint uhugeint uinteger usmallint utinyint uuid`,
    functions: duckdbFunctions,
    quote: '"',
    hasBackslashEscapes: false,
    hasDollarQuotes: true,
  },
  questdb: {
    name: 'questdb',
    title: 'QuestDB',
    keywords: `${commonKeywords} add align alter asof attach backup bypass cache calendar capacity column copy dedup
      detach explain fill format geohash index keys keep latest linear lt materialized month none nocache observation
      partition prev refresh rename sample show splice squash symbol table tables tolerance ttl truncate type unpivot
      update upsert vacuum view wal week year zone`,
    types: `${commonTypes} byte geohash ipv4 long long128 long256 short string symbol timestamp_ns uuid varchar`,
    functions: `abs acos approx_count_distinct approx_median approx_percentile arg_max arg_min array_avg array_sum asin
      atan avg ceil coalesce concat corr cos count count_distinct covar_pop covar_samp cume_dist date_trunc dateadd
      datediff day day_of_week days_in_month degrees dense_rank dot_product exp extract first first_not_null
      first_value floor greatest haversine_dist_deg hour ilike is_leap_year isOrdered ksum l2price lag last
      last_not_null last_value lead least left length ln log long_sequence lower lpad ltrim make_geohash max micros
      millis min minute mode month now nsum nullif percent_rank pg_size_pretty position power quote_ident radians rank
      regexp_replace regr_intercept regr_slope replace reverse right rnd_double rnd_int rnd_symbol round round_down
      round_half_even round_up row_number rpad rtrim second sign sin split_part sqrt starts_with stddev stddev_pop
      stddev_samp strftime string_agg string_distinct_agg strpos substring sum sysdate systimestamp tables table_columns
      tan timestamp_ceil timestamp_floor timestamp_shuffle to_char to_date to_long128 to_lowercase to_str to_timestamp
      to_timezone to_uppercase to_utc today tomorrow trim twap typeOf unnest upper var_pop var_samp variance vwap
      week_of_year weighted_avg year yesterday`,
    quote: '"',
    hasBackslashEscapes: false,
    hasDollarQuotes: false,
  },
  spark: {
    name: 'spark',
    title: 'Spark',
    keywords: `${commonKeywords} anti cluster cube current distribute div filter for grouping ilike pivot recursive
      regexp replace respect ignore rlike rollup row semi sets show similar some sort tables tablesample try_cast
      unpivot view`,
    types: `${commonTypes} array byte long map numeric short string struct timestamp_ltz timestamp_ntz variant void`,
    functions: sparkFunctions,
    quote: '`',
    hasBackslashEscapes: true,
    hasDollarQuotes: false,
  },
};

/** The dialect that an engine of this kind reads; `kind` as in `GET /engines`. */
export function dialectOf(kind: string | undefined): Dialect {
  if (kind === undefined || kind === 'duckdb') return dialects.duckdb;
  return kind === 'spark-connect' ? dialects.spark : dialects.questdb;
}

export function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
