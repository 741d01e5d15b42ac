import { open } from 'node:fs/promises';
import type { FrameStore } from '../../frames/store.ts';
import { chooseCoding } from '../exchange/content-coding.ts';
import type { Exchange } from '../exchange/route.ts';
import { sendFile } from './file-range.ts';
import { sendExport } from './send-body.ts';
import type { TableFormat, TableSource } from './table.ts';
import { arrowStream, chunkFormOf, exportHeaders, tableBody } from './table-body.ts';

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
    await using written = await frames.writeParquet(exchange.principal, rows, { signal });
    await using file = await open(written.path);
    return await sendFile(exchange, { file, bytes: written.bytes, signal }, [...headers, 'cache-control', 'no-store']);
  }
  const { versionId } = table;
  const mayCode = compression && format.fmt !== 'arrow';
  const coding = mayCode ? chooseCoding(exchange.request.headers['accept-encoding']) : undefined;
  if (mayCode) exchange.headers.push('vary', 'Accept-Encoding');
  await sendExport(exchange, tableBody(source, table, format), { headers, coding, versionId });
}
