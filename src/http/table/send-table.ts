import { open } from 'node:fs/promises';
import type { Column } from '../../core/data-type.ts';
import type { FileFormatName } from '../../core/file-format.ts';
import type { ChunkForm, Compression, EncodedRows } from '../../core/frame-engine.ts';
import { anonymous } from '../../core/principal.ts';
import type { FrameStore } from '../../frames/store.ts';
import { chooseCoding } from '../exchange/content-coding.ts';
import type { ToldEngine } from '../exchange/requested-engine.ts';
import type { Exchange } from '../exchange/route.ts';
import { sendFile } from './file-range.ts';
import { sendExport } from './send-body.ts';
import { arrowStream, chunkFormOf, exportHeaders, tableBody } from './table-body.ts';

/** How a table is to be written. */
export interface TableFormat {
  readonly fmt: FileFormatName;
  /** Between the fields of `csv`. */
  readonly delimiter: string;
  /** `csv` and `tsv` begin with the names of the columns; `json` has them with the query. */
  readonly hasNames: boolean;
  /** See `CsvForm`. */
  readonly escapesFormulas: boolean;
  /** Of `json`: every LONG as a string. */
  readonly quoteLargeNum: boolean;
  /** Of `parquet`; undefined: as the server is configured. */
  readonly compression: Compression | undefined;
  /** With or without its ending. Undefined: shown rather than saved, where a browser can. */
  readonly filename: string | undefined;
}

/** Rows that are read once, in one form. */
export interface OpenTable extends AsyncDisposable {
  readonly columns: readonly Column[];
  /** The id of the frame's version whose rows these are. Undefined: of a statement, which may give others the next time. */
  readonly versionId?: string;
  rows(): AsyncIterable<Pick<EncodedRows, 'rows' | 'bytes'>>;
}

/** Where a table comes from: a frame, or a statement that runs when it is opened. */
export interface TableSource {
  /** `query` of the JSON format. */
  readonly query: string;
  /** Of the JSON format too. */
  readonly told?: ToldEngine | undefined;
  open(form: ChunkForm): Promise<OpenTable>;
}

export interface SendTableOptions {
  readonly frames: Pick<FrameStore, 'writeParquet'>;
  /** Ends the work: the one that `source.open` listens to. */
  readonly signal: AbortSignal;
  /** Whether text may be compressed for clients that accept it. */
  readonly compression: boolean;
}

/** Answers with the table. An error after the first byte cuts the connection, so that nobody takes it for whole. */
export async function sendTable(
  exchange: Exchange,
  source: TableSource,
  format: TableFormat,
  { frames, signal, compression }: SendTableOptions,
): Promise<void> {
  await using table = await source.open(chunkFormOf(format));
  const headers = exportHeaders(format);
  if (format.fmt === 'parquet') {
    const rows = { source: { kind: 'arrow', stream: arrowStream(table) }, compression: format.compression } as const;
    await using written = await frames.writeParquet(anonymous, rows, { signal });
    await using file = await open(written.path);
    return await sendFile(exchange, { file, bytes: written.bytes, signal }, [...headers, 'cache-control', 'no-store']);
  }
  const { versionId } = table;
  const mayCode = compression && format.fmt !== 'arrow';
  const coding = mayCode ? chooseCoding(exchange.request.headers['accept-encoding']) : undefined;
  if (mayCode) exchange.headers.push('vary', 'Accept-Encoding');
  await sendExport(exchange, tableBody(source, table, format), { headers, coding, versionId });
}
