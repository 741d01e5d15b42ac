import type { Batch, Column, DataType, EncodedRows } from '@framehold/columns';
import type { Tenant } from '../callers/principal.ts';
import type { Span } from '../logs/span.ts';
import type { StatementCosts } from '../logs/statement-costs.ts';

/** An engine's facts about one Parquet file. */
export interface PartFacts {
  readonly rows: number;
  readonly columns: readonly Column[];
  /** Bytes of all column chunks before compression: an estimate of the memory for its rows. */
  readonly uncompressedBytes: number;
  /** Columns have bloom filters or bounds that DuckDB misreads. */
  readonly isMisread?: boolean | undefined;
  /** It has no NaN beside the bounds of its floats. Absent: it has some, or was not examined. */
  readonly isFreeOfNan?: true | undefined;
}

/** A Parquet file that holds rows of a frame, at a path that stays valid and unchanged during the job. */
export interface PartSource {
  readonly path: string;
  readonly rows: number;
  /** The number of the frame's columns in it, the first ones: the others are NULL in its rows. Default: all. */
  readonly columnCount?: number | undefined;
  /** The file has no NaN beside the bounds of its floats, so that they can be used for pruning. Default: unknown. */
  readonly isFreeOfNan?: true | undefined;
  /** The path is a symbolic link to a file in another folder. Default false. */
  readonly isElsewhere?: boolean | undefined;
}

/**
 * The forms in which rows are cached ready to be sent. `arrow`: each piece is one record batch message of Arrow IPC. `ndjson`: an
 * object a line.
 */
export type ChunkForm = JsonForm | 'arrow' | CsvForm;

/** `quoted`: every LONG is a text. `named`: NaN and infinities are texts, and not null. */
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
  /** Parquet files in an incoming folder of the store, stored unchanged, one part each. Not those without rows. */
  | { readonly kind: 'parts'; readonly paths: readonly string[] }
  /** Rows in memory: few, for an append that is cheap. */
  | { readonly kind: 'batch'; readonly batch: Batch }
  | ParquetRows;

/** Rows that become one file. */
export type PartRows = Exclude<RowSource, { kind: 'parts' | 'batch' }> | ChangedRows | AddedRows;

/** Rows of other Parquet files, in their order. */
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

/** The changes of a statement to a frame's rows, as a Parquet file. */
export interface RowChanges {
  /**
   * Its columns: the number of the row in the frame (NULL: a new row), `UPDATE`, `DELETE` or `INSERT`, and the new values. No row
   * of the frame occurs twice.
   */
  readonly path: string;
  /** Positions of the frame's columns for which it has values, in its own order. A new row needs all of them. */
  readonly set: readonly number[];
}

/** The rows of one part with their changes. Unchanged rows keep their order. */
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

/** Numbers of changed rows. */
export interface ChangeCounts {
  /** By part, in the order of the request. */
  readonly parts: readonly { readonly changed: number; readonly deleted: number }[];
  readonly added: number;
  /** Rows of the frame that occur more than once. */
  readonly repeated: number;
}

export type FileFormat =
  | ({ readonly kind: 'csv' } & CsvOptions & TextOptions)
  /** Objects, one behind the other or in an array. */
  | ({ readonly kind: 'json' } & TextOptions)
  /** Stored unchanged, byte for byte. */
  | { readonly kind: 'parquet' };

export interface CsvOptions {
  /** One character. Undefined: detected. */
  readonly delimiter?: string | undefined;
  /** Whether the first line holds the names of the columns. Undefined: found out. */
  readonly hasHeader?: boolean | undefined;
  /** Whether its bytes hold no NUL, and the end of a line in every MiB. Where not, reading it takes longer. */
  readonly isPlainText: boolean;
}

export interface TextOptions {
  /** Types that the sender names, by column. The others are detected, so that nothing of a value is lost. */
  readonly types?: ReadonlyMap<string, TextType> | undefined;
  /** Columns of the frame that the rows are to be appended to: they have these types, whatever the text looks like. */
  readonly like?: readonly Column[] | undefined;
  /** Leave out rows that cannot be read rather than refuse the file. */
  readonly skipsBadRows: boolean;
}

export interface TextType {
  readonly type: DataType;
  /** The form of dates and times, in strptime's letters. Undefined: ISO 8601. */
  readonly timeFormat?: string | undefined;
}

/** Findings of the reader of a file. */
export interface FileReport {
  /** For a CSV. */
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
  /** The file need not survive a power cut. Default false. */
  readonly isTemporary?: boolean | undefined;
  /** Columns in which NULLs are looked for. Default: none. */
  readonly notNull?: readonly string[] | undefined;
  /** Reads the rows of other files once more, and compares them with the written ones. Default false. */
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
  /** As requested; false if that is left for later. */
  readonly isCompressed: boolean;
  /** Set if the source was a file. */
  readonly report?: FileReport | undefined;
  /** The columns of `notNull` with a NULL. */
  readonly nulls?: readonly FirstNull[] | undefined;
  /** A value differs from that of its source, which was compared. */
  readonly differs?: true | undefined;
}

export interface JobOptions {
  readonly signal: AbortSignal;
  /** Jobs of different lanes take turns when they must wait (a client, a connection). */
  readonly lane?: string | undefined;
  /** The tenant of the work. Default: the default tenant. */
  readonly tenant?: Tenant | undefined;
  /** Called now and then with the progress, by an engine that reports it. */
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined;
  /** The parent span, if the request is traced. */
  readonly span?: Span | undefined;
  /** Receives the costs of the work. */
  readonly costs?: StatementCosts | undefined;
}

/** The interface of the frame store to an engine that reads and writes Parquet. Every call rejects with an AppError. */
export interface FrameEngine {
  /** `looksForNan`: also find out `isFreeOfNan`, for which the floats of a file may have to be read. Default: false. */
  probe(path: string, options: JobOptions & { readonly looksForNan?: boolean }): Promise<PartFacts>;
  read(job: ReadRows, options: JobOptions): AsyncIterable<EncodedRows>;
  write(job: WritePart, options: JobOptions): Promise<WrittenPart>;
  /** `firstRows`: the number in the frame of the first row of each part, in order. */
  countChanges(changes: RowChanges, firstRows: readonly number[], options: JobOptions): Promise<ChangeCounts>;
  /** Whether the bytes of a file are those for which `write` gave this checksum. */
  hasChecksum(path: string, checksum: string, options: JobOptions): Promise<boolean>;
}

/** Progress of a query, as an engine of other machines reports it. */
export interface QueryProgress {
  /** The known ones: more may follow. */
  readonly tasks: number;
  readonly completedTasks: number;
  readonly runningTasks: number;
  readonly bytesRead: number;
}
