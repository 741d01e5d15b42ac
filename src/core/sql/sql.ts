import { type Column, type DataType, type DeclaredType, type EncodedRows, sqlName } from '@framehold/columns';
import type { Tenant } from '../callers/principal.ts';
import type { ChunkForm, JobOptions, PartSource } from '../rows/frame-engine.ts';
import type { TextEdit, TextPiece } from '../text/source-text.ts';
import type { Definition, DefinitionKind, MacroParameter } from './definition.ts';
import type { LiveReads } from './live-read.ts';
import type { LiveColumn } from './live-tables.ts';
import type { StatementSettings } from './statement-settings.ts';
import type { TableConstraints } from './table-constraints.ts';

/** Frames are tables of this database and schema. */
export const framesCatalog = 'framehold';
export const framesSchema = 'frames';
/** DuckDB's own schema, which every database has: another name of that of the frames. */
export const mainSchema = 'main';
/** DuckDB's name of the database of temporary tables, with the schema `main`. */
export const temporaryCatalog = 'temp';
/** The operator's database, attached for reading only. */
export const analyticsCatalog = 'analytics';

/** A table as a statement names it. */
export interface TableName {
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  readonly name: string;
  /** Its first place in the caller's text, if known. */
  readonly position?: number | undefined;
}

/** Of the operator's database: `analytics.main.t`, or `analytics.t`, whose first part parses as a schema. */
export function isAnalytics({ catalog, schema }: TableName): boolean {
  return (catalog ?? schema)?.toLowerCase() === analyticsCatalog;
}

/** As SQL writes it. */
export function tableText({ catalog, schema, name }: TableName): string {
  return [catalog, schema, name]
    .filter((part) => part !== undefined)
    .map((part) => (/^[a-z_][a-z0-9_]*$/i.test(part) ? part : sqlName(part)))
    .join('.');
}

/** A place in a text where a table's name stands. */
export interface TableReference {
  readonly table: TableName;
  readonly start: number;
  readonly end: number;
}

/** By this schema, which is no tenant's, a statement that changes a frame reads it. Only our own text may name it. */
export const targetSchema = '_target';
/** A column of it beside the frame's own: the number of the row. */
export const rowNumberColumn = 'framehold row';
/** The rows of an INSERT, as ON CONFLICT DO UPDATE names them: a struct of the columns, beside those of the frame. */
export const excludedColumn = 'excluded';
/** In which order an INSERT with ON CONFLICT gives its rows: a column beside the frame's own. */
export const insertOrderColumn = 'framehold order';

/** The same with the default of a column. */
export function defaultColumn(name: string): string {
  return `framehold default ${name}`;
}

/** The action on a row, as a column that RETURNING may name. */
export const mergeActionColumn = 'merge_action';

/** A statement that only reads, checked against the rights of callers. */
export interface Query {
  readonly sql: string;
  /** The pieces of the caller's text in it. Undefined: its places are none of that text. */
  readonly pieces?: readonly TextPiece[] | undefined;
  /** Macros and types are expanded in it. */
  readonly usesDefinitions?: true;
  /** Every table that it reads; names of its own (WITH) and the frame that is changed are not among them. */
  readonly tables: readonly TableName[];
  readonly parameterCount: number;
  /** Names of named parameters (`$name`), in the order of their first use. They are compared without regard to case. */
  readonly parameterNames?: readonly string[];
  /**
   * If it uses `rowid`, the number of a row: edits of the text for frames with a column of that name, so that `*` leaves it out.
   * `edits` are undefined if only tables can have it that do not show it.
   */
  readonly rowIds?: { readonly edits?: readonly TextEdit[] | undefined };
  /** For EXPLAIN, with or without ANALYZE: the form of its answer. */
  readonly explain?: { readonly isAnalyzed: boolean; readonly format: ExplainFormat };
  /** Only its columns are needed: the answer has a row for each. */
  readonly isDescribed?: true;
  /** It reads no rows of its tables: they stand in a DESCRIBE. */
  readonly describesTables?: true | undefined;
  /** It reads DuckDB's catalogs, and no tables: it runs where these hold only the listed tables of a `SqlJob`. */
  readonly readsCatalogs?: true;
  /** Then: edits of the text that give it the texts of views. */
  readonly viewTextEdits?: readonly TextEdit[] | undefined;
  /** Set if it reads the external database. */
  readonly live?: LiveReads;
  /** For RETURNING: it names `merge_action`. */
  readonly namesAction?: true;
}

