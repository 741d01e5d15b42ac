// Made by scripts/generate-docs.mjs from /openapi.json; do not edit.

/** Every code of an error of the server. */
export type ErrorCode =
  | 'unauthenticated'
  | 'forbidden'
  | 'rate_limited'
  | 'quota_exceeded'
  | 'auth_unavailable'
  | 'audit_unavailable'
  | 'missing_parameter'
  | 'ambiguous_mode'
  | 'invalid_parameter'
  | 'unsupported_format'
  | 'invalid_limit'
  | 'invalid_handle'
  | 'handle_not_found'
  | 'handle_gone'
  | 'handle_exists'
  | 'schema_mismatch'
  | 'frame_changed'
  | 'producer_gap'
  | 'producer_fenced'
  | 'invalid_input'
  | 'unsupported_type'
  | 'too_large'
  | 'request_too_long'
  | 'wrong_host'
  | 'not_found'
  | 'method_not_allowed'
  | 'overloaded'
  | 'tsdb_not_configured'
  | 'tsdb_unreachable'
  | 'tsdb_timeout'
  | 'sql_error'
  | 'sql_forbidden'
  | 'sql_timeout'
  | 'sql_cancelled'
  | 'sql_out_of_memory'
  | 'engine_crashed'
  | 'engine_unreachable'
  | 'engine_timeout'
  | 'storage_full'
  | 'storage_read_only'
  | 'frame_damaged'
  | 'internal';

