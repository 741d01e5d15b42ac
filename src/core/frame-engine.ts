import type { Batch } from './batch.ts';
import type { Column, DataType } from './data-type.ts';
import type { Tenant } from './principal.ts';
import type { Span } from './span.ts';
import type { StatementCosts } from './statement-costs.ts';

/** What an engine tells of one Parquet file. */
export interface PartFacts {
  readonly rows: number;
  readonly columns: readonly Column[];
  /** Bytes of all column chunks before compression: how much memory a row may need. */
  readonly uncompressedBytes: number;
  /** Columns have bloom filters or bounds that DuckDB asks wrongly. */
  readonly isMisread?: boolean | undefined;
}

/** A Parquet file that holds rows of a frame, at a path that stays valid and unchanged during the job. */
export interface PartSource {
  readonly path: string;
  readonly rows: number;
  /** How many of the frame's columns it has, the first ones: the others are NULL in its rows. Default: all. */
  readonly columnCount?: number | undefined;
  /** The path is a symbolic link: the file itself lies in another folder. Default false. */
  readonly isElsewhere?: boolean | undefined;
}

/**
 * The forms in which rows are kept ready to be sent. `arrow`: each piece is one record batch message of Arrow IPC.
 * `ndjson`: an object a line.
 */
export type ChunkForm = JsonForm | 'arrow' | CsvForm;

/** `quoted`: every LONG is a text. `named`: NaN and what is infinite are texts, and not null. */
export type JsonForm = ExecForm | `ndjson${'' | '-named'}`;
export type ExecForm = `exec-json${'' | '-quoted'}${'' | '-named'}`;

export interface JsonNumbers {
  /** Every LONG as a text. */
  readonly quoteLargeNum: boolean;
  /** NaN, Infinity and -Infinity as texts, also of dates and timestamps. */
  readonly quoteNonFinite: boolean;
}

export function execForm({ quoteLargeNum, quoteNonFinite }: JsonNumbers): ExecForm {
  return `exec-json${quoteLargeNum ? '-quoted' : ''}${quoteNonFinite ? '-named' : ''}`;
}

/**
 * Lines of text without a header; the one character behind the colon stands between the fields. In `csv-safe` a text
 * that a spreadsheet would take for a formula has an apostrophe before it.
 */
export type CsvForm = `${'csv' | 'csv-safe'}:${string}`;

/** Consecutive rows, encoded. */
export interface EncodedRows {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /**
   * Where each row ends in `bytes`: for exec JSON behind the row's comma, for lines behind their end. Empty where rows
   * cannot be cut apart (`arrow`).
   */
  readonly rowEnds: Uint32Array;
}

export interface ReadRows {
  /** All parts of the frame, in order. */
  readonly parts: readonly PartSource[];
  readonly columns: readonly Column[];
  /** Which of them, by position. Default: all. */
  readonly select?: readonly number[] | undefined;
  readonly form: ChunkForm;
  /** Rows [fromRow, toRow) of the frame. */
  readonly fromRow: number;
  readonly toRow: number;
  /** No piece crosses a multiple of this many rows. A piece may be shorter where rows are long. */
  readonly chunkRows: number;
}

export type CompressionAlgorithm = 'zstd' | 'snappy' | 'gzip' | 'lz4' | 'brotli' | 'uncompressed';

export interface Compression {
  readonly algorithm: CompressionAlgorithm;
  /** Only where the algorithm has levels. */
  readonly level: number | undefined;
}

export type RowSource =
  /** The bytes of an Arrow IPC stream or file. */
  | { readonly kind: 'arrow'; readonly stream: AsyncIterable<Uint8Array> }
  /** A file that somebody brought, at a path of the server's own; it is not changed. */
  | { readonly kind: 'file'; readonly path: string; readonly format: FileFormat }
  /** Trusted SQL of our own (demo frames); never a caller's text. */
  | { readonly kind: 'sql'; readonly sql: string }
  /** Parquet files in an incoming folder of the store, kept as they are, one part each. Not those without rows. */
  | { readonly kind: 'parts'; readonly paths: readonly string[] }
  /** Rows in memory: few, for an append that is cheap. */
  | { readonly kind: 'batch'; readonly batch: Batch }
  | ParquetRows;

/** Rows that become one file. */
export type PartRows = Exclude<RowSource, { kind: 'parts' | 'batch' }> | ChangedRows | AddedRows;

/** Rows of other Parquet files, order kept. */
export interface ParquetRows {
  readonly kind: 'parquet';
  readonly parts: readonly PartSource[];
  readonly columns: readonly Column[];
  /** Which of the columns, by position. Default: all. */
  readonly select?: readonly number[] | undefined;
  /** Rows [from, to). Default: all. */
  readonly range?: { readonly from: number; readonly to: number } | undefined;
  /** The same columns with the types that they are written in, which hold every value. Default: their own. */
  readonly castTo?: readonly Column[] | undefined;
}

/** What a statement changes of a frame, as a Parquet file. */
export interface RowChanges {
  /**
   * Its columns: the number of the row in the frame (NULL: the row is added), `UPDATE`, `DELETE` or `INSERT`, and the new values.
   * No row of the frame is there twice.
   */
  readonly path: string;
  /** Of which columns of the frame it has values, by position, in the order of its own. A row that is added needs all of them. */
  readonly set: readonly number[];
}