export const explainFormats = ['default', 'text', 'json', 'html', 'graphviz', 'yaml', 'mermaid'] as const;
export type ExplainFormat = (typeof explainFormats)[number];

/** The request in a caller's SQL text. */
export type Statement<Q extends Query = Query> =
  | { readonly kind: 'query'; readonly query: Q }
  | {
      readonly kind: 'createTable';
      readonly table: TableName;
      readonly ifTaken: 'fail' | 'replace' | 'keep';
      /** Visible in the caller's session alone. */
      readonly isTemporary?: boolean | undefined;
      readonly query: Q;
      /** Constraints of the query's columns. */
      readonly constraints?: TableConstraints | undefined;
    }
  | {
      readonly kind: 'insert';
      readonly table: TableName;
      /** Undefined: all of them, in their order. */
      readonly columns: readonly string[] | undefined;
      /** How the query's columns map to the frame's. `defaults`: it is one DEFAULT, and every column gets its own. */
      readonly match?: 'position' | 'name' | 'defaults' | undefined;
      readonly query: Q;
      /** Over the rows that it adds, by the schema `_target`. */
      readonly returning?: Q | undefined;
      /** The action on rows whose key exists. Default: they are added, too. */
      readonly onConflict?: OnConflict<Q> | undefined;
    }
  | {
      readonly kind: 'alter';
      readonly what: 'table' | 'view';
      readonly table: TableName;
      readonly ifAbsent: 'fail' | 'ignore';
      readonly change: AlterChange;
      /** Gives the columns of the next version, and its rows where they change. For NOT NULL: a row that has none. */
      readonly query: Q;
    }
  | Change<Q>
  | { readonly kind: 'truncate'; readonly table: TableName }
  | {
      readonly kind: 'createView';
      readonly table: TableName;
      readonly ifTaken: 'fail' | 'replace' | 'keep';
      /** Visible in the caller's session alone. */
      readonly isTemporary?: boolean | undefined;
      readonly query: Q;
      /** The text of the query as its author wrote it. */
      readonly written: string;
      /** The same under the names of the view's columns, with every place where it names a table. */
      readonly definition: { readonly sql: string; readonly references: readonly TableReference[] };
    }
  | {
      readonly kind: 'define';
      readonly what: DefinitionKind;
      readonly name: string;
      readonly ifTaken: 'fail' | 'replace' | 'keep';
      /** Visible in the caller's session alone. */
      readonly isTemporary?: boolean | undefined;
      readonly forms: readonly DefinedForm<Q>[];
    }
  | {
      readonly kind: 'undefine';
      readonly what: DefinitionKind;
      readonly name: string;
      readonly ifAbsent: 'fail' | 'ignore';
    }
  | {
      readonly kind: 'drop';
      readonly what: 'table' | 'view';
      readonly table: TableName;
      readonly ifAbsent: 'fail' | 'ignore';
    }
  | { readonly kind: 'showTables' };

/** One form of a macro, or a type, as written. */
export interface DefinedForm<Q extends Query = Query> {
  readonly parameters: readonly MacroParameter[];
  /** The text of the body in pieces. A parameter has its number. */
  readonly segments: readonly { readonly text: string; readonly parameter?: number | undefined }[];
  /** As which it was checked: parameters are columns of their names. */
  readonly query: Q;
  /** Places of table names in the segments. */
  readonly references: readonly TableReference[];
}

/** The change of a frame's definition by ALTER TABLE. Columns are named in any case. */
export type AlterChange =
  | {
      readonly kind: 'addColumn';
      readonly column: string;
      readonly ifTaken: 'fail' | 'keep';
      readonly isNotNull: boolean;
      /** The text of an expression. */
      readonly default: string | undefined;
      /** The rows get its values, rather than nothing that means NULL. */
      readonly writesRows: boolean;
    }
  | { readonly kind: 'dropColumn'; readonly column: string; readonly ifAbsent: 'fail' | 'ignore' }
  | { readonly kind: 'renameColumn'; readonly column: string; readonly to: string }
  | { readonly kind: 'retypeColumn'; readonly column: string }
  | FieldChange
  | { readonly kind: 'setDefault'; readonly column: string; readonly sql: string }
  | { readonly kind: 'dropDefault' | 'setNotNull' | 'dropNotNull'; readonly column: string }
  | { readonly kind: 'renameTable'; readonly to: string };

