import { asciiLower } from '../text/ascii-lower.ts';
import type { TextEdit } from '../text/source-text.ts';

/** Tables of the external database are in this schema of SQL over frames, and its queries are a function there. */
export const liveSchema = 'tsdb';
export const liveFunction = 'query';

/** A place where a query reads the external database. */
export interface LiveRead {
  /** Its schema in the text that runs. */
  readonly schema: string;
  readonly name: string;
  /** The query of `tsdb.query('…')`, in the dialect of that database. Undefined: it is the table of that name. */
  readonly query?: string;
  /** In the caller's text. */
  readonly position?: number | undefined;
  /** In lower case, with all columns that it uses. Undefined: it may use all. */
  readonly columns?: readonly string[] | undefined;
  /** Rows for which one of them does not hold change nothing. */
  readonly conditions: readonly LiveCondition[];
  /** Most rows that are needed of those that meet the conditions. */
  readonly limit?: LiveLimit | undefined;
  /** Only its columns are needed, and no rows. */
  readonly isDescribed?: boolean | undefined;
}

export interface LiveLimit {
  /** Undefined: as many as the result may have. */
  readonly rows?: number;
  /** They are the first ones in this order. Default: any. */
  readonly order?: { readonly column: string; readonly direction: 'ascending' | 'descending' | 'default' } | undefined;
}

export type LiveOperator = '=' | '<' | '<=' | '>' | '>=' | 'in';

/** A column compared with literals. */
export interface LiveCondition {
  /** In lower case. It means that column of the table where the table has one, and nothing where not. */
  readonly column: string;
  readonly operator: LiveOperator;
  /** Only of `in` several. */
  readonly values: readonly LiveValue[];
}

/** A literal as the statement writes it. A text is read in the type that it is compared with. */
export interface LiveValue {
  readonly type: 'text' | 'date' | 'timestamp' | 'timestamp_ns';
  readonly text: string;
}

/** The reads of the external database in a query. */
export interface LiveReads {
  readonly reads: readonly LiveRead[];
  /** Names that stand in the text that is run, each as long as the `tsdb.query('…')` in its place. */
  readonly edits: readonly TextEdit[];
}

/** `tsdb.t`, or `framehold.tsdb.t`. No tenant has this name. */
export function isLiveTable({
  catalog,
  schema,
}: {
  readonly catalog?: string | undefined;
  readonly schema?: string | undefined;
}): boolean {
  const isOurs = catalog === undefined || asciiLower(catalog) === 'framehold';
  return isOurs && schema !== undefined && asciiLower(schema) === liveSchema;
}
