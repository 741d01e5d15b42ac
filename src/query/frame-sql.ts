import type { Column, DataType } from '../core/data-type.ts';
import type { ChunkForm, QueryProgress } from '../core/frame-engine.ts';
import type { Principal } from '../core/principal.ts';
import type { AnalyticsTable, Query, SqlResult } from '../core/sql.ts';
import type { PutResult } from '../frames/catalog/frame-summary.ts';
import type { PutRequest } from '../frames/write/put-frame.ts';

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly lane?: string | undefined;
  /** By its name, or `auto`. Default: local. */
  readonly engine?: string | undefined;
  /** Of the request that brings the statement: by it others see and cancel it. Default: one that nobody knows. */
  readonly requestId?: string | undefined;
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined;
}

export interface QueryRequest {
  readonly sql: string;
  readonly form: ChunkForm;
  /** An Arrow IPC stream with a column a parameter; the statement runs once for each of its rows. */
  readonly parameters?: Uint8Array | undefined;
  readonly fromRow?: number | undefined;
  readonly toRow?: number | undefined;
  readonly columns?: readonly string[] | undefined;
  readonly countAll?: boolean | undefined;
  /** The rows become a frame: what writing them takes is the statement's own time. Default false. */
  readonly isKept?: boolean | undefined;
}

export interface UpdateRequest {
  readonly sql: string;
  readonly parameters?: Uint8Array | undefined;
}

/** What a statement that changes frames has done. */
export interface SqlUpdate {
  /** Rows that it wrote. */
  readonly rows: number;
  /** Whether any frame is another than before. */
  readonly hasChanged: boolean;
}

/** What the text of a statement says of it. */
export interface SqlFacts extends Pick<Query, 'parameterCount' | 'parameterNames'> {
  readonly effect: 'reads' | 'creates' | 'inserts' | 'drops';
}

/** What a statement will give and take. */
export interface PreparedSql {
  /** It changes frames, and gives no rows. */
  readonly isUpdate: boolean;
  /** Of the rows that it gives; none for an update. */
  readonly columns: readonly Column[];
  /** Kind `null` where nothing tells the type. */
  readonly parameters: readonly DataType[];
}

/** The rows of a query that become a frame. */
export type KeptQuery = Omit<QueryRequest, 'form' | 'countAll' | 'isKept'>;

/** How they become one. */
export type KeepRequest = Omit<PutRequest, 'source' | 'replaces'>;

/** Where a statement runs, and why there. Both may be shown to anyone. */
export interface EngineChoice {
  readonly engine: string;
  readonly reason: string;
  /** Not in this server: the time-outs of that engine hold, and not those for answers of our own. */
  readonly isElsewhere: boolean;
}

/** SQL over frames, on the engine that the caller names. Rejects with AppError. */
export interface FrameSql extends EngineSql {
  /** The engine that would run the statement now. One that is not known is refused (`invalid_parameter`). */
  choose(principal: Principal, sql: string, options: CallOptions): Promise<EngineChoice>;
}

/** SQL over frames, on one engine. */
export interface EngineSql {
  /** Parses the text and checks it, without a look at the frames. */
  inspect(principal: Principal, sql: string, options: CallOptions): Promise<SqlFacts>;
  prepare(principal: Principal, sql: string, options: CallOptions): Promise<PreparedSql>;
  /** The columns of a query with the types that its bound parameters give it. */
  boundColumns(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<readonly Column[]>;
  /** Starts a statement that reads. One that would change something is refused (`sql_forbidden`). */
  query(principal: Principal, request: QueryRequest, options: CallOptions): Promise<SqlResult>;
  /** Makes a frame of the rows of a query. */
  keep(principal: Principal, query: KeptQuery, request: KeepRequest, options: CallOptions): Promise<PutResult>;
  /** Runs a statement that changes frames (CREATE TABLE, INSERT, DROP TABLE). */
  update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<SqlUpdate>;
  analyticsTables(options: CallOptions): Promise<readonly AnalyticsTable[]>;
}
