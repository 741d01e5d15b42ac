import { formatColumnNames } from './column-names.ts';

/** The formats of `GET /exp`. */
export const exportFormats = {
  parquet: 'Parquet',
  csv: 'CSV',
  tsv: 'TSV',
  arrow: 'Arrow IPC stream',
  json: 'JSON',
  ndjson: 'NDJSON',
} as const;

export type ExportFormat = keyof typeof exportFormats;

export interface FrameExport {
  readonly handle: string;
  /** None means all. */
  readonly columns?: readonly string[];
  /** Rows [from, to), counted from 0; undefined: all of them. */
  readonly rows?: { readonly from: number; readonly to: number } | undefined;
}

export interface StatementExport {
  readonly sql: string;
  readonly engine: string;
  /** The values of its parameters. */
  readonly params?: unknown;
}

/** The source of an export: rows of a frame, or those of a statement. */
export type ExportSource = FrameExport | StatementExport;

export interface ExportOptions {
  readonly format: ExportFormat;
  readonly escapeFormulas: boolean;
}

/** A request has 16 KiB, with the headers that the browser sends. */
const maxPathLength = 12_000;

/** The external database writes its files itself, and has these two. */
const tsdbFormats: readonly ExportFormat[] = ['parquet', 'csv'];

export function formatsOf(source: ExportSource): readonly ExportFormat[] {
  return isOfTsdb(source) ? tsdbFormats : (Object.keys(exportFormats) as ExportFormat[]);
}

/** Whether formulas can be escaped in the file. */
export function canEscapeFormulas(source: ExportSource, format: ExportFormat): boolean {
  return (format === 'csv' || format === 'tsv') && !isOfTsdb(source);
}

/** The address of a file with these rows. Undefined where the request would be too long. */
export function exportPath(source: ExportSource, { format, escapeFormulas }: ExportOptions): string | undefined {
  const query = new URLSearchParams('sql' in source ? { query: source.sql, engine: source.engine } : {});
  if ('handle' in source) query.set('handle', source.handle);
  if ('sql' in source && source.params !== undefined) query.set('params', JSON.stringify(source.params));
  query.set('fmt', format);
  if ('sql' in source) query.set('filename', 'result');
  else {
    const { columns = [], rows } = source;
    // Unlike /exec, /exp counts rows from 0: `10,20` are the rows 11 to 20.
    if (rows !== undefined) query.set('limit', `${rows.from},${rows.to}`);
    if (columns.length > 0) query.set('cols', formatColumnNames(columns));
  }
  if (escapeFormulas && canEscapeFormulas(source, format)) query.set('escapeFormulas', 'true');
  if (format === 'json') query.set('quoteLargeNum', 'true');
  if (format === 'json' || format === 'ndjson') query.set('quoteNonFinite', 'true');
  const path = `/exp?${query}`;
  return path.length > maxPathLength ? undefined : path;
}

function isOfTsdb(source: ExportSource): boolean {
  return 'sql' in source && source.engine === 'tsdb';
}
