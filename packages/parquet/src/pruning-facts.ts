import { physicalType } from './read-footer.ts';
import { ThriftReader } from './thrift-reader.ts';

/** What of a Parquet file DuckDB's reader would skip rows by, although they meet the condition. */
export interface PruningFacts {
  /**
   * Positions of outermost columns where NaN may lie beside least and greatest values. Most writers leave it out of them, as
   * Parquet asks; to DuckDB it is the greatest number.
   */
  readonly besideNan: readonly number[];
  /**
   * Positions of outermost columns of floats and bytes that have bloom filters, which DuckDB asks for another hash than that of
   * the value (-0.0, NaN, bytes that are not printable), or bounds of bytes in the order of old writers.
   */
  readonly misread: readonly number[];
  /** Names of the outermost columns. */
  readonly names: readonly string[];
}

/** DuckDB of these versions, as our own writer, leaves the bounds out beside NaN (checked with 1.5.6 and 2.0.0). */
const writersWithoutHiddenNan = /^(?:framehold version |DuckDB version v(?:1\.5|2\.0)\.)/;

interface Leaf {
  readonly isFloat: boolean;
  readonly isBytes: boolean;
  /** Neither numbers nor texts. */
  readonly isOpaque: boolean;
  /** Of the outermost column. */
  readonly position: number;
  /** Whether it is all of the column. */
  readonly isWhole: boolean;
}

/** Throws a RangeError where the footer is damaged. */
export function pruningFacts(footer: Uint8Array): PruningFacts {
  const reader = new ThriftReader(footer);
  const nodes: SchemaNode[] = [];
  let leaves: readonly Leaf[] = [];
  let writer = '';
  let names: readonly string[] = [];
  const floatBounds = new Set<number>();
  const misread = new Set<number>();
  const readChunk = (leaf: Leaf | undefined): void => {
    const { hasBounds, hasOldBounds, hasBloomFilter } = chunkFacts(reader);
    if (leaf === undefined) return;
    if (leaf.isFloat && (hasBounds || hasOldBounds)) floatBounds.add(leaf.position);
    const isMisread =
      (hasBloomFilter && (leaf.isFloat || leaf.isOpaque)) || (leaf.isBytes && hasOldBounds && !hasBounds);
    if (isMisread && leaf.isWhole) misread.add(leaf.position);
  };
  reader.struct((id) => {
    switch (id) {
      case 2:
        reader.structs(() => nodes.push(schemaNode(reader)));
        ({ leaves, names } = columnsOf(nodes));
        return true;
      case 4:
        return reader.structs(() => {
          let at = 0;
          reader.struct((field) => field === 1 && reader.structs(() => readChunk(leaves[at++])));
        });
      case 6:
        writer = reader.text();
        return true;
      default:
        return false;
    }
  });
  return {
    besideNan: writersWithoutHiddenNan.test(writer) ? [] : [...floatBounds],
    misread: [...misread].sort((a, b) => a - b),
    names,
  };
}

interface ChunkFacts {
  readonly hasBounds: boolean;
  /** In the order of bytes with a sign, as the first writers had them. */
  readonly hasOldBounds: boolean;
  readonly hasBloomFilter: boolean;
}

function chunkFacts(reader: ThriftReader): ChunkFacts {
  const facts = { hasBounds: false, hasOldBounds: false, hasBloomFilter: false };
  const noteBounds = (id: number): false => {
    if (id === 1 || id === 2) facts.hasOldBounds = true;
    if (id === 5 || id === 6) facts.hasBounds = true;
    return false;
  };
  reader.struct((id) => {
    if (id !== 3) return false;
    reader.struct((field) => {
      if (field === 14) facts.hasBloomFilter = true;
      if (field !== 12) return false;
      reader.struct(noteBounds);
      return true;
    });
    return true;
  });
  return facts;
}

interface SchemaNode {
  readonly name: string;
  readonly children: number;
  readonly physical: number | undefined;
  readonly isRepeated: boolean;
  readonly annotation: Annotation;
}

type Annotation = 'text' | 'number' | 'float16' | undefined;

const repeated = 2;
/** By parquet.thrift's ConvertedType. */
const convertedTypes: Readonly<Record<number, Annotation>> = {
  0: 'text',
  4: 'text',
  5: 'number',
  19: 'text',
  21: 'number',
};
/** By the fields of its LogicalType. UUIDs have no bloom filter in DuckDB. */
const logicalTypes: Readonly<Record<number, Annotation>> = {
  1: 'text',
  4: 'text',
  5: 'number',
  12: 'text',
  14: 'number',
  15: 'float16',
};

function schemaNode(reader: ThriftReader): SchemaNode {
  let [children, repetition, annotation]: [number, number, Annotation] = [0, 0, undefined];
  let name = '';
  let physical: number | undefined;
  reader.struct((id) => {
    if (id === 1) physical = reader.count();
    else if (id === 3) repetition = reader.count();
    else if (id === 4) name = reader.text();
    else if (id === 5) children = reader.count();
    else if (id === 6) annotation ??= convertedTypes[reader.count()];
    else if (id === 10) {
      reader.struct((kind) => {
        annotation = logicalTypes[kind] ?? annotation;
        return false;
      });
    } else return false;
    return true;
  });
  return { name, children, physical, isRepeated: repetition === repeated, annotation };
}

/** `leaves` in the order of the column chunks of a row group. */
function columnsOf(nodes: readonly SchemaNode[]): {
  readonly leaves: readonly Leaf[];
  readonly names: readonly string[];
} {
  const names: string[] = [];
  const leaves: Leaf[] = [];
  let at = 1;
  for (let position = 0; at < nodes.length; position++) {
    names.push(nodes[at]?.name ?? '');
    const isWhole = nodes[at]?.children === 0 && !nodes[at]?.isRepeated;
    for (let missing = 1; missing > 0; missing--) {
      const node = nodes[at++];
      if (node === undefined) throw new RangeError('the schema ends in the middle');
      missing += node.children;
      if (node.children === 0) leaves.push(leafOf(node, position, isWhole));
    }
  }
  return { leaves, names };
}

function leafOf({ physical, annotation }: SchemaNode, position: number, isWhole: boolean): Leaf {
  const isBytes = physical === physicalType.bytes || physical === physicalType.fixedBytes;
  const isFloat = physical === physicalType.float || physical === physicalType.double || annotation === 'float16';
  return { isFloat, isBytes: isBytes && !isFloat, isOpaque: isBytes && annotation === undefined, position, isWhole };
}
