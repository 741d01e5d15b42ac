import type { ExportFormat } from '../api/export-formats.ts';
import { formatColumnNames } from './rows/column-names.ts';

export interface ExportOptions {
  readonly handle: string;
  readonly format: ExportFormat;
  /** None means all. */
  readonly columns: readonly string[];
  /** Rows [from, to), counted from 0; undefined: all of them. */
  readonly rows: { readonly from: number; readonly to: number } | undefined;
  readonly escapeFormulas: boolean;
}

/** The address of a file with these rows. */
export function exportPath({ handle, format, columns, rows, escapeFormulas }: ExportOptions): string {
  const query = new URLSearchParams({ handle, fmt: format });
  // Unlike /exec, /exp counts rows from 0: `10,20` are the rows 11 to 20.
  if (rows !== undefined) query.set('limit', `${rows.from},${rows.to}`);
  if (columns.length > 0) query.set('cols', formatColumnNames(columns));
  if (escapeFormulas && (format === 'csv' || format === 'tsv')) query.set('escapeFormulas', 'true');
  if (format === 'json') query.set('quoteLargeNum', 'true');
  return `/exp?${query}`;
}
