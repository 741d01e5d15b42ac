import type { Column } from '@framehold/columns';
import type { Tenant } from '../callers/principal.ts';
import type { LiveRead } from './live-read.ts';
import type { StatementSettings } from './statement-settings.ts';

/** Conversion in SQL of a value from a file that the external database wrote. */
export type LiveForm =
  | 'same'
  /** A point in time with a zone becomes one without, in UTC. */
  | 'utc'
  /** A number becomes a point in time. */
  | 'nanoseconds'
  /** An empty text becomes NULL. */
  | 'emptyIsNull';

export interface LiveColumn extends Column {
  /** Its column in the file. */
  readonly stored: string;
  readonly form: LiveForm;
}

/** The external database's description of a table, or of a query in its dialect, without rows. */
export interface LiveDescription {
  readonly columns: readonly LiveColumn[];
  /** For `fetch` alone. */
  readonly source: unknown;
}

/** The requests to the external database for a statement. */
export interface LivePlan {
  readonly columns: readonly LiveColumn[];
  readonly sql: string;
  /** For people: the table with the columns that are read and the conditions that are pushed to it. */
  readonly pushed: string;
  readonly source: unknown;
}

/** A file with the rows as they were at one moment. Gone when it is disposed of. */
export interface LiveFile extends AsyncDisposable {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly readAt: Date;
}

export interface LiveOptions {
  readonly tenant: Tenant;
  readonly signal: AbortSignal;
  /** For fair queues: lanes take turns. */
  readonly lane?: string | undefined;
}

export interface ListedLiveTable {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** Properties of a statement that may change what must be read for it. */
export interface LiveStatement {
  readonly settings: StatementSettings | undefined;
  /** Rows of the result behind this one are not sent. */
  readonly toRow?: number | undefined;
}

/** Tables of the external database as SQL over frames reads them. Every call rejects with an AppError. */
export interface LiveTables {
  describe(read: LiveRead, options: LiveOptions): Promise<LiveDescription>;
  /** `reads`: all places where one statement reads it. */
  plan(described: LiveDescription, reads: readonly LiveRead[], statement: LiveStatement): LivePlan;
  fetch(plan: LivePlan, options: LiveOptions): Promise<LiveFile>;
  /** None where the database does not answer soon, unless they are needed: then that is the error. */
  list(options: Pick<LiveOptions, 'signal'> & { readonly isNeeded?: boolean }): Promise<readonly ListedLiveTable[]>;
}

/** The rows and bytes read from the external database for a statement. */
export interface LiveReport {
  readonly rows: number;
  readonly bytes: number;
  /** For each table and query. */
  readonly pushed: readonly string[];
}

const longestPushed = 1000;

/** The same as headers of an answer. Other characters than ASCII are escaped as in JSON. */
export function liveHeaders({ rows, bytes, pushed }: LiveReport): readonly (readonly [name: string, value: string])[] {
  const text = pushed
    .join('; ')
    .slice(0, longestPushed)
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [
    ['x-framehold-tsdb-rows', String(rows)],
    ['x-framehold-tsdb-bytes', String(bytes)],
    ['x-framehold-tsdb-pushed', text],
  ];
}
