interface XdbcType {
  readonly name: string;
  /** The number that JDBC and ODBC have for it. */
  readonly dataType: number;
  /** Digits of an exact number, bits of an approximate one, characters of a date written out. */
  readonly columnSize: number | null;
  readonly quoted?: boolean;
  readonly createParams?: readonly string[];
  readonly isText?: boolean;
  readonly number?: {
    readonly unsigned: boolean;
    readonly radix: 2 | 10;
    readonly scale: readonly [number, number] | null;
  };
  readonly subcode?: number;
}

const xdbc = {
  varchar: 12,
  decimal: 3,
  integer: 4,
  smallint: 5,
  real: 7,
  double: 8,
  datetime: 9,
  interval: 10,
  date: 91,
  time: 92,
  timestamp: 93,
  varbinary: -3,
  bigint: -5,
  tinyint: -6,
  bit: -7,
} as const;

const nullable = 1;
const searchableBasic = 2;
const searchableFull = 3;

const whole = (name: string, dataType: number, columnSize: number, unsigned = false): XdbcType => ({
  name,
  dataType,
  columnSize,
  number: { unsigned, radix: 10, scale: [0, 0] },
});
const calendar = (name: string, dataType: number, columnSize: number, subcode: number): XdbcType => ({
  name,
  dataType,
  columnSize,
  quoted: true,
  subcode,
});

const types: readonly XdbcType[] = [
  { name: 'BOOLEAN', dataType: xdbc.bit, columnSize: 1 },
  whole('TINYINT', xdbc.tinyint, 3),
  whole('SMALLINT', xdbc.smallint, 5),
  whole('INTEGER', xdbc.integer, 10),
  whole('BIGINT', xdbc.bigint, 19),
  whole('HUGEINT', xdbc.decimal, 38),
  // An unsigned type is reported as the smallest signed one that holds it.
  whole('UTINYINT', xdbc.smallint, 3, true),
  whole('USMALLINT', xdbc.integer, 5, true),
  whole('UINTEGER', xdbc.bigint, 10, true),
  whole('UBIGINT', xdbc.decimal, 20, true),
  { name: 'FLOAT', dataType: xdbc.real, columnSize: 24, number: { unsigned: false, radix: 2, scale: null } },
  { name: 'DOUBLE', dataType: xdbc.double, columnSize: 53, number: { unsigned: false, radix: 2, scale: null } },
  {
    name: 'DECIMAL',
    dataType: xdbc.decimal,
    columnSize: 38,
    createParams: ['precision', 'scale'],
    number: { unsigned: false, radix: 10, scale: [0, 38] },
  },
  { name: 'VARCHAR', dataType: xdbc.varchar, columnSize: null, quoted: true, isText: true },
  { name: 'JSON', dataType: xdbc.varchar, columnSize: null, quoted: true, isText: true },
  { name: 'UUID', dataType: xdbc.varchar, columnSize: 36, quoted: true },
  { name: 'BLOB', dataType: xdbc.varbinary, columnSize: null, quoted: true },
  calendar('DATE', xdbc.date, 10, 1),
  calendar('TIME', xdbc.time, 15, 2),
  calendar('TIME_NS', xdbc.time, 18, 2),
  calendar('TIMESTAMP_S', xdbc.timestamp, 19, 3),
  calendar('TIMESTAMP_MS', xdbc.timestamp, 23, 3),
  calendar('TIMESTAMP', xdbc.timestamp, 26, 3),
  calendar('TIMESTAMP_NS', xdbc.timestamp, 29, 3),
  calendar('TIMESTAMP WITH TIME ZONE', xdbc.timestamp, 32, 5),
  { name: 'INTERVAL', dataType: xdbc.interval, columnSize: null, quoted: true, subcode: 10 },
];

/** The rows of GetXdbcTypeInfo, by data type and name; 0 selects all of them. */
export function xdbcTypeRows(dataType: number): readonly (readonly unknown[])[] {
  return types
    .filter((type) => dataType === 0 || type.dataType === dataType)
    .sort((a, b) => a.dataType - b.dataType || (a.name < b.name ? -1 : 1))
    .map(rowOf);
}

/** In the order of `xdbcTypeFields`. */
function rowOf(type: XdbcType): readonly unknown[] {
  const quote = type.quoted === true ? "'" : null;
  return [
    type.name,
    type.dataType,
    type.columnSize,
    quote,
    quote,
    type.createParams ?? null,
    nullable,
    type.isText === true,
    type.isText === true ? searchableFull : searchableBasic,
    type.number?.unsigned ?? null,
    false,
    type.number === undefined ? null : false,
    type.name,
    type.number?.scale?.[0] ?? null,
    type.number?.scale?.[1] ?? null,
    sqlDataType(type),
    type.subcode ?? null,
    type.number?.radix ?? null,
    null,
  ];
}

function sqlDataType({ dataType }: XdbcType): number {
  return dataType >= xdbc.date ? xdbc.datetime : dataType;
}
