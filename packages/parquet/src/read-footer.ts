import { open } from 'node:fs/promises';
import { ChunkPlaces } from './chunk-places.ts';
import { ThriftReader } from './thrift-reader.ts';

/** What the footer of a Parquet file says of it. */
export interface ParquetFacts {
  readonly rows: number;
  readonly columns: readonly ParquetColumn[];
  /** Of all column chunks. */
  readonly uncompressedBytes: number;
  /** What its writer noted, by key. */
  readonly notes: ReadonlyMap<string, string>;
  /** The decimal with the most digits, also inside of a column. Undefined where there is none. */
  readonly widestDecimal: WideDecimal | undefined;
}

export interface WideDecimal {
  readonly name: string;
  readonly precision: number;
}

export interface ParquetColumn {
  readonly name: string;
  /** One of `physicalType`; undefined where it is nested. */
  readonly physical: number | undefined;
}

/** Of values that are not nested. */
export const physicalType = {
  boolean: 0,
  int32: 1,
  int64: 2,
  float: 4,
  double: 5,
  bytes: 6,
  fixedBytes: 7,
} as const;

const magic = 'PAR1';
/** The length of the footer, and the magic number. */
const tailBytes = 8;
/** Several times what a file of a billion rows needs. */
const mostBytes = 256_000_000;
const mostSchemaNodes = 1_000_000;

/** Reads the footer of a Parquet file. Throws a RangeError where the file is not whole, or what the footer says cannot be. */
export async function readParquetFooter(path: string): Promise<ParquetFacts> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const read = async (at: number, length: number): Promise<Buffer> => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
      if (bytesRead < length) throw new RangeError('the file is too short');
      return buffer;
    };
    if (size < magic.length + tailBytes) throw new RangeError('the file is too short');
    const tail = await read(size - tailBytes, tailBytes);
    if (tail.toString('latin1', 4) !== magic) throw new RangeError('the file has no footer');
    const length = tail.readUInt32LE(0);
    const start = size - tailBytes - length;
    if (start < magic.length || length > mostBytes) throw new RangeError('the length of the footer is wrong');
    if ((await read(0, magic.length)).toString('latin1') !== magic) throw new RangeError('the file begins otherwise');
    return parquetFacts(await read(start, length), start);
  } finally {
    await file.close();
  }
}

interface SchemaNode extends ParquetColumn {
  readonly children: number;
  readonly precision: number;
}

/** What a footer says that begins at this byte of its file. Throws a RangeError where that cannot be. */
export function parquetFacts(footer: Uint8Array, start: number): ParquetFacts {
  const reader = new ThriftReader(footer);
  const places = new ChunkPlaces(magic.length, start);
  const nodes: SchemaNode[] = [];
  const notes = new Map<string, string>();
  let rows: number | undefined;
  let inGroups = 0;
  let uncompressedBytes = 0;
  reader.struct((id) => {
    switch (id) {
      case 2:
        return reader.structs(() => {
          if (nodes.push(schemaNode(reader)) > mostSchemaNodes) throw new RangeError('there are too many columns');
        });
      case 3:
        rows = reader.count();
        return true;
      case 4:
        return reader.structs(() => {
          const group = readGroup(reader, places);
          inGroups += group.rows;
          uncompressedBytes += group.uncompressedBytes;
        });
      case 5:
        return reader.structs(() => {
          const [key, value] = readNote(reader);
          notes.set(key, value);
        });
      default:
        return false;
    }
  });
  if (rows !== inGroups) throw new RangeError(`the row groups have ${inGroups} rows, and the footer says ${rows}`);
  places.check();
  return { rows, columns: outermost(nodes), uncompressedBytes, notes, widestDecimal: widestOf(nodes) };
}

function schemaNode(reader: ThriftReader): SchemaNode {
  let name = '';
  let children = 0;
  let physical: number | undefined;
  let precision = 0;
  reader.struct((id) => {
    if (id === 1) physical = reader.count();
    else if (id === 4) name = reader.text();
    else if (id === 5) children = reader.count();
    else if (id === 8) precision = reader.count();
    else return false;
    return true;
  });
  return { name, children, physical, precision };
}

function widestOf(nodes: readonly SchemaNode[]): WideDecimal | undefined {
  let widest: SchemaNode | undefined;
  for (const node of nodes) if (node.precision > (widest?.precision ?? 0)) widest = node;
  return widest;
}

function readNote(reader: ThriftReader): readonly [key: string, value: string] {
  let key = '';
  let value = '';
  reader.struct((id) => {
    if (id === 1) key = reader.text();
    else if (id === 2) value = reader.text();
    else return false;
    return true;
  });
  return [key, value];
}

interface RowGroup {
  readonly rows: number;
  readonly uncompressedBytes: number;
}

function readGroup(reader: ThriftReader, places: ChunkPlaces): RowGroup {
  let rows = 0;
  let values = 0;
  let uncompressedBytes = 0;
  let hasEmptyChunk = false;
  reader.struct((id) => {
    if (id === 1) {
      return reader.structs(() => {
        const chunk = readChunk(reader, places);
        values += chunk.values;
        uncompressedBytes += chunk.uncompressedBytes;
        hasEmptyChunk ||= chunk.values === 0;
      });
    }
    if (id !== 3) return false;
    rows = reader.count();
    return true;
  });
  if (rows > 0 && hasEmptyChunk) throw new RangeError('a column chunk has no values, and its row group has rows');
  places.addValues(Math.max(rows, values));
  return { rows, uncompressedBytes };
}

function readChunk(
  reader: ThriftReader,
  places: ChunkPlaces,
): { readonly values: number; readonly uncompressedBytes: number } {
  let values = 0;
  let uncompressedBytes = 0;
  let bytes = 0;
  let dataStart = 0;
  let dictionaryStart = 0;
  reader.struct((id) => {
    if (id !== 3) return false;
    reader.struct((fact) => {
      if (fact === 5) values = reader.count();
      else if (fact === 6) uncompressedBytes = reader.count();
      else if (fact === 7) bytes = reader.count();
      else if (fact === 9) dataStart = reader.count();
      else if (fact === 11) dictionaryStart = reader.count();
      else return false;
      return true;
    });
    return true;
  });
  // Some writers say 0 where there is no dictionary, and place chunks without values anywhere.
  if (values > 0) places.add(dictionaryStart === 0 ? dataStart : Math.min(dictionaryStart, dataStart), bytes);
  return { values, uncompressedBytes };
}

/** The schema is a tree, each node before its children. The first one is the row. */
function outermost(nodes: readonly SchemaNode[]): readonly ParquetColumn[] {
  const columns: ParquetColumn[] = [];
  for (let at = 1; at < nodes.length; ) {
    const { name = '', physical } = nodes[at] ?? {};
    columns.push({ name, physical });
    for (let missing = 1; missing > 0; at++) {
      const node = nodes[at];
      if (node === undefined) throw new RangeError('the schema ends in the middle');
      missing += node.children - 1;
    }
  }
  return columns;
}
