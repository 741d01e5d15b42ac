import type { Column, DeclaredType } from '@framehold/columns';
import type { AppErrorOptions, ErrorCode } from '../../../core/errors/app-error.ts';
import type {
  AddedRows,
  ChangedRows,
  Compression,
  FileFormat,
  ParquetRows,
  PartSource,
  ReadRows,
  RowChanges,
  TextOptions,
  TextType,
} from '../../../core/rows/frame-engine.ts';
import type { Definition, DefinitionKind } from '../../../core/sql/definition.ts';
import type { LiveColumn } from '../../../core/sql/live-tables.ts';
import type {
  ChangesTable,
  ListTable,
  RecodeRows,
  SqlColumn,
  SqlJob,
  SqlRun,
  TableDefinition,
  TableName,
} from '../../../core/sql/sql.ts';
import type { TableConstraints } from '../../../core/sql/table-constraints.ts';

/** Settings of a worker, its only argument at the start. */
export interface WorkerSettings {
  readonly threads: number;
  /** For writing a file, which one job may do with all cores. */
  readonly writeThreads: number;
  readonly memoryBytes: number;
  readonly tempDirectory: string;
  readonly maxTempBytes: number;
  /** Let other processes go first. */
  readonly lowPriority: boolean;
  /** Whether there is a shared file for messages that are large. */
  readonly hasSharedFile: boolean;
  /** Only for workers that run callers' SQL, and they do nothing else. */
  readonly sql?: SqlSettings | undefined;
}

/** All that callers' SQL can reach. */
export interface SqlSettings {
  /** Every file below them. */
  readonly directories: readonly string[];
  /** Single files in other places. A file that appears later can be read only if `isConfined` is false. */
  readonly files: readonly string[];
  /** Undefined: the operator's database is out of reach. It is one of `files`, with its log beside it. */
  readonly analyticsPath: string | undefined;
  /** The kernel denies the process everything else, whatever SQL runs in it. */
  readonly isConfined: boolean;
}

export interface TableFiles {
  readonly parts: readonly Omit<PartSource, 'isElsewhere'>[];
  /** Empty where every part has all of them. */
  readonly columns: readonly Column[];
}

/** Where the rows of a query's table are read from. */
export interface QueryTable {
  /** As the query spells it. */
  readonly name: string;
  /** In lower case. Undefined: that of the frames. */
  readonly schema?: string | undefined;
  /** Types to read columns as, by name; other columns keep their type. */
  readonly casts?: readonly { readonly column: string; readonly type: DeclaredType }[] | undefined;
  readonly source:
    | ({ readonly kind: 'parquet' } & TableFiles)
    /** A database file with a native copy of the table; it may be gone when the job's turn comes. */
    | ({ readonly kind: 'warm'; readonly path: string } & TableFiles)
    /** Some rows of a frame. */
    | { readonly kind: 'range'; readonly rows: ParquetRows }
    /** With the number of each row, in a column of this name behind the others. */
    | {
        readonly kind: 'numbered';
        readonly parts: readonly PartSource[];
        readonly columns: readonly Column[];
        readonly number: string;
      }
    | ChangesTable
    /** No rows: a query that only describes tables. */
    | ({ readonly kind: 'defined' } & TableDefinition)
    /** A query that passed the gate, over tables before this one. */
    | {
        readonly kind: 'view';
        readonly sql: string;
        readonly columns: readonly string[];
        /** Tables of the operator's database. */
        readonly analyticsTables: readonly TableName[];
        readonly readsRowIds: boolean;
        readonly isBarrier: boolean;
      }
    | ListTable
    | LiveSource;
}

/** Rows of the external database in a file of its own; without one there are none. */
export interface LiveSource {
  readonly kind: 'live';
  readonly path?: string | undefined;
  /** Types as SQL writes them. */
  readonly columns: readonly (Omit<LiveColumn, 'type'> & { readonly type: string })[];
  readonly note?: string | undefined;
}