/** The rows of one part with what is changed of them. Those that stay keep their order. */
export interface ChangedRows {
  readonly kind: 'changed';
  readonly part: PartSource;
  /** Of the frame. */
  readonly columns: readonly Column[];
  /** The number in the frame of the part's first row. */
  readonly firstRow: number;
  readonly changes: RowChanges;
}

/** The rows that are added. */
export interface AddedRows {
  readonly kind: 'added';
  /** Of the frame. */
  readonly columns: readonly Column[];
  readonly changes: RowChanges;
}

/** How many rows are changed. */
export interface ChangeCounts {
  /** By the parts in whose order they were asked for. */
  readonly parts: readonly { readonly changed: number; readonly deleted: number }[];
  readonly added: number;
  /** Rows of the frame that are there more than once. */
  readonly repeated: number;
}

export type FileFormat =
  | ({ readonly kind: 'csv' } & CsvOptions & TextOptions)
  /** Objects, one behind the other or in an array. */
  | ({ readonly kind: 'json' } & TextOptions)
  /** Kept as it is, byte for byte. */
  | { readonly kind: 'parquet' };

export interface CsvOptions {
  /** One character. Undefined: found out. */
  readonly delimiter?: string | undefined;
  /** Whether the first line holds the names of the columns. Undefined: found out. */
  readonly hasHeader?: boolean | undefined;
  /** Whether its bytes hold no NUL, and the end of a line in every MiB. Where not, reading it takes longer. */
  readonly isPlainText: boolean;
}

export interface TextOptions {
  /** Types that the sender names, by column. The others are found out, so that nothing of a value is lost. */
  readonly types?: ReadonlyMap<string, TextType> | undefined;
  /** Columns of the frame that the rows are to be appended to: they have these types, whatever they look like. */
  readonly like?: readonly Column[] | undefined;
  /** Leave out rows that cannot be read rather than refuse the file. */
  readonly skipsBadRows: boolean;
}

export interface TextType {
  readonly type: DataType;
  /** How dates and times are written, in strptime's letters. Undefined: ISO 8601. */
  readonly timeFormat?: string | undefined;
}

/** What was found out as a file was read. */
export interface FileReport {
  /** Of a CSV. */
  readonly delimiter?: string | undefined;
  readonly hasHeader?: boolean | undefined;
  readonly rejectedRows: number;
  /** The first of them. */
  readonly rejections: readonly Rejection[];
}

export interface Rejection {
  /** From 1, the header included. */
  readonly line: number;
  readonly column: string | undefined;
  readonly reason: string;
}

export interface WritePart {
  readonly source: PartRows;
  /** A path where no file is yet. The engine leaves nothing there when it fails. */
  readonly path: string;
  readonly compression: Compression;
  /** The file may stay without compression for now, where it is sooner written so. Default false. */
  readonly compressesLater?: boolean | undefined;
  /** Nobody needs the file after a power cut. Default false. */
  readonly isTemporary?: boolean | undefined;
  /** Columns of which it is to be told whether they have NULLs. Default: none. */
  readonly notNull?: readonly string[] | undefined;
  /** Read the rows of other files once more, and compare them with what was written. Default false. */
  readonly comparesValues?: boolean | undefined;
}

/** The first NULL of a column. */
export interface FirstNull {
  readonly column: string;
  /** From 0; undefined where the file does not number its rows. */
  readonly row?: number | undefined;
}

/** A written file: complete, fsynced, with its checksum. The directory entry is the caller's to fsync. */
export interface WrittenPart extends PartFacts {
  readonly checksum: string;
  readonly bytes: number;
  /** As it was asked for; false where that is left for later. */
  readonly isCompressed: boolean;
  /** Where the source was a file. */
  readonly report?: FileReport | undefined;
  /** Of the columns of `notNull` that have one. */
  readonly nulls?: readonly FirstNull[] | undefined;
  /** A value differs from that of its source, which was compared. */
  readonly differs?: true | undefined;
}

export interface JobOptions {
  readonly signal: AbortSignal;
  /** Jobs of different lanes take turns when they must wait (a client, a connection). */
  readonly lane?: string | undefined;
  /** Whose work it is. Default: the default tenant's. */
  readonly tenant?: Tenant | undefined;
  /** Hears now and then how far the work is, of an engine that tells. */
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined;
  /** What the work is part of, where that is traced. */
  readonly span?: Span | undefined;
  /** Where what it takes is noted. */
  readonly costs?: StatementCosts | undefined;
}

/** What the frame store needs of an engine that knows Parquet. Every call rejects with an AppError. */
export interface FrameEngine {
  probe(path: string, options: JobOptions): Promise<PartFacts>;
  read(job: ReadRows, options: JobOptions): AsyncIterable<EncodedRows>;
  write(job: WritePart, options: JobOptions): Promise<WrittenPart>;
  /** `firstRows`: the number in the frame of the first row of each part, in order. */
  countChanges(changes: RowChanges, firstRows: readonly number[], options: JobOptions): Promise<ChangeCounts>;
  /** Whether the bytes of a file are those of the one that `write` gave this checksum. */
  hasChecksum(path: string, checksum: string, options: JobOptions): Promise<boolean>;
}

/** How far a query is, as an engine of other machines tells it. */
export interface QueryProgress {
  /** Those that are known so far: more may follow. */
  readonly tasks: number;
  readonly completedTasks: number;
  readonly runningTasks: number;
  readonly bytesRead: number;
}
