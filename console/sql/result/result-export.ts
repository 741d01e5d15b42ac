import type { ExportFormat } from '../../api/export-formats.ts';

export interface ResultExport {
  /** The statement whose rows are exported, or the frame that has them all. */
  readonly from: { readonly sql: string; readonly engine: string } | { readonly handle: string };
  readonly format: ExportFormat;
  readonly escapeFormulas: boolean;
}

/** A request has 16 KiB, with the headers that the browser sends. */
const maxPathLength = 12_000;

/** The external database writes its files itself, and has these two. */
const tsdbFormats: readonly ExportFormat[] = ['parquet', 'csv'];

export function formatsOf(engine: string, all: readonly ExportFormat[]): readonly ExportFormat[] {
  return engine === 'tsdb' ? tsdbFormats : all;
}

/** The address of a file with all rows. Undefined where the statement is too long for one. */
export function resultExportPath({ from, format, escapeFormulas }: ResultExport): string | undefined {
  const query = new URLSearchParams(
    'handle' in from ? { handle: from.handle } : { query: from.sql, engine: from.engine },
  );
  query.set('fmt', format);
  if (!('handle' in from)) query.set('filename', 'result');
  const isOurs = 'handle' in from || from.engine !== 'tsdb';
  if (isOurs && escapeFormulas && (format === 'csv' || format === 'tsv')) query.set('escapeFormulas', 'true');
  if (format === 'json') query.set('quoteLargeNum', 'true');
  const path = `/exp?${query}`;
  return path.length > maxPathLength ? undefined : path;
}