/** Adds, drops or renames a field of a struct that is the column or stands inside of it. */
export interface FieldChange {
  readonly kind: 'changeField';
  readonly column: string;
  /** From the column to the field: fields, `element` of a list, `key` and `value` of a map. */
  readonly path: readonly string[];
  readonly action:
    | {
        readonly verb: 'add';
        readonly ifTaken: 'fail' | 'keep';
        /** The text of an expression of its type. */
        readonly sql: string;
      }
    | { readonly verb: 'drop'; readonly ifAbsent: 'fail' | 'ignore' }
    | { readonly verb: 'rename'; readonly to: string };
}

/** UPDATE, DELETE or MERGE. */
export interface Change<Q extends Query = Query> {
  readonly kind: 'change';
  readonly verb: 'update' | 'delete' | 'merge';
  readonly table: TableName;
  /**
   * The row changes: the number of each row (NULL: a new row), `UPDATE`, `DELETE` or `INSERT`, and the values of `set` that are no
   * defaults; of all columns of the frame if it is whole.
   */
  readonly query: Q;
  /** Columns that get values, as the statement names them. */
  readonly set: readonly SetColumn[];
  readonly isWhole: boolean;
  /** Over the rows that it changes, by the schema `_target`. */
  readonly returning?: Q | undefined;
  /** For a MERGE that uses all columns without their names: the edits before it can run. */
  readonly unnamed?: UnnamedColumns | undefined;
}

/** ON CONFLICT of an INSERT; OR IGNORE and OR REPLACE, too. */
export interface OnConflict<Q extends Query = Query> {
  readonly action: 'nothing' | 'replace' | 'update';
  /** Its start in the caller's text. */
  readonly position: number;
  /** The columns of a key. Undefined: of each key that the frame has. */
  readonly key?: readonly Pick<SetColumn, 'name' | 'position'>[] | undefined;
  /** Columns that DO UPDATE gives values. */
  readonly set: readonly SetColumn[];
  /** The parameters of DO UPDATE, as SQL writes them here: `$1`, `$name`. */
  readonly parameters: readonly string[];
  /** Columns of the row that was to be added that DO UPDATE names. */
  readonly excluded: readonly Pick<SetColumn, 'name' | 'position'>[];
  /**
   * The row changes, like the query of a `Change`. It reads, by the schema `_target`, the rows that the INSERT adds, and in their
   * place those of the frame with the same key. Beside the frame's columns these have `insertOrderColumn`, and for DO UPDATE
   * `excludedColumn` and the defaults of `set`.
   */
  readonly query: Q;
}

export interface UnnamedColumns {
  /** The statement. */
  readonly sql: string;
  /** All columns of the source, and its name in the statement; if a place takes them. */
  readonly source?: { readonly query: Query; readonly name: string } | undefined;
  /** In order: places of texts that depend on the frame. */
  readonly places: readonly UnnamedPlace[];
}

export type UnnamedPlace = { readonly start: number; readonly end: number } & (
  | {
      /** The columns, in place of the present text. */
      readonly kind: 'columns';
      readonly verb: 'UPDATE' | 'INSERT';
      /** Columns of the source, or the number of values at this place. */
      readonly by: 'name' | 'position' | 'values';
      readonly count?: number | undefined;
    }
  /** DEFAULT as the value of a column: of that name, or in that place. */
  | { readonly kind: 'default'; readonly column: string | number }
  /** Behind the names or the values of an INSERT: those of the columns with defaults that it does not name. */
  | { readonly kind: 'others'; readonly part: 'names' | 'values'; readonly named: readonly string[] }
  /** DEFAULT VALUES */
  | { readonly kind: 'defaults' }
);

export interface SetColumn {
  readonly name: string;
  readonly position: number;
  /** The query does not give its value. */
  readonly isDefault: boolean;
}

/** The table of a name in a query, spelled as in the query. */
export type SqlTable = FrameTable | ChangesTable | ListTable | ViewTable | LiveTable;