/** The operations that answer in JSON. */
export interface Api {
  /** Reads rows of a frame, or of a statement. */
  readonly 'GET /exec': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: {
      /** The frame to read. Not together with `query`. */
      readonly handle?: string | undefined;
      /** The statement to run. Not together with `handle`. */
      readonly query?: string | undefined;
      /** The form of the answer. */
      readonly fmt: 'json';
      /** `N`: the first N rows; `lo,hi`: rows lo to hi, from 1 and inclusive; `lo,`: to the end. Without it, the first 1000 of a frame, all of a statement. */
      readonly limit?: string | undefined;
      /** What runs `query`: `local`, over the frames; a name of `[engines]`, the same there; `auto`, the one or the other by what the statement reads; or `tsdb`, the external database, which then answers itself. */
      readonly engine?: string | undefined;
      /** Every LONG as a string, for parsers that round at 2^53. */
      readonly quoteLargeNum?: boolean | undefined;
      /** NaN, Infinity and -Infinity as strings, also infinite dates and timestamps, and those in arrays and structs: otherwise JSON has them as null. */
      readonly quoteNonFinite?: boolean | undefined;
      /** Of a statement: `count` is that of the whole result. */
      readonly count?: boolean | undefined;
      /** Of a statement: only the rows and their count. */
      readonly nm?: boolean | undefined;
      /** Of a statement: which columns, in this order, with commas between them. */
      readonly cols?: string | undefined;
      /** Of a statement: how long it took, in nanoseconds. */
      readonly timings?: boolean | undefined;
      /** Of a statement: QuestDB's object `explain`. */
      readonly explain?: boolean | undefined;
      /** `con`, as the web console of QuestDB sends it: the same as `quoteLargeNum=true`. */
      readonly src?: string | undefined;
      /** Of a frame: the `versionId` or the lineage that the rows must be of, else 409. A bare number is the version of QuestDB's protocol and has no effect. */
      readonly version?: string | undefined;
      /** That of `POST /tickets`: stands for the credentials of the caller who asked for it. */
      readonly ticket?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: {
      /** The statement, or `handle:<handle>`. */
      readonly query?: string | undefined;
      readonly columns?: readonly {
        readonly name: string;
        readonly type: string;
        /** Dimensions of an ARRAY. */
        readonly dim?: number | undefined;
        /** What an ARRAY holds. */
        readonly elemType?: string | undefined;
      }[] | undefined;
      /** Of a statement. */
      readonly timestamp?: number | undefined;
      readonly dataset: readonly (readonly unknown[])[];
      /** Rows in `dataset`. */
      readonly count: number;
      /** What ran it, where the request named an engine or the server chose one. */
      readonly engine?: string | undefined;
      /** Why it ran there. */
      readonly engine_reason?: string | undefined;
    };
  };
  /** Exports a frame or the rows of a statement as a file. */
  readonly 'GET /exp': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: {
      /** The frame to export. */
      readonly handle?: string | undefined;
      /** The statement whose rows to export. */
      readonly query?: string | undefined;
      /** Of a statement on this server: the values of its parameters, as JSON, as `params` of `POST /sql`: `[1,"two"]` or `{"day":"2026-01-31"}`. */
      readonly params?: string | undefined;
      /** What runs `query`: `local`, over the frames; a name of `[engines]`, the same there; `auto`, the one or the other by what the statement reads; or `tsdb`, the external database, which then answers itself. */
      readonly engine?: string | undefined;
      /** What the rows are written as. */
      readonly fmt?: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson' | undefined;
      /** Which rows: `N`, the first N; `lo,hi`, those after the first lo up to row hi, as QuestDB's /exp has it, and unlike /exec; `lo,`, to the end. Without it, all. */
      readonly limit?: string | undefined;
      /** Which columns, in this order: names with commas between them, in double quotes where they need them. */
      readonly cols?: string | undefined;
      /** Leave out the names: the first line of csv and tsv, `query` and `columns` of json. */
      readonly nm?: boolean | undefined;
      /** The character between the fields of csv. */
      readonly delimiter?: string | undefined;
      /** The name under which a browser saves it. Without it, that of the frame. */
      readonly filename?: string | undefined;
      /** How parquet is compressed. Without it, a whole frame keeps its own. */
      readonly compression_codec?: 'zstd' | 'snappy' | 'gzip' | 'brotli' | 'lz4' | 'lz4_raw' | 'uncompressed' | undefined;
      /** The level of zstd. */
      readonly compression_level?: number | undefined;
      /** Every LONG of json as a string, for parsers that round at 2^53. */
      readonly quoteLargeNum?: boolean | undefined;
      /** Of json and ndjson: NaN, Infinity and -Infinity as strings, also infinite dates and timestamps, and those in arrays and structs: otherwise JSON has them as null. */
      readonly quoteNonFinite?: boolean | undefined;
      /** An apostrophe before text that a spreadsheet would take for a formula (= + - @, tab, line break), in csv and tsv. The data are then no longer exact. */
      readonly escapeFormulas?: boolean | undefined;
      /** Seconds within which all of it must be sent. */
      readonly timeout?: number | undefined;
      /** Whether to count the rows. Accepted for QuestDB's clients; has no effect here. */
      readonly count?: unknown | undefined;
      /** When the answer begins. Accepted for QuestDB's clients; has no effect here. */
      readonly rmode?: unknown | undefined;
      /** Rows in a row group. Accepted for QuestDB's clients; has no effect here. */
      readonly row_group_size?: unknown | undefined;
      /** Bytes of a page. Accepted for QuestDB's clients; has no effect here. */
      readonly data_page_size?: unknown | undefined;
      /** Whether parquet has statistics; it does. Accepted for QuestDB's clients; has no effect here. */
      readonly statistics_enabled?: unknown | undefined;
      /** The version of parquet. Accepted for QuestDB's clients; has no effect here. */
      readonly parquet_version?: unknown | undefined;
      /** How arrays are written. Accepted for QuestDB's clients; has no effect here. */
      readonly raw_array_encoding?: unknown | undefined;
      /** Columns with a Bloom filter. Accepted for QuestDB's clients; has no effect here. */
      readonly bloom_filter_columns?: unknown | undefined;
      /** How often a Bloom filter is wrong. Accepted for QuestDB's clients; has no effect here. */
      readonly bloom_filter_fpp?: unknown | undefined;
      /** Who asks. Accepted for QuestDB's clients; has no effect here. */
      readonly src?: unknown | undefined;
      /** That of `POST /tickets`: stands for the credentials of the caller who asked for it. */
      readonly ticket?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
  /** A frame or view as a file. */
  readonly 'GET /frames/{handle}.{format}': {
    readonly segments: {
      /** The handle of the frame. It may have dots of its own. */
      readonly handle: string;
      /** What the rows are written as, as `fmt` of /exp has it. */
      readonly format: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson';
    };
    readonly query: {
      /** Which rows: `N`, the first N; `lo,hi`, those after the first lo up to row hi, as QuestDB's /exp has it, and unlike /exec; `lo,`, to the end. Without it, all. */
      readonly limit?: string | undefined;
      /** Which columns, in this order: names with commas between them, in double quotes where they need them. */
      readonly cols?: string | undefined;
      /** Leave out the names: the first line of csv and tsv, `query` and `columns` of json. */
      readonly nm?: boolean | undefined;
      /** The character between the fields of csv. */
      readonly delimiter?: string | undefined;
      /** The name under which a browser saves it. Without it, that of the frame. */
      readonly filename?: string | undefined;
      /** How parquet is compressed. Without it, a whole frame keeps its own. */
      readonly compression_codec?: 'zstd' | 'snappy' | 'gzip' | 'brotli' | 'lz4' | 'lz4_raw' | 'uncompressed' | undefined;
      /** The level of zstd. */
      readonly compression_level?: number | undefined;
      /** Every LONG of json as a string, for parsers that round at 2^53. */
      readonly quoteLargeNum?: boolean | undefined;
      /** Of json and ndjson: NaN, Infinity and -Infinity as strings, also infinite dates and timestamps, and those in arrays and structs: otherwise JSON has them as null. */
      readonly quoteNonFinite?: boolean | undefined;
      /** An apostrophe before text that a spreadsheet would take for a formula (= + - @, tab, line break), in csv and tsv. The data are then no longer exact. */
      readonly escapeFormulas?: boolean | undefined;
      /** Seconds within which all of it must be sent. */
      readonly timeout?: number | undefined;
    };
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
  /** Keeps a file as a frame. */
  readonly 'POST /imp': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: {
      /** The handle. Default: the server makes one and tells it as `handle`. */
      readonly name?: string | undefined;
      /** Replace the frame that is held under this handle. */
      readonly overwrite?: boolean | undefined;
      /** Add the rows to the frame that is held under this handle. They must have its columns; a CSV or JSON is read as its types. */
      readonly append?: boolean | undefined;
      /** Time to live: the frame goes when nobody has read it for so long. `none`: it stays. */
      readonly ttl?: string | undefined;
      /** What the body is. Default: what Content-Type says, else the ending of the file name (of the part `data`, or of `name`), else the first bytes. */
      readonly format?: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson' | undefined;
      /** The form of the answer. Default: `json`; for multipart/form-data `text`, the table of QuestDB. */
      readonly fmt?: 'json' | 'text' | undefined;
      /** What stands between the fields of a CSV. Default: found out. */
      readonly delimiter?: string | undefined;
      /** Whether the first line of a CSV holds the names of the columns. Default: what Content-Type says (`text/csv; header=absent`), else found out: names are text. Columns without a name are `column1` and so on. */
      readonly header?: boolean | undefined;
      /** The same as `header=true`, for clients of QuestDB. */
      readonly forceHeader?: boolean | undefined;
      /** Whether lines with too many fields are left out; `atomicity` decides that. Accepted for QuestDB's clients; has no effect here. */
      readonly skipLev?: unknown | undefined;
      /** What happens to a CSV or JSON with rows that cannot be read: `abort` refuses it, `skipRow` leaves them out and lists them as `rejections`. */
      readonly atomicity?: 'abort' | 'skipRow' | undefined;
      /** Types of columns of a CSV or JSON: a JSON array of `{"name","type","pattern"}` as QuestDB has it, or `name TYPE, name TYPE`. A pattern is in the letters of QuestDB (`dd/MM/yyyy HH:mm:ss`) or of strptime (`%d/%m/%Y`). Columns that are not named keep the type that is found out. May also be the part `schema` of a form. */
      readonly schema?: string | undefined;
      /** A column that must be there and be a timestamp, else nothing is kept. */
      readonly timestamp?: string | undefined;
      /** Keep nothing: read the beginning of a CSV or JSON, of at most 256 KiB, and answer with its columns, its first rows and the rows that cannot be read. */
      readonly preview?: boolean | undefined;
      /** Partitions. Accepted for QuestDB's clients; has no effect here. */
      readonly partitionBy?: unknown | undefined;
      /** Rows out of order. Accepted for QuestDB's clients; has no effect here. */
      readonly o3MaxLag?: unknown | undefined;
      /** How many rows are committed at once: here it is always all or none. Accepted for QuestDB's clients; has no effect here. */
      readonly maxUncommittedRows?: unknown | undefined;
      /** Whether a table is made. Accepted for QuestDB's clients; has no effect here. */
      readonly create?: unknown | undefined;
      /** Whether the rows are on disk before the answer: here they always are. Accepted for QuestDB's clients; has no effect here. */
      readonly durable?: unknown | undefined;
    };
    readonly body: readonly unknown[] | Readonly<Record<string, unknown>>;
    readonly answer: {
      readonly status: 'OK';
      /** The handle, by the name that QuestDB has for it. */
      readonly location: string;
      readonly handle: string;
      /** Of the frame. */
      readonly version: number;
      /** Left out, with atomicity=skipRow. */
      readonly rowsRejected: number;
      readonly rowsImported: number;
      /** The append of this producer was seen before: no row was added again. */
      readonly repeated?: true | undefined;
      /** Whether the first line of a CSV was taken for the names of the columns. */
      readonly header: boolean;
      readonly partitionBy?: 'NONE' | undefined;
      /** As asked for. */
      readonly timestamp?: string | undefined;
      /** What the body was. */
      readonly format?: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson' | undefined;
      /** What stood between the fields of a CSV. */
      readonly delimiter?: string | undefined;
      readonly columns: readonly {
        readonly name: string;
        /** As in an answer of /exec. */
        readonly type: string;
        /** Bytes of a value; 0 where they vary. */
        readonly size: number;
        /** Rejections of this column, among those that are listed. */
        readonly errors: number;
      }[];
      /** The first of the rows that were left out. */
      readonly rejections?: readonly {
        /** From 1, the header included. */
        readonly line: number;
        readonly column: string | null;
        readonly reason: string;
      }[] | undefined;
      /** Of the frame, as stored. */
      readonly bytes: number;
      readonly ms: number;
    } | {
      readonly status: 'OK';
      readonly preview: true;
      /** What the body was. */
      readonly format: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson';
      /** Whether the first line of a CSV was taken for the names of the columns. */
      readonly header?: boolean | undefined;
      /** What stood between the fields of a CSV. */
      readonly delimiter?: string | undefined;
      /** Whether all of the body was read. Where not, later rows may change the types. */
      readonly complete: boolean;
      /** That could be read. */
      readonly rows: number;
      readonly columns: readonly {
        readonly name: string;
        /** As in an answer of /exec. */
        readonly type: string;
      }[];
      /** That could not be read. */
      readonly rowsRejected: number;
      /** The first of the rows that were left out. */
      readonly rejections: readonly {
        /** From 1, the header included. */
        readonly line: number;
        readonly column: string | null;
        readonly reason: string;
      }[];
      /** The first 20 rows, as /exec has them with quoteLargeNum=true and quoteNonFinite=true. */
      readonly dataset: readonly (readonly unknown[])[];
    };
  };
  /** Keeps a file as a frame. */
  readonly 'PUT /imp': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: {
      /** The handle. Default: the server makes one and tells it as `handle`. */
      readonly name?: string | undefined;
      /** Replace the frame that is held under this handle. */
      readonly overwrite?: boolean | undefined;
      /** Add the rows to the frame that is held under this handle. They must have its columns; a CSV or JSON is read as its types. */
      readonly append?: boolean | undefined;
      /** Time to live: the frame goes when nobody has read it for so long. `none`: it stays. */
      readonly ttl?: string | undefined;
      /** What the body is. Default: what Content-Type says, else the ending of the file name (of the part `data`, or of `name`), else the first bytes. */
      readonly format?: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson' | undefined;
      /** The form of the answer. Default: `json`; for multipart/form-data `text`, the table of QuestDB. */
      readonly fmt?: 'json' | 'text' | undefined;
      /** What stands between the fields of a CSV. Default: found out. */
      readonly delimiter?: string | undefined;
      /** Whether the first line of a CSV holds the names of the columns. Default: what Content-Type says (`text/csv; header=absent`), else found out: names are text. Columns without a name are `column1` and so on. */
      readonly header?: boolean | undefined;
      /** The same as `header=true`, for clients of QuestDB. */
      readonly forceHeader?: boolean | undefined;
      /** Whether lines with too many fields are left out; `atomicity` decides that. Accepted for QuestDB's clients; has no effect here. */
      readonly skipLev?: unknown | undefined;
      /** What happens to a CSV or JSON with rows that cannot be read: `abort` refuses it, `skipRow` leaves them out and lists them as `rejections`. */
      readonly atomicity?: 'abort' | 'skipRow' | undefined;
      /** Types of columns of a CSV or JSON: a JSON array of `{"name","type","pattern"}` as QuestDB has it, or `name TYPE, name TYPE`. A pattern is in the letters of QuestDB (`dd/MM/yyyy HH:mm:ss`) or of strptime (`%d/%m/%Y`). Columns that are not named keep the type that is found out. May also be the part `schema` of a form. */
      readonly schema?: string | undefined;
      /** A column that must be there and be a timestamp, else nothing is kept. */
      readonly timestamp?: string | undefined;
      /** Keep nothing: read the beginning of a CSV or JSON, of at most 256 KiB, and answer with its columns, its first rows and the rows that cannot be read. */
      readonly preview?: boolean | undefined;
      /** Partitions. Accepted for QuestDB's clients; has no effect here. */
      readonly partitionBy?: unknown | undefined;
      /** Rows out of order. Accepted for QuestDB's clients; has no effect here. */
      readonly o3MaxLag?: unknown | undefined;
      /** How many rows are committed at once: here it is always all or none. Accepted for QuestDB's clients; has no effect here. */
      readonly maxUncommittedRows?: unknown | undefined;
      /** Whether a table is made. Accepted for QuestDB's clients; has no effect here. */
      readonly create?: unknown | undefined;
      /** Whether the rows are on disk before the answer: here they always are. Accepted for QuestDB's clients; has no effect here. */
      readonly durable?: unknown | undefined;
    };
    readonly body: readonly unknown[] | Readonly<Record<string, unknown>>;
    readonly answer: {
      readonly status: 'OK';
      /** The handle, by the name that QuestDB has for it. */
      readonly location: string;
      readonly handle: string;
      /** Of the frame. */
      readonly version: number;
      /** Left out, with atomicity=skipRow. */
      readonly rowsRejected: number;
      readonly rowsImported: number;
      /** The append of this producer was seen before: no row was added again. */
      readonly repeated?: true | undefined;
      /** Whether the first line of a CSV was taken for the names of the columns. */
      readonly header: boolean;
      readonly partitionBy?: 'NONE' | undefined;
      /** As asked for. */
      readonly timestamp?: string | undefined;
      /** What the body was. */
      readonly format?: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson' | undefined;
      /** What stood between the fields of a CSV. */
      readonly delimiter?: string | undefined;
      readonly columns: readonly {
        readonly name: string;
        /** As in an answer of /exec. */
        readonly type: string;
        /** Bytes of a value; 0 where they vary. */
        readonly size: number;
        /** Rejections of this column, among those that are listed. */
        readonly errors: number;
      }[];
      /** The first of the rows that were left out. */
      readonly rejections?: readonly {
        /** From 1, the header included. */
        readonly line: number;
        readonly column: string | null;
        readonly reason: string;
      }[] | undefined;
      /** Of the frame, as stored. */
      readonly bytes: number;
      readonly ms: number;
    } | {
      readonly status: 'OK';
      readonly preview: true;
      /** What the body was. */
      readonly format: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson';
      /** Whether the first line of a CSV was taken for the names of the columns. */
      readonly header?: boolean | undefined;
      /** What stood between the fields of a CSV. */
      readonly delimiter?: string | undefined;
      /** Whether all of the body was read. Where not, later rows may change the types. */
      readonly complete: boolean;
      /** That could be read. */
      readonly rows: number;
      readonly columns: readonly {
        readonly name: string;
        /** As in an answer of /exec. */
        readonly type: string;
      }[];
      /** That could not be read. */
      readonly rowsRejected: number;
      /** The first of the rows that were left out. */
      readonly rejections: readonly {
        /** From 1, the header included. */
        readonly line: number;
        readonly column: string | null;
        readonly reason: string;
      }[];
      /** The first 20 rows, as /exec has them with quoteLargeNum=true and quoteNonFinite=true. */
      readonly dataset: readonly (readonly unknown[])[];
    };
  };
  /** What QuestDB's clients need to know before they write lines. */
  readonly 'GET /settings': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly config: Readonly<Record<string, unknown>>;
    };
  };
  /** Lists the frames. */
  readonly 'GET /handles': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: {
      /** Only names that begin so, in this case; `owner/` for what a tenant shares. */
      readonly prefix?: string | undefined;
      /** How many handles at most. */
      readonly limit?: number | undefined;
      /** Where the page before ended: its `next`, with the same `order`. */
      readonly after?: string | undefined;
      /** What they are sorted by, with - before it descending. Frames that do not have it come last. */
      readonly order?: 'handle' | '-handle' | 'created' | '-created' | 'bytes' | '-bytes' | 'rows' | '-rows' | 'expires' | '-expires' | undefined;
      /** Descending. */
      readonly desc?: boolean | undefined;
      /** Only frames that are so. */
      readonly state?: 'held' | 'damaged' | undefined;
      /** Tell of changes instead, as events that do not end: `put`, `append` and `drop`. Of the others only `prefix` has a meaning then. */
      readonly live?: 'sse' | undefined;
    };
    readonly body: undefined;
    readonly answer: {
      readonly handles: readonly {
        /** `owner/handle` where another tenant shares it. */
        readonly handle: string;
        /** It is a frame of another tenant, to be read. */
        readonly shared?: true | undefined;
        readonly kind: 'frame' | 'view';
        readonly state: 'held' | 'damaged';
        /** Grows with each put, append and overwrite. */
        readonly version: number;
        /** Names these rows for good. */
        readonly versionId: string | null;
        /** How many; null of a view. */
        readonly rows: number | null;
        readonly columns: readonly {
          readonly name: string;
          readonly type: string;
          /** Dimensions of an ARRAY. */
          readonly dim?: number | undefined;
          /** What an ARRAY holds. */
          readonly elemType?: string | undefined;
          /** The column takes no NULL. */
          readonly nullable?: false | undefined;
          /** The expression of its DEFAULT. */
          readonly default?: string | undefined;
          /** The expression that gives its values. */
          readonly generated?: string | undefined;
        }[] | null;
        /** What CREATE TABLE said beyond its columns. Keys are not enforced. */
        readonly constraints?: {
          readonly primaryKey?: readonly string[] | undefined;
          readonly unique?: readonly (readonly string[])[] | undefined;
          readonly checks?: readonly string[] | undefined;
          readonly foreignKeys?: readonly {
            readonly name?: string | undefined;
            readonly columns: readonly string[];
            readonly table: string;
            readonly references?: readonly string[] | undefined;
          }[] | undefined;
        } | undefined;
        readonly bytes: {
          /** On disk, as stored. */
          readonly cold: number;
          /** In memory, ready to be sent. */
          readonly hot: number;
        };
        /** When the frame was first put or last overwritten. */
        readonly created: string | null;
        /** Its time to live in seconds; null: it stays. */
        readonly ttl: number | null;
        /** When it goes unless it is read before. */
        readonly expires: string | null;
        /** What is wrong with it. */
        readonly damaged: string | null;
        /** The query of a view: only for its own tenant, and not for a token whose prefix hides what it reads. */
        readonly sql?: string | undefined;
        /** What a view reads, for whoever sees its query. */
        readonly reads?: readonly string[] | undefined;
      }[];
      readonly next: string | null;
    };
  };
  /** Describes a frame. */
  readonly 'GET /handles/{handle}': {
    readonly segments: {
      /** The handle of the frame. */
      readonly handle: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      /** `owner/handle` where another tenant shares it. */
      readonly handle: string;
      /** It is a frame of another tenant, to be read. */
      readonly shared?: true | undefined;
      readonly kind: 'frame' | 'view';
      readonly state: 'held' | 'damaged';
      /** Grows with each put, append and overwrite. */
      readonly version: number;
      /** Names these rows for good. */
      readonly versionId: string | null;
      /** How many; null of a view. */
      readonly rows: number | null;
      readonly columns: readonly {
        readonly name: string;
        readonly type: string;
        /** Dimensions of an ARRAY. */
        readonly dim?: number | undefined;
        /** What an ARRAY holds. */
        readonly elemType?: string | undefined;
        /** The column takes no NULL. */
        readonly nullable?: false | undefined;
        /** The expression of its DEFAULT. */
        readonly default?: string | undefined;
        /** The expression that gives its values. */
        readonly generated?: string | undefined;
      }[] | null;
      /** What CREATE TABLE said beyond its columns. Keys are not enforced. */
      readonly constraints?: {
        readonly primaryKey?: readonly string[] | undefined;
        readonly unique?: readonly (readonly string[])[] | undefined;
        readonly checks?: readonly string[] | undefined;
        readonly foreignKeys?: readonly {
          readonly name?: string | undefined;
          readonly columns: readonly string[];
          readonly table: string;
          readonly references?: readonly string[] | undefined;
        }[] | undefined;
      } | undefined;
      readonly bytes: {
        /** On disk, as stored. */
        readonly cold: number;
        /** In memory, ready to be sent. */
        readonly hot: number;
      };
      /** When the frame was first put or last overwritten. */
      readonly created: string | null;
      /** Its time to live in seconds; null: it stays. */
      readonly ttl: number | null;
      /** When it goes unless it is read before. */
      readonly expires: string | null;
      /** What is wrong with it. */
      readonly damaged: string | null;
      /** The query of a view: only for its own tenant, and not for a token whose prefix hides what it reads. */
      readonly sql?: string | undefined;
      /** What a view reads, for whoever sees its query. */
      readonly reads?: readonly string[] | undefined;
    };
  };
  /** Drops a frame. */
  readonly 'DELETE /handles/{handle}': {
    readonly segments: {
      /** The handle of the frame. */
      readonly handle: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly handle: string;
      readonly version: number;
      readonly dropped: true;
    };
  };
  /** Starts the time to live of a frame again. */
  readonly 'POST /handles/{handle}/renew': {
    readonly segments: {
      /** The handle of the frame. */
      readonly handle: string;
    };
    readonly query: {
      /** Another time to live; `none`: the frame stays. Default: the one that it has. */
      readonly ttl?: string | undefined;
    };
    readonly body: {
      /** A time to live: seconds, or text such as "90s", "15m", "12h", "7d". null or "none": the frame stays. */
      readonly ttl?: string | number | null | undefined;
    };
    readonly answer: {
      /** `owner/handle` where another tenant shares it. */
      readonly handle: string;
      /** It is a frame of another tenant, to be read. */
      readonly shared?: true | undefined;
      readonly kind: 'frame' | 'view';
      readonly state: 'held' | 'damaged';
      /** Grows with each put, append and overwrite. */
      readonly version: number;
      /** Names these rows for good. */
      readonly versionId: string | null;
      /** How many; null of a view. */
      readonly rows: number | null;
      readonly columns: readonly {
        readonly name: string;
        readonly type: string;
        /** Dimensions of an ARRAY. */
        readonly dim?: number | undefined;
        /** What an ARRAY holds. */
        readonly elemType?: string | undefined;
        /** The column takes no NULL. */
        readonly nullable?: false | undefined;
        /** The expression of its DEFAULT. */
        readonly default?: string | undefined;
        /** The expression that gives its values. */
        readonly generated?: string | undefined;
      }[] | null;
      /** What CREATE TABLE said beyond its columns. Keys are not enforced. */
      readonly constraints?: {
        readonly primaryKey?: readonly string[] | undefined;
        readonly unique?: readonly (readonly string[])[] | undefined;
        readonly checks?: readonly string[] | undefined;
        readonly foreignKeys?: readonly {
          readonly name?: string | undefined;
          readonly columns: readonly string[];
          readonly table: string;
          readonly references?: readonly string[] | undefined;
        }[] | undefined;
      } | undefined;
      readonly bytes: {
        /** On disk, as stored. */
        readonly cold: number;
        /** In memory, ready to be sent. */
        readonly hot: number;
      };
      /** When the frame was first put or last overwritten. */
      readonly created: string | null;
      /** Its time to live in seconds; null: it stays. */
      readonly ttl: number | null;
      /** When it goes unless it is read before. */
      readonly expires: string | null;
      /** What is wrong with it. */
      readonly damaged: string | null;
      /** The query of a view: only for its own tenant, and not for a token whose prefix hides what it reads. */
      readonly sql?: string | undefined;
      /** What a view reads, for whoever sees its query. */
      readonly reads?: readonly string[] | undefined;
    };
  };
  /** Gives the rows of a frame from a number on, and those that come. */
  readonly 'GET /handles/{handle}/rows': {
    readonly segments: {
      /** The handle of the frame. */
      readonly handle: string;
    };
    readonly query: {
      /** The number of the first row, from 0; `end`: only rows that come from now on. */
      readonly from?: number | 'end' | undefined;
      /** Wait for rows: `long-poll` answers with the next ones, `sse` with events that do not end. Without it, only rows that are there. */
      readonly live?: 'long-poll' | 'sse' | undefined;
      /** What the rows are written as; `arrow`, `csv` and `tsv` not as events. */
      readonly fmt?: 'ndjson' | 'json' | 'arrow' | 'csv' | 'tsv' | undefined;
      /** How long `long-poll` waits for a row before it answers 204: at most 10m. Default 30s. */
      readonly wait?: string | undefined;
      /** How many rows at most in a response (default 10000), or in an event (default 1000); never more than `http.max_limit`. */
      readonly limit?: number | undefined;
      /** Which columns, in this order: names with commas between them, in double quotes where they need them. */
      readonly columns?: string | undefined;
      /** Only rows for which it holds: a predicate of SQL over the columns of the frame, such as `symbol = 'A' and price > 10`. `limit` counts the rows that are looked at. */
      readonly where?: string | undefined;
      /** That of an answer before: a frame that was replaced since is answered 410. */
      readonly lineage?: string | undefined;
      /** Leave out the names: the first line of csv and tsv, `query` and `columns` of json. */
      readonly nm?: boolean | undefined;
      /** Every LONG of json as a string, for parsers that round at 2^53. */
      readonly quoteLargeNum?: boolean | undefined;
      /** Of json and ndjson: NaN, Infinity and -Infinity as strings, also infinite dates and timestamps, and those in arrays and structs: otherwise JSON has them as null. */
      readonly quoteNonFinite?: boolean | undefined;
    };
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
  /** Brings appended rows that are only in the log of a frame into Parquet. */
  readonly 'POST /handles/{handle}/flush': {
    readonly segments: {
      /** The handle of the frame. */
      readonly handle: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      /** `owner/handle` where another tenant shares it. */
      readonly handle: string;
      /** It is a frame of another tenant, to be read. */
      readonly shared?: true | undefined;
      readonly kind: 'frame' | 'view';
      readonly state: 'held' | 'damaged';
      /** Grows with each put, append and overwrite. */
      readonly version: number;
      /** Names these rows for good. */
      readonly versionId: string | null;
      /** How many; null of a view. */
      readonly rows: number | null;
      readonly columns: readonly {
        readonly name: string;
        readonly type: string;
        /** Dimensions of an ARRAY. */
        readonly dim?: number | undefined;
        /** What an ARRAY holds. */
        readonly elemType?: string | undefined;
        /** The column takes no NULL. */
        readonly nullable?: false | undefined;
        /** The expression of its DEFAULT. */
        readonly default?: string | undefined;
        /** The expression that gives its values. */
        readonly generated?: string | undefined;
      }[] | null;
      /** What CREATE TABLE said beyond its columns. Keys are not enforced. */
      readonly constraints?: {
        readonly primaryKey?: readonly string[] | undefined;
        readonly unique?: readonly (readonly string[])[] | undefined;
        readonly checks?: readonly string[] | undefined;
        readonly foreignKeys?: readonly {
          readonly name?: string | undefined;
          readonly columns: readonly string[];
          readonly table: string;
          readonly references?: readonly string[] | undefined;
        }[] | undefined;
      } | undefined;
      readonly bytes: {
        /** On disk, as stored. */
        readonly cold: number;
        /** In memory, ready to be sent. */
        readonly hot: number;
      };
      /** When the frame was first put or last overwritten. */
      readonly created: string | null;
      /** Its time to live in seconds; null: it stays. */
      readonly ttl: number | null;
      /** When it goes unless it is read before. */
      readonly expires: string | null;
      /** What is wrong with it. */
      readonly damaged: string | null;
      /** The query of a view: only for its own tenant, and not for a token whose prefix hides what it reads. */
      readonly sql?: string | undefined;
      /** What a view reads, for whoever sees its query. */
      readonly reads?: readonly string[] | undefined;
    };
  };
  /** Tells what the values of a column are like. */
  readonly 'GET /handles/{handle}/profile': {
    readonly segments: {
      /** The handle of the frame. */
      readonly handle: string;
    };
    readonly query: {
      /** The column: of several of that name, the first. */
      readonly column: string;
      /** Which parts, with commas between them: `values` (counts, least, greatest, average and about how many different ones; always told), `top` (the 20 commonest values), `histogram` (50 bins at most, for numbers and times), `quantiles`. */
      readonly parts?: string | undefined;
      /** The quantiles too, which take longer than all the rest. */
      readonly quantiles?: boolean | undefined;
    };
    readonly body: undefined;
    readonly answer: {
      readonly handle: string;
      readonly column: string;
      readonly type: string;
      readonly rows: number;
      /** Values that are not NULL. */
      readonly count: number;
      readonly nulls: number;
      /** Of floating-point numbers. */
      readonly nans: number;
      /** As a cell of /exec with quoteLargeNum=true, but NaN, Infinity and -Infinity as text. */
      readonly min: string | number | boolean | null;
      /** As a cell of /exec with quoteLargeNum=true, but NaN, Infinity and -Infinity as text. */
      readonly max: string | number | boolean | null;
      readonly mean: number | null;
      /** How many different values there are. */
      readonly distinct: number | null;
      /** Whether `distinct` was counted, as it is with `top`, unless there are about a million or more. Else it is an estimate, wrong by a third at times. */
      readonly distinct_exact: boolean;
      /** The commonest values; null where there are more than a million different ones. Texts are cut after 200 characters. */
      readonly top: readonly {
        /** As a cell of /exec with quoteLargeNum=true, but NaN, Infinity and -Infinity as text. */
        readonly value: string | number | boolean | null;
        readonly count: number;
      }[] | null;
      /** Times are µs since 1970. Bins without values are left out. */
      readonly histogram: {
        readonly step: number;
        readonly bins: readonly {
          readonly from: number;
          readonly to: number;
          readonly count: number;
        }[];
      } | null;
      readonly quantiles: readonly {
        readonly rank: number;
        /** As a cell of /exec with quoteLargeNum=true, but NaN, Infinity and -Infinity as text. */
        readonly value: string | number | boolean | null;
      }[] | null;
    };
  };
  /** Runs a statement over the frames. */
  readonly 'POST /sql': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      /** One statement, of at most 1 MiB. */
      readonly sql: string;
      /** Values of the parameters: an array for ? and $1, an object for $name (on a cluster engine ? and :name). A value is null, true, false, a number (a whole one is INTEGER, BIGINT or HUGEINT, every digit exact; any other DOUBLE), text (which the statement reads as what it needs, like a literal), an array of values, or {"type":…,"value":…} for any other type: DATE, TIMESTAMP, DECIMAL(10,2), UUID, INTERVAL, BLOB (in base64), JSON, DATE[] …. */
      readonly params?: readonly unknown[] | Readonly<Record<string, unknown>> | null | undefined;
      /** Settings of this statement alone, by name. Spark takes only TimeZone, Sail none. */
      readonly settings?: {
        /** The zone of casts between `TIMESTAMPTZ` and text, date or `TIMESTAMP`, of date parts and of `current_date`: the name of a time zone such as Europe/Berlin. */
        readonly TimeZone?: string | undefined;
        /** The calendar of date parts and of `strftime` of a `TIMESTAMPTZ`: the name of a calendar such as japanese. */
        readonly Calendar?: string | undefined;
        /** Where `ORDER BY` puts `NULL`: NULLS_LAST, NULLS_FIRST, NULLS_FIRST_ON_ASC_LAST_ON_DESC, NULLS_LAST_ON_ASC_FIRST_ON_DESC. */
        readonly default_null_order?: string | undefined;
        /** The order of `ORDER BY x`: ASC, DESC. */
        readonly default_order?: string | undefined;
        /** How text is compared and sorted: the name of a collation such as de, NOCASE or NOCASE.NOACCENT. */
        readonly default_collation?: string | undefined;
        /** `/` of integers divides without a remainder, as in PostgreSQL: true or false. */
        readonly integer_division?: boolean | string | undefined;
        /** Division by zero is infinity or NaN; otherwise `NULL`: true or false. */
        readonly ieee_floating_point_ops?: boolean | string | undefined;
        /** Any type is cast to text where text is needed: true or false. */
        readonly old_implicit_casting?: boolean | string | undefined;
        /** `ORDER BY 'x'` is allowed, and orders nothing: true or false. */
        readonly order_by_non_integer_literal?: boolean | string | undefined;
        /** A subquery as a value that gives several rows is an error; otherwise its first row counts: true or false. */
        readonly scalar_subquery_error_on_multiple_rows?: boolean | string | undefined;
      } | null | undefined;
      /** What runs it: `local`, over the frames; a name of `[engines]`, the same there; `auto`, the one or the other by what the statement reads. */
      readonly engine?: string | undefined;
      /** What the rows are written as. */
      readonly format?: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson' | undefined;
      /** As of /exec: 100 or "100" are the first 100 rows, "11,20" rows 11 to 20, "11," those from 11 on. */
      readonly limit?: number | string | undefined;
      /** Which columns, in this order: an array of names, or text as for /exp. */
      readonly cols?: string | readonly string[] | undefined;
      /** Milliseconds within which the answer must begin; `sql.timeout`, or `query_timeout` of the engine, holds as well. */
      readonly timeout_ms?: number | undefined;
      /** The rows become a frame, which others read by its handle, and are not sent. */
      readonly keep?: {
        /** Where to. Without one the server makes one. */
        readonly handle?: string | undefined;
        /** What to do with a frame that is there already: `create` refuses. */
        readonly mode?: 'create' | 'overwrite' | 'append' | undefined;
        /** A time to live: seconds, or text such as "90s", "15m", "12h", "7d". null or "none": the frame stays. */
        readonly ttl?: string | number | null | undefined;
      } | undefined;
      /** Leave out the names: the first line of csv and tsv, `query` and `columns` of json. */
      readonly nm?: boolean | undefined;
      /** The character between the fields of csv. */
      readonly delimiter?: string | undefined;
      /** The name under which a browser saves it. Without it, it is shown. */
      readonly filename?: string | undefined;
      /** Every LONG of json as a string, for parsers that round at 2^53. */
      readonly quoteLargeNum?: boolean | undefined;
      /** Of json and ndjson: NaN, Infinity and -Infinity as strings, also infinite dates and timestamps, and those in arrays and structs: otherwise JSON has them as null. */
      readonly quoteNonFinite?: boolean | undefined;
      /** An apostrophe before text that a spreadsheet would take for a formula (= + - @, tab, line break), in csv and tsv. The data are then no longer exact. */
      readonly escapeFormulas?: boolean | undefined;
      /** How parquet is compressed. Without it, a whole frame keeps its own. */
      readonly compression_codec?: 'zstd' | 'snappy' | 'gzip' | 'brotli' | 'lz4' | 'lz4_raw' | 'uncompressed' | undefined;
      /** The level of zstd. */
      readonly compression_level?: number | undefined;
    };
    readonly answer: {
      readonly query?: string | undefined;
      readonly columns?: readonly {
        readonly name: string;
        readonly type: string;
        /** Dimensions of an ARRAY. */
        readonly dim?: number | undefined;
        /** What an ARRAY holds. */
        readonly elemType?: string | undefined;
      }[] | undefined;
      readonly timestamp?: -1 | undefined;
      readonly dataset: readonly (readonly unknown[])[];
      readonly count: number;
      /** Of a statement with RETURNING. */
      readonly dml?: 'OK' | undefined;
      /** Rows that it changed. */
      readonly updated?: number | undefined;
      /** What ran it, where the request named an engine or the server chose one. */
      readonly engine?: string | undefined;
      /** Why it ran there. */
      readonly engine_reason?: string | undefined;
    } | {
      readonly handle: string;
      readonly version: number;
      /** Of the frame. */
      readonly rows: number;
      /** Of the statement: in the mode append fewer than the frame has. */
      readonly rowsAdded: number;
      readonly bytes: number;
      readonly columns: readonly {
        readonly name: string;
        readonly type: string;
        /** Dimensions of an ARRAY. */
        readonly dim?: number | undefined;
        /** What an ARRAY holds. */
        readonly elemType?: string | undefined;
      }[];
      readonly expires: string | null;
      /** The append of this producer was seen before: no row was added again. */
      readonly repeated?: true | undefined;
      /** What ran it, where the request named an engine or the server chose one. */
      readonly engine?: string | undefined;
      /** Why it ran there. */
      readonly engine_reason?: string | undefined;
    } | {
      readonly ddl: 'OK';
      /** What ran it, where the request named an engine or the server chose one. */
      readonly engine?: string | undefined;
      /** Why it ran there. */
      readonly engine_reason?: string | undefined;
    } | {
      readonly dml: 'OK';
      /** Rows that were added, changed or removed. */
      readonly updated: number;
      /** The append of this producer was seen before: no row was added again. */
      readonly repeated?: true | undefined;
      /** What ran it, where the request named an engine or the server chose one. */
      readonly engine?: string | undefined;
      /** Why it ran there. */
      readonly engine_reason?: string | undefined;
    };
  };
  /** Draws a frame or a query, downsampled. */
  readonly 'POST /plot': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      /** The frame to draw; or `sql`. */
      readonly handle?: string | undefined;
      /** A query whose rows are drawn; or `handle`. */
      readonly sql?: string | undefined;
      /** What runs it: `local`, over the frames; a name of `[engines]`, the same there; `auto`, the one or the other by what the statement reads. Or `tsdb`. Of an engine other than local at most 100000 rows are taken. */
      readonly engine?: string | undefined;
      /** Values of the parameters: an array for ? and $1, an object for $name (on a cluster engine ? and :name). A value is null, true, false, a number (a whole one is INTEGER, BIGINT or HUGEINT, every digit exact; any other DOUBLE), text (which the statement reads as what it needs, like a literal), an array of values, or {"type":…,"value":…} for any other type: DATE, TIMESTAMP, DECIMAL(10,2), UUID, INTERVAL, BLOB (in base64), JSON, DATE[] …. */
      readonly params?: readonly unknown[] | Readonly<Record<string, unknown>> | null | undefined;
      /** `line`: the first, last, lowest and highest point of each pixel column; `band`: average, lowest and highest value of each; `bars`: an aggregate for each span of x, or for each text; `histogram`: how often values of `x` occur; `scatter`: all points, or counts of cells where they are many. */
      readonly kind?: 'line' | 'band' | 'bars' | 'histogram' | 'scatter' | undefined;
      /** A column of times or numbers; for bars also of texts. Default: the number of the row. */
      readonly x?: string | undefined;
      /** Columns of numbers, 8 at most. Needed but for histograms and bars, which count rows without them. */
      readonly y?: string | readonly string[] | undefined;
      /** A column whose values tell series apart. The 8 with the most rows are drawn. */
      readonly series?: string | undefined;
      /** Of the plot, in device pixels: 2 to 16384. */
      readonly width?: number | undefined;
      /** Of the plot, in device pixels, 2 to 16384: for the cells of `scatter`. */
      readonly height?: number | undefined;
      /** The least x: µs since 1970 or a text such as `2026-01-31T12:00:00Z` for times. */
      readonly from?: number | string | undefined;
      /** The greatest x. */
      readonly to?: number | string | undefined;
      /** What a bar is of its values. */
      readonly aggregate?: 'avg' | 'sum' | 'min' | 'max' | 'count' | undefined;
      /** The most bars or bins: 1 to 1000. */
      readonly bins?: number | undefined;
    };
    readonly answer: {
      readonly kind: 'line' | 'band' | 'bars' | 'histogram' | 'scatter';
      /** What x is. Times are µs since 1970; whole numbers beyond 2^53 are rounded. */
      readonly x: {
        /** Null: the number of the row. */
        readonly column: string | null;
        readonly type: 'time' | 'number' | 'category' | 'row';
        readonly from: number | null;
        readonly to: number | null;
      };
      readonly series: readonly {
        /** Null: rows are counted. */
        readonly column: string | null;
        /** The value of the column `series`. */
        readonly group: string | null;
        /** Bars and bins: where they begin. */
        readonly x: readonly (number | string)[];
        readonly y: readonly (number | null)[];
        /** Of `band`. */
        readonly low?: readonly (number | null)[] | undefined;
        /** Of `band`. */
        readonly high?: readonly (number | null)[] | undefined;
      }[];
      /** Of `scatter` with more points than are sent one by one. */
      readonly cells?: {
        readonly columns: number;
        readonly rows: number;
        readonly y: {
          readonly from: number;
          readonly to: number;
        };
        /** Column, row and count of each cell that has points, one behind the other. */
        readonly counts: readonly number[];
      } | undefined;
      /** How wide bars and bins are. */
      readonly step?: number | undefined;
      /** Rows in the range that the plot is made of. */
      readonly rows: number;
      /** Points, bars, bins or cells of the answer. */
      readonly points: number;
      /** Values of y that are NaN or infinite, and not drawn. Not of `scatter`, and on the engine local alone. */
      readonly not_finite?: number | undefined;
      /** Whether they are all values of these rows. */
      readonly complete: boolean;
      /** Whether the statement has more rows than were taken of it. */
      readonly cut: boolean;
      /** How many series there are, with those that are left out. */
      readonly series_count: number;
      /** Of bars over texts: how many texts there are, with those that are left out. */
      readonly category_count?: number | undefined;
      /** What ran it, where the request named an engine or the server chose one. */
      readonly engine?: string | undefined;
      /** Why it ran there. */
      readonly engine_reason?: string | undefined;
    };
  };
  /** The statements over frames that are under way. */
  readonly 'GET /queries': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly queries: readonly {
        /** `X-Request-Id` of the request, over HTTP or gRPC. */
        readonly id: string;
        readonly tenant: string;
        readonly engine: string;
        /** The first 1000 characters of the statement. */
        readonly sql: string;
        readonly started: string;
        /** With the time that it waited for its turn. */
        readonly elapsed_ms: number;
        /** How far it is, where the engine tells: Spark does. */
        readonly progress: {
          /** Those that are known so far: more may follow. */
          readonly tasks: number;
          readonly completed_tasks: number;
          readonly running_tasks: number;
          readonly bytes_read: number;
        } | null;
      }[];
    };
  };
  /** Cancels a statement that is under way. */
  readonly 'DELETE /queries/{id}': {
    readonly segments: {
      /** As GET /queries tells it. Several requests that were sent with the same X-Request-Id stop together. */
      readonly id: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly id: string;
      readonly cancelled: true;
    };
  };
  /** The engines that `engine` may name, and how they are. */
  readonly 'GET /engines': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly engines: readonly {
        readonly name: string;
        /** What it is, or speaks: `duckdb`, `questdb`, `spark-connect`. */
        readonly kind: string;
        readonly state: 'up' | 'down';
        /** Where it tells one. */
        readonly version: string | null;
        /** Of one that is down. */
        readonly problem?: string | undefined;
        /** Statements that were given up and that the engine has not stopped yet; each takes the place of a new one. */
        readonly unstopped?: number | undefined;
        /** `query` of /exec goes there without `engine`. */
        readonly default: boolean;
        /** `engine=auto` sends statements there that read much. */
        readonly auto: boolean;
      }[];
    };
  };
  /** Who the caller is. */
  readonly 'GET /whoami': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly tenant: string;
      /** Of the token, of the subject of a JWT, or of a certificate. */
      readonly name: string;
      readonly role: 'read' | 'write' | 'admin' | 'operator';
      /** Only handles that begin so can be used. */
      readonly prefix: string | null;
      readonly credential: 'none' | 'anonymous' | 'token' | 'jwt' | 'certificate';
      /** When the credential ends. */
      readonly expires: string | null;
      /** What the tenant holds. */
      readonly use: {
        readonly frames: number;
        readonly bytes: number;
      };
      /** What the tenant may use. null: no limit. */
      readonly limits: {
        readonly max_frames: number | null;
        readonly max_bytes: number | null;
        /** Requests a second. */
        readonly max_rate: number | null;
        /** Under way. */
        readonly max_statements: number | null;
        /** Beside local. */
        readonly engines: readonly string[] | null;
      };
    };
  };
  /** A ticket for a link. */
  readonly 'POST /tickets': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      /** Path and query string of /exp or /exec. */
      readonly path: string;
    };
    readonly answer: {
      /** A secret. */
      readonly ticket: string;
      readonly expires: string;
    };
  };
  /** How the server is. */
  readonly 'GET /stats': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly version: string;
      readonly uptime_ms: number;
      /** What is under way and held of the tenant; `statements` as GET /queries lists them. */
      readonly tenant: {
        readonly name: string;
        readonly frames: number;
        readonly bytes: number;
        readonly statements: number;
        readonly followers: number;
      };
      readonly server?: {
        /** The version of Node.js. */
        readonly node: string;
        /** Of this process, without its workers. */
        readonly memory: {
          readonly rss_bytes: number;
          readonly heap_used_bytes: number;
          readonly heap_total_bytes: number;
          readonly external_bytes: number;
        };
        /** The processes that run SQL, and read and write frames. */
        readonly workers: {
          readonly processes: number;
          /** Null where the system is not Linux. */
          readonly rss_bytes: number | null;
        };
        /** How late the process was for its work, within the last minute; null at the first request. */
        readonly event_loop: {
          readonly p50_ms: number;
          readonly p99_ms: number;
          readonly max_ms: number;
        } | null;
        /** Of the data directory. */
        readonly disk: {
          readonly free_bytes: number;
          readonly total_bytes: number;
          /** By the files of all frames. */
          readonly used_bytes: number;
        } | null;
        /** Encoded rows in memory. A read that misses a page asks once more for its rows. */
        readonly cache: {
          readonly budget_bytes: number;
          readonly used_bytes: number;
          readonly entries: number;
          readonly hits: number;
          readonly misses: number;
        };
        /** Encoded rows on disk; null where it is switched off. */
        readonly disk_cache: {
          readonly budget_bytes: number;
          readonly used_bytes: number;
          readonly entries: number;
          readonly hits: number;
          readonly misses: number;
          /** Chunks that were not as they had been written. */
          readonly damaged: number;
        } | null;
        /** Of all tenants. `puts`, `rows_put` and `bytes_put` count what was put and appended since the start, in bytes as they were first stored. */
        readonly frames: {
          readonly frames: number;
          readonly bytes: number;
          readonly puts: number;
          readonly rows_put: number;
          readonly bytes_put: number;
        };
        /** Of all tenants. */
        readonly statements: {
          readonly under_way: number;
          readonly begun: number;
        };
        readonly followers: number;
        readonly listeners: {
          readonly http: {
            /** Since the start. */
            readonly requests: number;
            /** Of them, those answered with a status of 500 or more, or its like over gRPC. */
            readonly failed: number;
            readonly under_way: number;
            /** How long requests took that ended in the last minute, to a third; null where none did. */
            readonly last_minute: {
              readonly count: number;
              readonly p50_ms: number;
              readonly p90_ms: number;
              readonly p99_ms: number;
              readonly max_ms: number;
            } | null;
          };
          readonly grpc: {
            /** Since the start. */
            readonly requests: number;
            /** Of them, those answered with a status of 500 or more, or its like over gRPC. */
            readonly failed: number;
            readonly under_way: number;
            /** How long requests took that ended in the last minute, to a third; null where none did. */
            readonly last_minute: {
              readonly count: number;
              readonly p50_ms: number;
              readonly p90_ms: number;
              readonly p99_ms: number;
              readonly max_ms: number;
            } | null;
          };
        };
      } | undefined;
    };
  };
  /** The settings in force. */
  readonly 'GET /config': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly config_file: string | null;
      readonly settings: readonly {
        /** As in the TOML file: `http.max_body`. */
        readonly key: string;
        /** null: it is not set. */
        readonly value: string | null;
        /** Where the value came from: a flag, a variable of the environment, a line of a file, or `default`. */
        readonly origin: string;
        /** Whether SIGHUP applies a change. */
        readonly reload: boolean;
        /** At the last SIGHUP another value was found, which waits for a restart. */
        readonly needs_restart: boolean;
      }[];
    };
  };
  /** Lists the tokens of the tenant. */
  readonly 'GET /tokens': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly tokens: readonly {
        /** Names the token; it is no secret. */
        readonly id: string;
        readonly name: string;
        /** null: an operator's. */
        readonly tenant: string | null;
        readonly role: 'read' | 'write' | 'admin' | 'operator';
        readonly prefix: string | null;
        readonly created: string;
        readonly expires: string | null;
        /** The day, in UTC. */
        readonly last_used: string | null;
      }[];
    };
  };
  /** Makes a token. */
  readonly 'POST /tokens': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      /** At most 100 characters. */
      readonly name: string;
      /** At most your own. */
      readonly role: 'read' | 'write' | 'admin' | 'operator';
      /** Time that it is good for, such as 90d. Default: for ever. */
      readonly expires?: string | undefined;
      /** Only handles that begin so can be used with it. */
      readonly prefix?: string | undefined;
      /** Whose it is. Default: your own. Others': only for operators. */
      readonly tenant?: string | undefined;
    };
    readonly answer: {
      /** Names the token; it is no secret. */
      readonly id: string;
      readonly name: string;
      /** null: an operator's. */
      readonly tenant: string | null;
      readonly role: 'read' | 'write' | 'admin' | 'operator';
      readonly prefix: string | null;
      readonly created: string;
      readonly expires: string | null;
      /** The day, in UTC. */
      readonly last_used: string | null;
      /** The secret. */
      readonly token: string;
    };
  };
  /** Revokes a token. */
  readonly 'DELETE /tokens/{id}': {
    readonly segments: {
      /** As GET /tokens shows it. */
      readonly id: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly id: string;
      readonly revoked: true;
    };
  };
  /** Makes another token with the rights of one, which ends after a while. */
  readonly 'POST /tokens/{id}/rotate': {
    readonly segments: {
      /** As GET /tokens shows it. */
      readonly id: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      /** A duration. Default: 24h. */
      readonly overlap?: string | undefined;
    };
    readonly answer: {
      /** Names the token; it is no secret. */
      readonly id: string;
      readonly name: string;
      /** null: an operator's. */
      readonly tenant: string | null;
      readonly role: 'read' | 'write' | 'admin' | 'operator';
      readonly prefix: string | null;
      readonly created: string;
      readonly expires: string | null;
      /** The day, in UTC. */
      readonly last_used: string | null;
      /** The secret. */
      readonly token: string;
    };
  };
  /** Lists the tenants. */
  readonly 'GET /tenants': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly tenants: readonly {
        readonly name: string;
        readonly created: string | null;
        /** Frames that it may hold. null: no limit. */
        readonly max_frames: number | null;
        /** Bytes of cold files. null: no limit. */
        readonly max_bytes: number | null;
        /** Requests a second. null: no limit. */
        readonly max_rate: number | null;
        /** Statements under way. null: no limit. */
        readonly max_statements: number | null;
        /** Beside local. null: all, as default has. */
        readonly engines: readonly string[] | null;
      }[];
    };
  };
  /** Makes a tenant. */
  readonly 'POST /tenants': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      readonly name: string;
      /** Frames that it may hold. null: no limit. */
      readonly max_frames?: number | null | undefined;
      /** Bytes of cold files. null: no limit. */
      readonly max_bytes?: number | null | undefined;
      /** Requests a second. null: no limit. */
      readonly max_rate?: number | null | undefined;
      /** Statements under way. null: no limit. */
      readonly max_statements?: number | null | undefined;
      /** tsdb, analytics, or engines by name. */
      readonly engines?: readonly string[] | undefined;
    };
    readonly answer: {
      readonly name: string;
      readonly created: string | null;
      /** Frames that it may hold. null: no limit. */
      readonly max_frames: number | null;
      /** Bytes of cold files. null: no limit. */
      readonly max_bytes: number | null;
      /** Requests a second. null: no limit. */
      readonly max_rate: number | null;
      /** Statements under way. null: no limit. */
      readonly max_statements: number | null;
      /** Beside local. null: all, as default has. */
      readonly engines: readonly string[] | null;
    };
  };
  /** Changes what a tenant may use. */
  readonly 'PATCH /tenants/{name}': {
    readonly segments: {
      /** Name of the tenant. */
      readonly name: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: {
      /** Frames that it may hold. null: no limit. */
      readonly max_frames?: number | null | undefined;
      /** Bytes of cold files. null: no limit. */
      readonly max_bytes?: number | null | undefined;
      /** Requests a second. null: no limit. */
      readonly max_rate?: number | null | undefined;
      /** Statements under way. null: no limit. */
      readonly max_statements?: number | null | undefined;
      /** tsdb, analytics, or engines by name. */
      readonly engines?: readonly string[] | undefined;
    };
    readonly answer: {
      readonly name: string;
      readonly created: string | null;
      /** Frames that it may hold. null: no limit. */
      readonly max_frames: number | null;
      /** Bytes of cold files. null: no limit. */
      readonly max_bytes: number | null;
      /** Requests a second. null: no limit. */
      readonly max_rate: number | null;
      /** Statements under way. null: no limit. */
      readonly max_statements: number | null;
      /** Beside local. null: all, as default has. */
      readonly engines: readonly string[] | null;
    };
  };
  /** Removes a tenant that has no frames. */
  readonly 'DELETE /tenants/{name}': {
    readonly segments: {
      /** Name of the tenant. */
      readonly name: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly name: string;
      readonly removed: true;
    };
  };
  /** Lists the tenants that a frame is shared with. */
  readonly 'GET /handles/{handle}/shares': {
    readonly segments: {
      /** The handle of a frame of your own. */
      readonly handle: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly shares: readonly {
        readonly tenant: string;
      }[];
    };
  };
  /** Shares a frame with another tenant, which may read it. */
  readonly 'PUT /handles/{handle}/shares/{tenant}': {
    readonly segments: {
      /** The handle of a frame of your own. */
      readonly handle: string;
      /** The tenant that reads the frame. The answer is the same whether there is such a tenant or not. */
      readonly tenant: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly handle: string;
      readonly tenant: string;
      readonly shared: boolean;
    };
  };
  /** Ends the share of a frame with a tenant. */
  readonly 'DELETE /handles/{handle}/shares/{tenant}': {
    readonly segments: {
      /** The handle of a frame of your own. */
      readonly handle: string;
      /** The tenant that reads the frame. The answer is the same whether there is such a tenant or not. */
      readonly tenant: string;
    };
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly handle: string;
      readonly tenant: string;
      readonly shared: boolean;
    };
  };
  /** A frame or view as a file. */
  readonly 'GET /frames/{owner}/{handle}.{format}': {
    readonly segments: {
      /** The tenant that shares the frame. */
      readonly owner: string;
      /** The handle of the frame. It may have dots of its own. */
      readonly handle: string;
      /** What the rows are written as, as `fmt` of /exp has it. */
      readonly format: 'csv' | 'tsv' | 'parquet' | 'arrow' | 'json' | 'ndjson';
    };
    readonly query: {
      /** Which rows: `N`, the first N; `lo,hi`, those after the first lo up to row hi, as QuestDB's /exp has it, and unlike /exec; `lo,`, to the end. Without it, all. */
      readonly limit?: string | undefined;
      /** Which columns, in this order: names with commas between them, in double quotes where they need them. */
      readonly cols?: string | undefined;
      /** Leave out the names: the first line of csv and tsv, `query` and `columns` of json. */
      readonly nm?: boolean | undefined;
      /** The character between the fields of csv. */
      readonly delimiter?: string | undefined;
      /** The name under which a browser saves it. Without it, that of the frame. */
      readonly filename?: string | undefined;
      /** How parquet is compressed. Without it, a whole frame keeps its own. */
      readonly compression_codec?: 'zstd' | 'snappy' | 'gzip' | 'brotli' | 'lz4' | 'lz4_raw' | 'uncompressed' | undefined;
      /** The level of zstd. */
      readonly compression_level?: number | undefined;
      /** Every LONG of json as a string, for parsers that round at 2^53. */
      readonly quoteLargeNum?: boolean | undefined;
      /** Of json and ndjson: NaN, Infinity and -Infinity as strings, also infinite dates and timestamps, and those in arrays and structs: otherwise JSON has them as null. */
      readonly quoteNonFinite?: boolean | undefined;
      /** An apostrophe before text that a spreadsheet would take for a formula (= + - @, tab, line break), in csv and tsv. The data are then no longer exact. */
      readonly escapeFormulas?: boolean | undefined;
      /** Seconds within which all of it must be sent. */
      readonly timeout?: number | undefined;
    };
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
  /** What this server is, and where its gRPC listener is. */
  readonly 'GET /info': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly name: 'framehold';
      readonly version?: string | undefined;
      readonly grpc: {
        readonly host: string;
        readonly port: number;
        /** Whether it speaks TLS: `grpc+tls://`. */
        readonly tls: boolean;
      };
      /** What `engine` may name; GET /engines tells more. */
      readonly engines?: readonly string[] | undefined;
      /** Where `query` of /exec goes without `engine`. */
      readonly default_engine?: string | undefined;
      /** What callers must show, where they must. The rest is told to those who do. */
      readonly credentials?: readonly string[] | undefined;
      /** Issuers where people log in by a browser, by the authorization code flow with PKCE. For callers without credentials. */
      readonly login?: readonly {
        /** Its name in the settings. */
        readonly issuer: string;
        readonly client_id: string;
        readonly scope: string;
        readonly authorization_endpoint: string;
        readonly token_endpoint: string;
      }[] | undefined;
      /** Where `engine=auto` sends what reads much. */
      readonly auto_engine?: string | undefined;
      /** Most rows that one request to /exec or /sql may ask for. Missing: any number. */
      readonly max_limit?: number | undefined;
    };
  };
  /** This document. */
  readonly 'GET /openapi.json': {
    readonly segments: Readonly<Record<string, never>>;
    readonly query: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
}

export type Answer<Name extends keyof Api> = Api[Name]['answer'];
