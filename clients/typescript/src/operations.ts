import type { Answer } from './api.ts';
import type { Stoppable } from './http.ts';

/** A frame or a view, as the server describes it. Unknown fields of a damaged one are null. */
export type FrameInfo = Answer<'GET /handles/{handle}'>;
export type Engine = Answer<'GET /engines'>['engines'][number];
/** A statement that is under way. */
export type RunningQuery = Answer<'GET /queries'>['queries'][number];
/** The caller, as the server knows it. */
export type Identity = Answer<'GET /whoami'>;
export type ServerInfo = Answer<'GET /info'>;

export type Mode = 'create' | 'overwrite' | 'append';

/** Rows from one number up to but not including another, counted from 0; without the second, to the end. */
export type RowRange = readonly [from: number, to?: number];

export interface GetOptions extends Stoppable {
  /** Which columns, in this order. Default: all. */
  readonly columns?: readonly string[] | undefined;
  readonly rows?: RowRange | undefined;
}

export interface PutOptions extends Stoppable {
  /** The action on an existing frame: `create`, the default, fails. */
  readonly mode?: Mode | undefined;
  /** Time to live, which each read renews: seconds, or a text such as `15m`; `none`: it stays. */
  readonly ttl?: number | string | undefined;
  /** Default: found out. */
  readonly format?: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson' | undefined;
  /** Types of columns of text or rows, by name. Default: found out. */
  readonly types?: Readonly<Record<string, string>> | undefined;
  /** Between the fields of a CSV. Default: found out. */
  readonly delimiter?: string | undefined;
  /** Whether the first line of a CSV has the names of the columns. Default: found out. */
  readonly header?: boolean | undefined;
  /** Leaves out rows that cannot be read, instead of refusing the whole. */
  readonly skipBadRows?: boolean | undefined;
  /** Of a stream, where it is known beforehand. */
  readonly totalBytes?: number | undefined;
  readonly onProgress?: ((progress: PutProgress) => void) | undefined;
}

export interface PutProgress {
  readonly sentBytes: number;
  /** Undefined where it is not known beforehand. */
  readonly totalBytes: number | undefined;
}

/** A frame that was written. It is on the disk of the server. */
export interface Kept {
  readonly handle: string;
  readonly version: number;
  /** The rows written now. */
  readonly rows: number;
  /** Of the frame, as it is stored. */
  readonly bytes: number;
  /** An append that was sent twice, and added no rows the second time. */
  readonly repeated: boolean;
}

/** The frame of a file. */
export interface Put extends Kept {
  readonly columns: Answer<'GET /exec'>['columns'];
  /** The number of rows left out, with `skipBadRows`. */
  readonly rejectedRows: number;
  /** The first of them. */
  readonly rejections: readonly { readonly line: number; readonly column: string | null; readonly reason: string }[];
}

/** A list for `?` and `$1`, an object for `$name`. A bigint keeps its digits, a Date is a TIMESTAMP, a Uint8Array a BLOB. */
export type Parameters = readonly unknown[] | Readonly<Record<string, unknown>>;

export interface SqlOptions extends Stoppable {
  readonly params?: Parameters | undefined;
  /** `local`, the name of a cluster, `auto`, or `tsdb`, the external database. Default: `local`. */
  readonly engine?: string | undefined;
  /** Of this statement alone, such as `{ TimeZone: 'Europe/Berlin' }`. */
  readonly settings?: Readonly<Record<string, string | boolean>> | undefined;
  /** The first rows. */
  readonly limit?: number | undefined;
  /** By which `queries` lists it and `cancel` stops it. */
  readonly id?: string | undefined;
}

/** Where the rows of a statement are kept. */
export interface KeptAs {
  /** The handle under which the rows are kept, instead of being sent. */
  readonly keep: string;
  readonly mode?: Mode | undefined;
  readonly ttl?: number | string | undefined;
}

export type KeepOptions = SqlOptions & KeptAs;
