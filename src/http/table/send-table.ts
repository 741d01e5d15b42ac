import { open } from 'node:fs/promises';
import { arrowIpcStream } from '@framehold/arrow-ipc';
import type { Frames } from '../../frames/frames.ts';
import { chooseCoding } from '../exchange/content-coding.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { knownTag, sendBody, sendHead } from '../exchange/send-body.ts';
import { sendFile } from './file-range.ts';
import type { TableFormat, TableSource } from './table.ts';
import { chunkFormOf, exportHeaders, tableBody } from './table-body.ts';

export interface SendTableOptions {
  readonly frames: Pick<Frames, 'writeParquet'>;
  /** Whether text may be compressed for clients that accept it. */
  readonly compression: boolean;
}

/** Answers with the table. An error after the first byte cuts the connection, so that the client sees that it is incomplete. */
export async function sendTable(
  exchange: Exchange,
  source: TableSource,
  format: TableFormat,
  { frames, compression }: SendTableOptions,
): Promise<void> {
  const { principal, signal, lane } = exchange;
  const headers = exportHeaders(format);
  const isHead = exchange.method === 'HEAD';
  const mayCode = compression && format.fmt !== 'arrow' && format.fmt !== 'parquet';
  const coding = mayCode ? chooseCoding(exchange.requestHeaders['accept-encoding']) : undefined;
  await using table = await source.open(
    chunkFormOf(format),
    ({ versionId }) => !isHead && knownTag(exchange, { versionId, coding }) === undefined,
  );
  if (format.fmt === 'parquet') {
    if (isHead) return sendHead(exchange, { headers, coding });
    const stream = arrowIpcStream(table.columns, table.rows());
    const rows = { source: { kind: 'arrow', stream }, compression: format.compression } as const;
    await using written = await frames.writeParquet(principal, rows, { signal, lane });
    await using file = await open(written.path);
    return await sendFile(exchange, { file, bytes: written.bytes }, [...headers, ...exchange.cacheControl('no-store')]);
  }
  if (mayCode) exchange.headers.push('vary', 'Accept-Encoding');
  const description = { headers, coding, versionId: table.versionId };
  if (isHead) sendHead(exchange, description);
  else await sendBody(exchange, tableBody(source, table, format), description);
}