/** The rows that a statement changes or adds, in a file. */
export interface ChangesTable {
  readonly kind: 'changes';
  readonly name: string;
  readonly schema?: string | undefined;
  readonly path: string;
  /** Columns of the file that are not shown. */
  readonly hidden: readonly string[];
  /** Types of the frame of these rows, as SQL reads its columns. Default: as they are stored. */
  readonly like?: Pick<FrameTable, 'columns' | 'readAs'> | undefined;
}

/** A version of a frame. Its files stay valid and unchanged during the job. */
export interface FrameTable {
  readonly kind: 'frame';
  readonly name: string;
  /** As the query names it: `main`, or the tenant that shares the frame. Undefined: that of the frames. */
  readonly schema?: string | undefined;
  /** `owner/handle`: the same for all versions of a frame. */
  readonly frame: string;
  readonly versionId: string;
  readonly columns: readonly Column[];
  /** The types as which a query reads columns that the frame keeps in another type; null for others. */
  readonly readAs?: readonly (DeclaredType | null)[] | undefined;
  readonly rows: number;
  /** As stored. */
  readonly bytes: number;
  readonly parts: readonly PartSource[];
  /** Only rows [from, to) of them. Default: all. */
  readonly range?: { readonly from: number; readonly to: number } | undefined;
  /** There is one more column of this name behind the others: the number of the row. Default: none. */
  readonly rowNumbers?: string | undefined;
  /** Only this is used of it. */
  readonly definition?: TableDefinition | undefined;
  /** Keeps the files beyond the job, until disposed of. */
  hold(): Disposable;
  /** Aborts when the version is no longer the frame's: it was dropped or replaced. */
  readonly retired: AbortSignal;
}

/** A saved query. Its tables come before it in the job, under its names for them. */
export interface ViewTable {
  readonly kind: 'view';
  readonly name: string;
  /** See `FrameTable`. */
  readonly schema?: string | undefined;
  /** `owner/handle`. */
  readonly frame: string;
  readonly versionId: string;
  readonly columns: readonly Column[];
  /** It has passed the gate. */
  readonly query: Query;
  /** Its reader may not see its tables: conditions of the statement do not see rows that it leaves out, and errors hold no values. */
  readonly isBarrier: boolean;
}

/** Rows of the external database, or none yet where only their columns are known. */
export interface LiveTable {
  readonly kind: 'live';
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly LiveColumn[];
  /** Path of a Parquet file. Undefined: there are no rows. */
  readonly path?: string | undefined;
  /** Its line in EXPLAIN. */
  readonly note?: string | undefined;
}

