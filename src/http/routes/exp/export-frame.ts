import { open } from 'node:fs/promises';
import { localEngineName } from '../../../core/names/engine-names.ts';
import { ViewRead } from '../../../frames/read/read-frame.ts';
import type { FrameSql } from '../../../query/frame-sql.ts';
import { viewRows } from '../../../query/view-frames.ts';
import { matchesEntityTag, sendNotModified } from '../../exchange/entity-tag.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { sendFile } from '../../table/file-range.ts';
import { type SendTableOptions, sendTable } from '../../table/send-table.ts';
import { chunkFormOf, exportHeaders } from '../../table/table-body.ts';
import type { ExportFrame } from './command.ts';
import {
  type ExportFileOptions,
  openParquetFile,
  openTextFile,
  sendMadeFile,
  sendQueryFile,
  wantsFile,
} from './export-file.ts';

type ExportFrameOptions = SendTableOptions & ExportFileOptions & { readonly sql: FrameSql };

/** Answers with rows of a frame or a view. */
export async function exportFrame(
  command: ExportFrame,
  exchange: Exchange,
  options: ExportFrameOptions,
): Promise<void> {
  const { handle, format, range, columns } = command;
  const { frames } = options;
  if (format.fmt === 'parquet' && (await exportsParquet(command, exchange, options))) return;
  if (wantsFile(format, exchange, options) && (await sendTextFile(command, exchange, options))) return;
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

/** False: nothing is sent yet. */
async function sendTextFile(command: ExportFrame, exchange: Exchange, options: ExportFrameOptions): Promise<boolean> {
  const { handle, format, range, columns } = command;
  const { principal, signal, lane } = exchange;
  const request = { handle, columns, ...range, form: chunkFormOf(format), needsRows: () => false };
  await using known = await options.frames.read(principal, request, { signal, lane });
  if (known.versionId === undefined) return await sendViewFile(command, exchange, options);
  await using made = await openTextFile(command, known.versionId, exchange, options);
  if (made === undefined) return false;
  await sendMadeFile(made, format, exchange, options);
  return true;
}

/** False where nothing is sent yet: a view has no files of its own. */
async function exportsParquet(command: ExportFrame, exchange: Exchange, options: ExportFrameOptions): Promise<boolean> {
  try {
    await exportParquet(command, exchange, options);
    return true;
  } catch (error) {
    if (!(error instanceof ViewRead)) throw error;
    return wantsFile(command.format, exchange, options) && (await sendViewFile(command, exchange, options));
  }
}

/** The rows of a view, for as long as its frames are the same. False if nothing is sent yet. */
async function sendViewFile(command: ExportFrame, exchange: Exchange, options: ExportFrameOptions): Promise<boolean> {
  const { handle, format, range, columns } = command;
  const { principal, signal, lane, requestId } = exchange;
  const { frames, sql } = options;
  const call = { signal, lane, requestId, shownAs: `rows of ${handle}` };
  const statement = await sql.analyze(principal, { sql: viewRows(handle), engine: localEngineName }, call);
  const version = await sql.sourceVersion(principal, statement, call);
  const request = { handle, columns, ...range, form: chunkFormOf(format) };
  const open = (making: AbortSignal) => frames.read(principal, request, { signal: making, lane });
  const source = { engine: localEngineName, version, open };
  return await sendQueryFile({ ...command, query: `handle:${handle}`, params: undefined }, source, exchange, options);
}

/** A whole frame is sent as its own file, byte by byte. Other exports are written: once for all requests, or for this response alone. */
async function exportParquet(command: ExportFrame, exchange: Exchange, options: ExportFileOptions): Promise<void> {
  const { handle, range, columns, format } = command;
  const { frames } = options;
  const { principal, signal, lane } = exchange;
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
  await using made = await openParquetFile(command, versionId, exchange, options);
  if (made !== undefined) return await sendFile(exchange, made, headers, made.etag);
  headers.push('etag', `W/${etag}`);
  if (exchange.method === 'HEAD') {
    exchange.headers.push(...headers);
    return exchange.send(200);
  }
  await using written = await frames.writeParquet(
    principal,
    { source, compression: format.compression },
    { signal, lane },
  );
  await using file = await open(written.path);
  await sendFile(exchange, { file, bytes: written.bytes }, headers);
}
