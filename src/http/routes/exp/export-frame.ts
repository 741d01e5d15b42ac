import { open } from 'node:fs/promises';
import type { FrameName } from '../../../core/frame-name.ts';
import type { Frames } from '../../../frames/frames.ts';
import { matchesEntityTag, sendNotModified } from '../../exchange/entity-tag.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { sendFile } from '../../table/file-range.ts';
import { type SendTableOptions, sendTable } from '../../table/send-table.ts';
import { exportHeaders } from '../../table/table-body.ts';
import type { ExportTable } from './command.ts';

type ExportFrame = ExportTable & { readonly handle: FrameName };

/** Answers with rows of a frame. */
export async function exportFrame(
  command: ExportFrame,
  exchange: Exchange,
  options: SendTableOptions & { readonly frames: Pick<Frames, 'read' | 'openParts'> },
): Promise<void> {
  const { handle, format, range, columns } = command;
  const { frames } = options;
  if (format.fmt === 'parquet') return await exportParquet(command, exchange, frames);
  const { principal, signal, lane } = exchange;
  await sendTable(
    exchange,
    {
      query: `handle:${handle}`,
      open: (form, needsRows) =>
        frames.read(principal, { handle, columns, ...range, form, needsRows }, { signal, lane }),
    },
    format,
    options,
  );
}

/** A whole frame is sent as its own file, every byte of it. Anything else is written for this response alone. */
async function exportParquet(
  { handle, range, columns, format }: ExportFrame,
  exchange: Exchange,
  frames: Pick<Frames, 'openParts' | 'writeParquet'>,
): Promise<void> {
  const { principal, signal } = exchange;
  await using frame = await frames.openParts(principal, { handle, columns, ...range }, { signal });
  const { versionId, source, isWholeFrame } = frame;
  const headers = [...exportHeaders(format), ...exchange.cacheControl('no-cache')];
  const [only] = source.parts;
  const isOneFile = source.parts.length === 1 && only?.columnCount === undefined;
  if (isWholeFrame && format.compression === undefined && only !== undefined && isOneFile) {
    // A version keeps its rows but not its bytes: the file may be compressed anew.
    await using file = await open(only.path);
    const { size, mtimeMs } = await file.stat();
    const etag = `"${versionId}-${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`;
    return await sendFile(exchange, { file, bytes: size }, headers, etag);
  }
  const etag = `"${versionId}"`;
  if (matchesEntityTag(exchange.requestHeaders['if-none-match'], etag)) return sendNotModified(exchange, `W/${etag}`);
  headers.push('etag', `W/${etag}`);
  if (exchange.method === 'HEAD') {
    exchange.headers.push(...headers);
    return exchange.send(200);
  }
  await using written = await frames.writeParquet(principal, { source, compression: format.compression }, { signal });
  await using file = await open(written.path);
  await sendFile(exchange, { file, bytes: written.bytes }, headers);
}
