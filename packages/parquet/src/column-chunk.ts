import { type Column, countOnes, type DataType, GrowingBits, type Vector } from '@framehold/columns';
import type { ColumnValues, ValueRange } from './column-values.ts';
import { Booleans, LongDecimals, NumberValues, ShortDecimals, ShortIntegers } from './number-columns.ts';
import { presenceLevels } from './packed-numbers.ts';
import { type ParquetType, parquetType, physical } from './parquet-type.ts';
import { presentRuns } from './present-runs.ts';
import type { TextDictionary } from './text-dictionary.ts';
import { TextValues } from './text-values.ts';
import { ThriftWriter } from './thrift-writer.ts';

/** Parquet's numbers of encodings. */
export const encoding = { plain: 0, levels: 3, dictionary: 8 } as const;
const pageKind = { data: 0, dictionary: 2 } as const;

/** A column's part of a row group, whole: its pages and what the footer says of them. */
export interface ColumnChunk {
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
  /** Bytes of the page before the data. 0: there is none. */
  readonly dictionaryBytes: number;
  readonly nulls: number;
  readonly range: ValueRange | undefined;
}

/** Gathers the values of one column until a row group is full. */
export class ChunkBuilder {
  readonly column: Column;
  readonly type: ParquetType;
  readonly #values: ColumnValues;
  readonly #present = new GrowingBits();
  #rows = 0;

  constructor(column: Column, dictionary: TextDictionary) {
    const type = parquetType(column.type);
    if (type === undefined) throw new TypeError(`${column.type.kind} is not written here`);
    this.column = column;
    this.type = type;
    this.#values = valuesOf(column.type, type, dictionary);
  }

  get bytes(): number {
    return this.#values.bytes;
  }

  append(vector: Vector, from: number, to: number): void {
    const { validity } = vector;
    if (validity === null) {
      if (this.#present.count > 0) this.#present.appendOnes(to - from);
      this.#values.append(vector, from, to);
    } else {
      // The bitmap begins with the first vector that has one.
      if (this.#present.count < this.#rows) this.#present.appendOnes(this.#rows - this.#present.count);
      this.#present.append(validity, from, to);
      for (const [first, end] of presentRuns(validity, from, to)) this.#values.append(vector, first, end);
    }
    this.#rows += to - from;
  }

  take(): ColumnChunk {
    const rows = this.#rows;
    const bits = this.#present.count > 0 ? this.#present.take() : undefined;
    this.#rows = 0;
    const nulls = bits === undefined ? 0 : rows - countOnes(bits);
    const levels = presenceLevels(rows, nulls === 0 || bits === undefined ? null : bits);
    const { bytes, dictionary, range } = this.#values.take();
    const first = dictionary === undefined ? [] : page(pageKind.dictionary, dictionary.entries, [dictionary.bytes]);
    const valuesEncoding = dictionary === undefined ? encoding.plain : encoding.dictionary;
    const pieces = [...first, ...page(pageKind.data, rows, [...levels, bytes], valuesEncoding)];
    return { pieces, bytes: lengthOf(pieces), dictionaryBytes: lengthOf(first), nulls, range };
  }
}

function valuesOf(type: DataType, { physical: stored }: ParquetType, dictionary: TextDictionary): ColumnValues {
  switch (type.kind) {
    case 'boolean':
      return new Booleans();
    case 'int':
      if (type.bits < 32) return new ShortIntegers(type);
      if (type.bits === 32) return new NumberValues(type.signed ? 'int32' : 'uint32', 4);
      return new NumberValues(type.signed ? 'int64' : 'uint64', 8);
    case 'float':
      return type.bits === 64 ? new NumberValues('double', 8) : new NumberValues('float', 4);
    case 'decimal':
      return stored === physical.fixedBytes ? new LongDecimals() : new ShortDecimals(stored === physical.int32 ? 4 : 8);
    case 'date':
      return new NumberValues('int32', 4);
    case 'time':
    case 'timestamp':
      return new NumberValues('int64', 8);
    default:
      return new TextValues(dictionary);
  }
}

function page(
  kind: number,
  values: number,
  content: readonly Uint8Array[],
  valuesEncoding: number = encoding.plain,
): Uint8Array[] {
  const bytes = lengthOf(content);
  const header = new ThriftWriter();
  header.i32(1, kind);
  header.i32(2, bytes);
  header.i32(3, bytes);
  if (kind === pageKind.data) {
    header.struct(5, () => {
      header.i32(1, values);
      header.i32(2, valuesEncoding);
      header.i32(3, encoding.levels);
      header.i32(4, encoding.levels);
    });
  } else {
    header.struct(7, () => {
      header.i32(1, values);
      header.i32(2, encoding.plain);
    });
  }
  return [header.end(), ...content];
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