/** A few rows of text that the server itself supplies. */
export interface ListTable {
  readonly kind: 'list';
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table as the catalogs show it. */
export interface ListedTable {
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view';
  /** For a view whose query the caller may see: the statement that makes it. */
  readonly sql?: string | undefined;
  readonly columns: readonly Column[];
  /** The declared type of each column that SQL declared as another type. */
  readonly declared?: readonly (DeclaredType | null)[] | undefined;
  readonly constraints?: TableConstraints | undefined;
}

/** The tables and definitions in catalogs. */
export interface Listed {
  readonly tables: readonly ListedTable[];
  readonly definitions: readonly Definition[];
}

/** A column as SQL sees it. */
export interface SqlColumn extends Column {
  /** If a frame stores SQL's declared type as another: values are checked and cast as of this one. */
  readonly declared?: DeclaredType | undefined;
}

/** A table as SQL defines it. */
export interface TableDefinition {
  readonly columns: readonly SqlColumn[];
  readonly constraints?: TableConstraints | undefined;
}

/** Constraints of a table, with its name, for messages. */
export interface NamedConstraints extends TableConstraints {
  readonly table: string;
}

/** The table of an INSERT. */
export interface InsertedTable extends TableDefinition {
  /** For messages. */
  readonly name: string;
  /** Columns that the query gives values for. Undefined: all but the generated ones. */
  readonly named: readonly string[] | undefined;
  /** By their names rather than their positions. Default false. */
  readonly isByName?: boolean | undefined;
}

export interface SqlJob {
  readonly query: Query;
  readonly tables: readonly SqlTable[];
  /** The result is the rows that an INSERT of the query into this table would add. */
  readonly into?: InsertedTable | undefined;
  /** For a table that is made of the query's columns: unsupported constraints are refused. */
  readonly constraints?: NamedConstraints | undefined;
  /** Default: the standard of all of them. */
  readonly settings?: StatementSettings | undefined;
  /** For a query that reads catalogs: all that they show. */
  readonly listed?: Listed | undefined;
}

export interface SqlRun extends SqlJob {
  readonly form: ChunkForm;
  /** An Arrow IPC stream with a column a parameter: the query runs once for each row, the results one behind the other. */
  readonly parameters?: Uint8Array | undefined;
  /** Only rows [fromRow, toRow) of the result. Default: all. */
  readonly fromRow?: number | undefined;
  readonly toRow?: number | undefined;
  /** Only these columns of the result, in this order. Default: all. */
  readonly columns?: readonly string[] | undefined;
  /** Count the rows after `toRow` too. Default false. */
  readonly countAll?: boolean | undefined;
  /** The rows become a frame: the time to write them counts for the statement. Default false. */
  readonly isKept?: boolean | undefined;
}

export interface SqlDescription {
  readonly columns: readonly Column[];
  /** Kind `null` for an unknown type. */
  readonly parameters: readonly DataType[];
}

/** A running result. Disposing of it stops the query. */
export interface SqlResult extends AsyncDisposable {
  /** With declared types, if the rows are to become a frame. */
  readonly columns: readonly SqlColumn[];
  /** To be read once, by this or `arrowStream`. */
  rows(): AsyncIterable<EncodedRows>;
  /** All rows, where they were there at once: then `rows` need not be read. */
  readonly whole?: readonly EncodedRows[] | undefined;
  /** The result as an Arrow IPC stream; only for the form `arrow`. */
  arrowStream(): AsyncIterable<Uint8Array>;
  /** Rows of the whole result, once `rows` has ended. With `countAll` also rows outside of the range. */
  readonly totalRows: number;
}

/** Rows that become files rather than a stream. */
export interface SqlWrite extends SqlJob {
  readonly parameters?: Uint8Array | undefined;
  /** An empty folder of ours, below the cold directory. */
  readonly folder: string;
}

export interface AnalyzeOptions extends JobOptions {
  /** The definitions that the text may name. Default: none. */
  readonly definitions?: readonly Definition[] | undefined;
}

/** An engine that runs SQL over frames. Every call rejects with an AppError: `sql_error` with a position where it is known. */
export interface SqlEngine {
  /** Whether it runs the queries of views. Default false. */
  readonly hasViews?: boolean | undefined;
  /** The settings of a statement that it takes, by their names. Default: all. */
  readonly settings?: readonly string[] | undefined;
  /** The analysis of a text that this tenant sent before, where it is still remembered. */
  known?(sql: string, tenant: Tenant | undefined, definitions?: readonly Definition[]): Statement | undefined;
  /** Parses and checks the text: one statement, within the rights of callers. */
  analyze(sql: string, options: AnalyzeOptions): Promise<Statement>;
  /** The columns and parameters of a query, without running it. */
  describe(job: SqlJob & Pick<SqlRun, 'parameters'>, options: JobOptions): Promise<SqlDescription>;
  run(job: SqlRun, options: JobOptions): Promise<SqlResult>;
  /**
   * Writes the result as Parquet files into the folder, from wherever its rows are, and gives their paths in the order of
   * the rows; none where there are no rows, or where files would lose their order: `run` gives them then. Only where an
   * engine has more than one place to write from.
   */
  write?(job: SqlWrite, options: JobOptions): Promise<readonly string[]>;
  /** Tables of the operator's database. */
  analyticsTables(options: JobOptions): Promise<readonly AnalyticsTable[]>;
}

export interface AnalyticsTable {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: readonly Column[];
}

/** Puts the rows of an Arrow IPC stream into another form, off the event loop. */
export interface ArrowRecoder {
  recode(stream: AsyncIterable<Uint8Array>, wanted: RecodeRows, options: JobOptions): Promise<SqlResult>;
}

export type RecodeRows = Pick<SqlRun, 'form' | 'fromRow' | 'toRow' | 'columns' | 'countAll' | 'isKept'>;
