import type { Column, DataType } from '@framehold/columns';
import type { Principal } from '../core/callers/principal.ts';
import type { Producer } from '../core/callers/producer.ts';
import type { Span } from '../core/logs/span.ts';
import type { StatementCosts } from '../core/logs/statement-costs.ts';
import type { QueryProgress } from '../core/rows/frame-engine.ts';
import type { ListedLiveTable, LiveReport } from '../core/sql/live-tables.ts';
import type { AnalyticsTable, SqlJob, SqlResult, SqlRun, Statement } from '../core/sql/sql.ts';
import type { StatementSettings } from '../core/sql/statement-settings.ts';
import type { PutResult } from '../frames/catalog/frame-summary.ts';
import type { PutRequest } from '../frames/write/put-frame.ts';
import type { TemporaryTables } from './tables/temporary-tables.ts';

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly lane?: string | undefined;
  /** Id of the request with the statement: by it callers see and cancel it. Default: an unknown one. */
  readonly requestId?: string | undefined;
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined;
  /** Shown in place of the text in GET /queries and the audit, for statements in other words than the caller's. */
  readonly shownAs?: string | undefined;
  /** The parent span, if the request is traced. */
  readonly span?: Span | undefined;
  /** Of the caller's session; undefined without one. */
  readonly temporary?: TemporaryTables | undefined;
  /** Receives the costs of the statement. */
  readonly costs?: StatementCosts | undefined;
  /** Called as rows of RETURNING come, with the bytes of all so far. Rejects where they cannot be held: then nothing is changed. */
  readonly holdReturned?: ((bytes: number) => Promise<void>) | undefined;
  /** Called before the statement runs, if it reads the external database. */
  readonly onLive?: ((report: LiveReport) => void) | undefined;
}

/** A caller's text. */
export interface SqlText {
  readonly sql: string;
  /** The engine that is to run it: by its name, or `auto`. Default: local. */
  readonly engine?: string | undefined;
  readonly settings?: StatementSettings | undefined;
}

/** A text with the engine that runs it, and why that one. Both may be shown to anyone. */
export interface EngineChoice extends SqlText {
  readonly engine: string;
  readonly reason: string;
  /** Not in this server: that engine's time-outs apply, and not those of our own answers. */
  readonly isElsewhere: boolean;
  /** Known where the choice depended on it. */
  readonly statement?: Statement | undefined;
}

/** A text that was parsed and checked by the engine that is to run it. Only `FrameSql.analyze` makes one. */
export type AnalysedStatement = Statement & {
  readonly sql: string;
  readonly engine: string;
  readonly settings?: StatementSettings | undefined;
};

export interface QueryRequest extends Omit<SqlRun, keyof SqlJob> {
  readonly statement: AnalysedStatement;
}

export interface UpdateRequest {
  readonly statement: AnalysedStatement;
  readonly parameters?: Uint8Array | undefined;
  /** For an INSERT; with another statement it is refused. */
  readonly producer?: Producer | undefined;
  /** The form of the rows of RETURNING. Default: `arrow`. */
  readonly returned?: ReturnedRows | undefined;
}

/** Which rows of RETURNING, and how. */
export type ReturnedRows = Pick<SqlRun, 'form' | 'fromRow' | 'toRow' | 'columns' | 'countAll'>;

/** Rows that are held in memory. */
export type ReturnedResult = Omit<SqlResult, 'arrowStream'>;

/** The result of a statement that changes frames. */
export interface SqlUpdate {
  /** Rows that it wrote, or removed. */
  readonly rows: number;
  /** The rows of RETURNING, if the statement has it. */
  readonly returned?: ReturnedResult | undefined;
  /** Whether any frame is another than before. */
  readonly hasChanged: boolean;
  /** An INSERT of a producer that was seen before: its rows were not added again. */
  readonly isRepeated?: boolean | undefined;
}

/** The columns and parameters of a statement. */
export interface PreparedSql {
  /** It changes frames. */
  readonly isUpdate: boolean;
  /** Columns of the result; none for an update without RETURNING. */
  readonly columns: readonly Column[];
  /** Kind `null` for an unknown type. */
  readonly parameters: readonly DataType[];
  /** Names of named parameters, in the same order. */
  readonly parameterNames?: readonly string[] | undefined;
}

/** The rows of a query that become a frame. */
export type KeptQuery = Omit<QueryRequest, 'form' | 'countAll' | 'isKept'>;

/** The frame that the rows become. */
export type KeepRequest = Omit<PutRequest, 'source' | 'replaces'>;

/** SQL over frames: each text is analysed once, and may run many times then. Rejects with AppError. */
export interface FrameSql {
  /** The engine that would run the text now. An unknown name is refused (`invalid_parameter`). */
  choose(principal: Principal, text: SqlText, options: CallOptions): Promise<EngineChoice>;
  /** Parses the text and checks it, without a look at the frames. */
  analyze(principal: Principal, text: SqlText | EngineChoice, options: CallOptions): Promise<AnalysedStatement>;
  prepare(principal: Principal, statement: AnalysedStatement, options: CallOptions): Promise<PreparedSql>;
  /** The columns of a query with the types that its bound parameters give it. */
  boundColumns(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<readonly Column[]>;
  /**
   * Changes when a frame that the statement reads has other rows. Undefined for sources without a version: tables of the
   * operator's database, lists of frames, and catalogs, which differ for each caller.
   */
  sourceVersion(principal: Principal, statement: AnalysedStatement, options: CallOptions): Promise<string | undefined>;
  /** Starts a statement that reads. A statement that changes something is refused (`sql_forbidden`). */
  query(principal: Principal, request: QueryRequest, options: CallOptions): Promise<SqlResult>;
  /** Makes a frame of the rows of a query. */
  keep(principal: Principal, query: KeptQuery, request: KeepRequest, options: CallOptions): Promise<PutResult>;
  /** Runs a statement that changes frames (CREATE TABLE, INSERT, UPDATE, DELETE, DROP TABLE …). */
  update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<SqlUpdate>;
  /** None where the database is not granted. */
  analyticsTables(principal: Principal, options: CallOptions): Promise<readonly AnalyticsTable[]>;
  /** Tables of the external database. None without a grant, or without an answer soon. */
  liveTables(principal: Principal, options: CallOptions): Promise<readonly ListedLiveTable[]>;
}
