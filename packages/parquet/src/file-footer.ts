import { type ColumnChunk, encoding } from './column-chunk.ts';
import type { LogicalType, ParquetType } from './parquet-type.ts';
import { ThriftWriter } from './thrift-writer.ts';

export interface FooterColumn {
  readonly name: string;
  readonly type: ParquetType;
}

/** Where a row group's chunk lies and what is in it. */
export type PlacedChunk = Omit<ColumnChunk, 'pieces'> & { readonly offset: number };

/** A row group with what the footer says of it: a file may have so many chunks that the heap does not hold them as objects. */
export interface RowGroup {
  readonly rows: number;
  readonly bytes: number;
  readonly facts: Uint8Array;
}

export interface FileFacts {
  readonly columns: readonly FooterColumn[];
  readonly groups: readonly RowGroup[];
  readonly metadata: ReadonlyMap<string, string>;
}

const formatVersion = 1;
const optional = 1;
const uncompressed = 0;
/** In the form that readers look for to know which old writers' faults to expect. */
const writer = 'framehold version 1 (build 1)';

/** What stands at the end of a Parquet file, without its length and mark. */
export function fileFooter({ columns, groups, metadata }: FileFacts): Uint8Array {
  const out = new ThriftWriter();
  out.i32(1, formatVersion);
  out.structs(2, [undefined, ...columns], (column) => {
    if (column === undefined) {
      out.text(4, 'schema');
      out.i32(5, columns.length);
    } else writeColumn(out, column);
  });
  out.i64(
    3,
    groups.reduce((sum, { rows }) => sum + rows, 0),
  );
  out.encodedStructs(
    4,
    groups.map(({ facts }) => facts),
  );
  if (metadata.size > 0) {
    out.structs(5, [...metadata], ([key, value]) => {
      out.text(1, key);
      out.text(2, value);
    });
  }
  out.text(6, writer);
  // Without it, readers do not trust the least and greatest values.
  out.structs(7, columns, () => out.struct(1, () => {}));
  return out.end();
}

function writeColumn(out: ThriftWriter, { name, type }: FooterColumn): void {
  const { physical, length, converted, logical } = type;
  out.i32(1, physical);
  if (length !== undefined) out.i32(2, length);
  out.i32(3, optional);
  out.text(4, name);
  if (converted !== undefined) out.i32(6, converted);
  if (logical?.kind === 'decimal') {
    out.i32(7, logical.scale);
    out.i32(8, logical.precision);
  }
  if (logical !== undefined) out.struct(10, () => writeLogicalType(out, logical));
}

function writeLogicalType(out: ThriftWriter, logical: LogicalType): void {
  const timed = (isInUtc: boolean, unit: 'us' | 'ns'): void => {
    out.bool(1, isInUtc);
    out.struct(2, () => out.struct(unit === 'us' ? 2 : 3, () => {}));
  };
  switch (logical.kind) {
    case 'decimal':
      out.struct(5, () => {
        out.i32(1, logical.scale);
        out.i32(2, logical.precision);
      });
      return;
    case 'time':
      out.struct(7, () => timed(false, logical.unit));
      return;
    case 'timestamp':
      out.struct(8, () => timed(logical.zoned, logical.unit));
      return;
    case 'json':
      out.struct(12, () => {});
      return;
    default:
      logical satisfies never;
  }
}

export function rowGroup(rows: number, chunks: readonly PlacedChunk[], columns: readonly FooterColumn[]): RowGroup {
  const out = new ThriftWriter();
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  out.structs(1, chunks, (chunk, index) => {
    out.i64(2, 0);
    out.struct(3, () => writeChunk(out, chunk, rows, columns[index] as FooterColumn));
  });
  out.i64(2, bytes);
  out.i64(3, rows);
  return { rows, bytes, facts: out.end() };
}

function writeChunk(out: ThriftWriter, chunk: PlacedChunk, rows: number, { name, type }: FooterColumn): void {
  const { offset, bytes, dictionaryBytes, nulls, range } = chunk;
  const hasDictionary = dictionaryBytes > 0;
  out.i32(1, type.physical);
  out.i32s(2, [encoding.plain, encoding.levels, ...(hasDictionary ? [encoding.dictionary] : [])]);
  out.texts(3, [name]);
  out.i32(4, uncompressed);
  out.i64(5, rows);
  out.i64(6, bytes);
  out.i64(7, bytes);
  out.i64(9, offset + dictionaryBytes);
  if (hasDictionary) out.i64(11, offset);
  out.struct(12, () => {
    out.i64(3, nulls);
    if (range === undefined) return;
    out.binary(5, range.greatest);
    out.binary(6, range.least);
  });
}
