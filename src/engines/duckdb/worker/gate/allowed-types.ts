/** Ids of DuckDB's types, as its parse tree names them, that a cast may go to. */
export const allowedTypes: ReadonlySet<string> = new Set(
  `NULL BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL
  BIGNUM VARIANT GEOMETRY CHAR VARCHAR BLOB BIT UUID DATE TIME TIME_NS INTERVAL LIST ARRAY STRUCT MAP UNION ENUM`
    .split(/\s+/)
    .concat([
      'TIME WITH TIME ZONE',
      'TIMESTAMP',
      'TIMESTAMP_S',
      'TIMESTAMP_MS',
      'TIMESTAMP_NS',
      'TIMESTAMP WITH TIME ZONE',
    ]),
);

/** Types that DuckDB's parser leaves to be looked up by name. */
export const allowedTypeNames: ReadonlySet<string> = new Set(['json', 'enum', 'geometry']);

/** Names of types that are allowed, for suggestions: of those that are equally near the first is meant. */
export const suggestedTypeNames: readonly string[] =
  `int integer bigint double varchar text string boolean bool date time timestamp timestamptz decimal numeric float real
  smallint tinyint hugeint uinteger ubigint usmallint utinyint uhugeint uuid blob json interval timestamp_s timestamp_ms
  timestamp_us timestamp_ns time_ns timetz datetime char bytea binary varbinary bit bitstring long short int8 int16 int32
  int64 int128 uint8 uint16 uint32 uint64 uint128 float4 float8 struct map union enum bignum variant geometry`.split(
    /\s+/,
  );
