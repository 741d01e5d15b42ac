import type { Column, DataType } from '../core/data-type.ts';
import type { QueryProgress } from '../core/frame-engine.ts';
import type { ListedLiveTable, LiveReport } from '../core/live-tables.ts';
import type { Principal } from '../core/principal.ts';
import type { Producer } from '../core/producer.ts';
import type { Span } from '../core/span.ts';
import type { AnalyticsTable, SqlJob, SqlResult, SqlRun, Statement } from '../core/sql.ts';
import type { StatementCosts } from '../core/statement-costs.ts';
import type { StatementSettings } from '../core/statement-settings.ts';
import type { PutResult } from '../frames/catalog/frame-summary.ts';
import type { PutRequest } from '../frames/write/put-frame.ts';
import type { TemporaryTables } from './tables/temporary-tables.ts';

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly lane?: string | undefined;
  /** Of the request that brings the statement: by it others see and cancel it. Default: one that nobody knows. */
  readonly requestId?: string | undefined;
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined;
  /** What others see in the place of the text: GET /queries, the audit. For statements that are not the caller's own words. */
  readonly shownAs?: string | undefined;
  /** What the statement is part of, where that is traced. */
  readonly span?: Span | undefined;
  /** Of the caller's session; undefined where there is none. */
  readonly temporary?: TemporaryTables | undefined;
  /** Where what it takes is noted. */
  readonly costs?: StatementCosts | undefined;
  /** Told before the statement runs, where it reads the external database. */
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
  /** Not in this server: the time-outs of that engine hold, and not those for answers of our own. */
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
  /** Of an INSERT; with another statement it is refused. */
  readonly producer?: Producer | undefined;
  /** Of the rows of RETURNING. Default: `arrow`. */
  readonly returned?: ReturnedRows | undefined;
}

/** Which rows of RETURNING, and how. */
export type ReturnedRows = Pick<SqlRun, 'form' | 'fromRow' | 'toRow' | 'columns' | 'countAll'>;

/** Rows that are held in memory. */
export type ReturnedResult = Omit<SqlResult, 'arrowStream'>;

/** What a statement that changes frames has done. */
export interface SqlUpdate {
  /** Rows that it wrote, or removed. */
  readonly rows: number;
  /** The rows of RETURNING, where the statement has it. */
  readonly returned?: ReturnedResult | undefined;
  /** Whether any frame is another than before. */
  readonly hasChanged: boolean;
  /** An INSERT of a producer that was seen before: its rows were not added again. */
  readonly isRepeated?: boolean | undefined;
}

/** What a statement will give and take. */
export interface PreparedSql {
  /** It changes frames. */
  readonly isUpdate: boolean;
  /** Of the rows that it gives; none for an update without RETURNING. */
  readonly columns: readonly Column[];
  /** Kind `null` where nothing tells the type. */
  readonly parameters: readonly DataType[];
  /** Where parameters have names: theirs, in the same order. */
  readonly parameterNames?: readonly string[] | undefined;
}

/** The rows of a query that become a frame. */
export type KeptQuery = Omit<QueryRequest, 'form' | 'countAll' | 'isKept'>;

/** How they become one. */
export type KeepRequest = Omit<PutRequest, 'source' | 'replaces'>;

/** SQL over frames: each text is analysed once, and may run many times then. Rejects with AppError. */
export interface FrameSql {
  /** The engine that would run the text now. One that is not known is refused (`invalid_parameter`). */
  choose(principal: Principal, text: SqlText, options: CallOptions): Promise<EngineChoice>;
  /** Parses the text and checks it, without a look at the frames. */
  analyze(principal: Principal, text: SqlText | EngineChoice, options: CallOptions): Promise<AnalysedStatement>;
  prepare(principal: Principal, statement: AnalysedStatement, options: CallOptions): Promise<PreparedSql>;
  /** The columns of a query with the types that its bound parameters give it. */
  boundColumns(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<readonly Column[]>;
  /**
   * Changes when a frame that the statement reads has other rows. Undefined where rows may change and no version tells: those of
   * the operator's database, of lists of frames and of catalogs, which are others for each caller.
   */
  sourceVersion(principal: Principal, statement: AnalysedStatement, options: CallOptions): Promise<string | undefined>;
  /** Starts a statement that reads. One that would change something is refused (`sql_forbidden`). */
  query(principal: Principal, request: QueryRequest, options: CallOptions): Promise<SqlResult>;
  /** Makes a frame of the rows of a query. */
  keep(principal: Principal, query: KeptQuery, request: KeepRequest, options: CallOptions): Promise<PutResult>;
  /** Runs a statement that changes frames (CREATE TABLE, INSERT, UPDATE, DELETE, DROP TABLE …). */
  update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<SqlUpdate>;
  /** None where the database is not granted. */
  analyticsTables(principal: Principal, options: CallOptions): Promise<readonly AnalyticsTable[]>;
  /** Of the external database. None where that is not granted, or does not answer soon. */
  liveTables(principal: Principal, options: CallOptions): Promise<readonly ListedLiveTable[]>;
}