/** All tables that the catalogs are to show. */
export interface CatalogListing {
  /** The same for the same tables. */
  readonly signature: string;
  /** Undefined where the process shows them already. */
  readonly tables?: readonly ListedDefinition[] | undefined;
}

/** A table, macro or type as SQL creates it. Both names are quoted. */
export interface ListedDefinition {
  /** With its catalog. */
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view' | DefinitionKind;
  /** For a table: names and types. Else the text behind AS, or the forms of a macro. */
  readonly body: string;
  /** In the place of a body that DuckDB does not take. */
  readonly otherwise?: string | undefined;
  /** Digest of all its fields. */
  readonly digest: string;
  /** For a table with constraints: all of it. */
  readonly constrained?: { readonly columns: readonly SqlColumn[]; readonly constraints: TableConstraints } | undefined;
}

/** The parent sends only queries that passed the gate: the worker that runs one does not check it again. */
export interface QueryJob extends Pick<SqlJob, 'query' | 'into' | 'constraints' | 'settings'> {
  /** For a query that reads catalogs. */
  readonly listing?: CatalogListing | undefined;
  readonly tables: readonly QueryTable[];
  /** Parameter rows follow on the data channel as an Arrow IPC stream. */
  readonly hasParameters: boolean;
}

export type RunQueryJob = QueryJob & Omit<SqlRun, keyof SqlJob | 'parameters'>;

/** A frame as a native table in a database file of its own. */
export interface WarmCopy {
  readonly parts: readonly PartSource[];
  readonly columns: readonly Column[];
  readonly path: string;
  /** So that it takes little more than half the room, and some more time to be read. */
  readonly isPacked: boolean;
}

type AsEntries<Format> = Format extends TextOptions
  ? Omit<Format, 'types'> & { readonly types?: readonly (readonly [string, TextType])[] }
  : Format;
export type WireFileFormat = AsEntries<FileFormat>;

export type WriteSource =
  /** An Arrow IPC stream that follows on the data channel. */
  | { readonly kind: 'arrow' }
  | { readonly kind: 'sql'; readonly sql: string }
  /** Types by column as entries: jobs travel as JSON. */
  | { readonly kind: 'file'; readonly path: string; readonly format: WireFileFormat }
  | ParquetRows
  | ChangedRows
  | AddedRows;

export type Job =
  | { readonly kind: 'probe'; readonly path: string; readonly looksForNan: boolean }
  | ({ readonly kind: 'read' } & ReadRows)
  | {
      readonly kind: 'write';
      readonly source: WriteSource;
      readonly path: string;
      readonly compression: Compression;
      readonly compressesLater: boolean;
      readonly isTemporary: boolean;
      readonly comparesValues: boolean;
      readonly notNull: readonly string[];
    }
  | { readonly kind: 'countChanges'; readonly changes: RowChanges; readonly firstRows: readonly number[] }
  | { readonly kind: 'hasChecksum'; readonly path: string; readonly checksum: string }
  | { readonly kind: 'createDatabase'; readonly path: string }
  | ({ readonly kind: 'warm' } & WarmCopy)
  | { readonly kind: 'analyze'; readonly sql: string; readonly definitions?: readonly Definition[] | undefined }
  | ({ readonly kind: 'describe' } & QueryJob)
  /** Its first message holds the columns, as JSON. */
  | ({ readonly kind: 'query' } & RunQueryJob)
  /** An Arrow IPC stream follows on the data channel. The first message holds the columns, as JSON. */
  | ({ readonly kind: 'recode' } & Omit<RecodeRows, 'isKept'>)
  | { readonly kind: 'analyticsTables' };

/** Parent to child, over Node's IPC channel: it stays readable while the data channel is full, but is slow. */
export type Command =
  /** It may arrive before the job with this turn, or after the end of that job. */
  | { readonly kind: 'cancel'; readonly turn: number }
  /** In place of the message of that name, where the data channel is full of input. */
  | { readonly kind: 'slotFree'; readonly slot: number }
  /** The job waits for its client, or goes on: meanwhile it leaves most of its memory to others, and spills. */
  | { readonly kind: 'held'; readonly isHeld: boolean }
  /** The child answers with any message, over the same channel. */
  | { readonly kind: 'pulse' };

