/** Ids of DuckDB's types, as its parse tree names them, that a cast may go to. */
export const allowedTypes: ReadonlySet<string> = new Set(
  `NULL BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL
  CHAR VARCHAR BLOB BIT UUID DATE TIME TIME_NS INTERVAL LIST ARRAY STRUCT MAP UNION ENUM`
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
export const allowedTypeNames: ReadonlySet<string> = new Set(['json', 'enum']);
