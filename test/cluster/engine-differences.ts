export type EngineLabel = 'local' | 'sail' | 'spark';

/** How a value of a type comes out of an engine where it is not as from the local one. */
interface Difference {
  /** In `columns`. */
  readonly column?: object;
  /** Raw JSON of the lowest, the highest and a usual value. */
  readonly cells?: readonly string[];
  /** As apache-arrow writes the type. */
  readonly arrow?: string;
  /** The engine cannot read it: what its error has. */
  readonly refused?: object;
}

const jsonAsText: Difference = {
  column: { type: 'VARCHAR' },
  cells: ['"null"', String.raw`"{\"deep\":[1,{\"x\":null}]}"`, '"[1, 2]"'],
};
const refused: Difference = { refused: { status: 400 } };
const nanosecondsRefused =
  'column "value" of frame type_timestamp_ns holds timestamps of nanoseconds, which engine cluster cannot send';

/** By the columns of the demo frame `types`. docs/reference/types.md tells the same. */
const differences: Readonly<Record<string, Partial<Record<EngineLabel, Difference>>>> = {
  uint8: { spark: { arrow: 'Int16' } },
  uint16: { spark: { arrow: 'Int32' } },
  uint32: { spark: { arrow: 'Int64' } },
  uint64: { spark: { arrow: 'Decimal[20e0]' } },
  timestamp_ns: {
    sail: { refused: { status: 400, code: 'unsupported_type', error: nanosecondsRefused } },
    spark: {
      column: { type: 'LONG' },
      cells: ['-9223286400000000000', '9223372036854775806', '1769860800123456789'],
      arrow: 'Int64',
    },
  },
  time: {
    spark: {
      cells: ['"00:00:00.000000000"', '"23:59:59.999999000"', '"12:00:00.000000000"'],
      arrow: 'Time64<NANOSECOND>',
    },
  },
  interval: { sail: refused, spark: refused },
  uuid: {
    sail: {
      column: { type: 'BINARY' },
      cells: ['"AAAAAAAAAAAAAAAAAAAAAA=="', '"/////////////////////w=="', '"ai8LHmwcS56aUw8dLDtKWQ=="'],
      arrow: 'Binary',
    },
    spark: refused,
  },
  json: { sail: jsonAsText, spark: jsonAsText },
};

export function differenceOf(label: EngineLabel, column: string): Difference | undefined {
  return differences[column]?.[label];
}
