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

/** By the columns of the demo frame `types`. docs/reference/types.md tells the same. */
const differences: Readonly<Record<string, Partial<Record<EngineLabel, Difference>>>> = {
  uint8: { spark: { arrow: 'Int16' } },
  uint16: { spark: { arrow: 'Int32' } },
  uint32: { spark: { arrow: 'Int64' } },
  uint64: { spark: { arrow: 'Decimal[20e0]' } },
};

export function differenceOf(label: EngineLabel, column: string): Difference | undefined {
  return differences[column]?.[label];
}
