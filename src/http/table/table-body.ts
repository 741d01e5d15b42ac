import { arrowIpcStream } from '@framehold/arrow-ipc';
import { AppError } from '../../core/errors/app-error.ts';
import { type ChunkForm, type CsvForm, execForm } from '../../core/rows/frame-engine.ts';
import { csvHeader } from '../../encoding/rows/csv.ts';
import { execJsonHead, execJsonRows, execJsonTail } from '../../encoding/rows/exec-json.ts';
import { jsonContentType } from '../exchange/error-response.ts';
import { attachment } from './attachment.ts';
import type { OpenTable, TableFormat, TableSource } from './table.ts';

/** The form in which the rows are to be made. */
export function chunkFormOf(format: TableFormat): ChunkForm {
  switch (format.fmt) {
    case 'csv':
    case 'tsv':
      return csvFormOf(format);
    case 'json':
      return execForm(format);
    case 'ndjson':
      return format.quoteNonFinite ? 'ndjson-named' : 'ndjson';
    case 'arrow':
    case 'parquet':
      return 'arrow';
    default:
      return format.fmt satisfies never;
  }
}

function csvFormOf({ fmt, delimiter, escapesFormulas }: TableFormat): CsvForm {
  return `${escapesFormulas ? 'csv-safe' : 'csv'}:${fmt === 'tsv' ? '\t' : delimiter}`;
}

/** The media type, and the name under which the client saves it. */
export function exportHeaders(format: TableFormat): string[] {
  const headers = ['content-type', mediaTypeOf(format)];
  if (format.filename !== undefined) headers.push('content-disposition', attachment(format.filename, format.fmt));
  return headers;
}

function mediaTypeOf({ fmt, hasNames }: TableFormat): string {
  switch (fmt) {
    case 'csv':
      return `text/csv; charset=utf-8; header=${hasNames ? 'present' : 'absent'}`;
    case 'tsv':
      return 'text/tab-separated-values; charset=utf-8';
    case 'json':
      return jsonContentType;
    case 'ndjson':
      return 'application/x-ndjson; charset=utf-8';
    case 'arrow':
      return 'application/vnd.apache.arrow.stream';
    case 'parquet':
      return 'application/vnd.apache.parquet';
    default:
      return fmt satisfies never;
  }
}

/** The whole document, in pieces. */
export function tableBody(
  source: Pick<TableSource, 'query' | 'engineReport' | 'changed'>,
  table: OpenTable,
  format: TableFormat,
): AsyncGenerator<Uint8Array, void, undefined> {
  switch (format.fmt) {
    case 'csv':
    case 'tsv':
      return lines(table, format.hasNames ? csvHeader(table.columns, csvFormOf(format)) : undefined);
    case 'ndjson':
      return lines(table, undefined);
    case 'json':
      return execJsonBody(source, table, format.hasNames);
    case 'arrow':
      return arrowIpcStream(table.columns, table.rows());
    case 'parquet':
      throw new AppError('internal', 'Parquet is written to a file');
    default:
      return format.fmt satisfies never;
  }
}

async function* lines(table: OpenTable, header: Uint8Array | undefined): AsyncGenerator<Uint8Array, void, undefined> {
  if (header !== undefined) yield header;
  for await (const { bytes } of table.rows()) yield bytes;
}

/** As /exec answers for the same rows. */
export async function* execJsonBody(
  { query, engineReport, changed }: Pick<TableSource, 'query' | 'engineReport' | 'changed'>,
  table: OpenTable,
  hasNames: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { columns, versionId } = table;
  yield execJsonHead(hasNames ? { query, columns, isStatement: versionId === undefined } : undefined);
  const count = yield* execJsonRows(table.rows());
  const engine = hasNames ? engineReport : undefined;
  yield execJsonTail({ count, timings: undefined, explain: false, engine, changed: changed?.() });
}