/** An error from the child: an AppError by its parts, or `cancelled`. */
export interface WireError {
  readonly code: ErrorCode | 'cancelled';
  readonly message: string;
  readonly options: Pick<AppErrorOptions, 'hint' | 'position' | 'retryAfterSeconds'>;
  /** For the parent's log. */
  readonly detail: string;
  /** The system call that failed, where one did: the store must know of a failed fsync. */
  readonly syscall?: string | undefined;
  /** The child is not to be used again. */
  readonly fatal: boolean;
}

/** The first message of a child that the kernel does not confine as it should. Of any other it says only that it is ready. */
export const unconfined = 'unconfined';

/** The duplex pipe for bytes: answers from the child, an uploaded stream to it. */
export const dataDescriptor = 4;

/**
 * Messages on the data channel: u32 payload length, u8 kind, u8 turn, payload (little endian). The turn numbers the child's jobs,
 * so that unread input of a failed job is not taken for the next one's. To the child: a `job` as JSON, then its `input` bytes and
 * `inputEnd`. From it: any number of `rows`, then one `done` or `error`. Large rows are in the shared file: `sharedRows` (u32
 * slot, u32 bytes) has the place, and the parent answers `slotFree` (u8 slot).
 */
export const messageKind = {
  input: 1,
  inputEnd: 2,
  rows: 3,
  done: 4,
  error: 5,
  sharedRows: 6,
  slotFree: 7,
  job: 8,
} as const;
export type MessageKind = (typeof messageKind)[keyof typeof messageKind];

export const headerBytes = 6;

export interface WorkerMessage {
  readonly kind: number;
  readonly turn: number;
  /** Starts its own memory, unless it is passed on: typed arrays may view it. */
  readonly payload: Buffer;
}

export function messageHeader(kind: MessageKind, turn: number, payloadBytes: number): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt32LE(payloadBytes, 0);
  header.writeUInt8(kind, 4);
  header.writeUInt8(turn & 255, 5);
  return header;
}

/**
 * Cuts a byte stream into messages; each payload is copied once, into memory of its own. Messages of the kind `passed` are not
 * joined: their pieces are passed on as they arrive, as views.
 */
export class MessageParser {
  readonly #passed: MessageKind | undefined;
  readonly #header = Buffer.alloc(headerBytes);
  #headerFilled = 0;
  /** Bytes of the current message that are missing. */
  #left = 0;
  #payload: Buffer = none;

  constructor(passed?: MessageKind) {
    this.#passed = passed;
  }

  *push(bytes: Buffer): Generator<WorkerMessage, void, undefined> {
    let at = 0;
    while (at < bytes.length) {
      if (this.#headerFilled < headerBytes) {
        const taken = bytes.copy(this.#header, this.#headerFilled, at);
        this.#headerFilled += taken;
        at += taken;
        if (this.#headerFilled < headerBytes) return;
        this.#left = this.#header.readUInt32LE(0);
        this.#payload = this.#isPassed ? none : Buffer.allocUnsafeSlow(this.#left);
      }
      const piece = bytes.subarray(at, at + this.#left);
      at += piece.length;
      if (this.#isPassed) {
        if (piece.length > 0) yield this.#message(piece);
      } else piece.copy(this.#payload, this.#payload.length - this.#left);
      this.#left -= piece.length;
      if (this.#left > 0) return;
      this.#headerFilled = 0;
      const payload = this.#payload;
      this.#payload = none;
      if (!this.#isPassed) yield this.#message(payload);
    }
  }

  get #isPassed(): boolean {
    return this.#header.readUInt8(4) === this.#passed;
  }

  #message(payload: Buffer): WorkerMessage {
    return { kind: this.#header.readUInt8(4), turn: this.#header.readUInt8(5), payload };
  }
}

const none = Buffer.alloc(0);
