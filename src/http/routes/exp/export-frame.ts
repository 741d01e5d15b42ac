import { open } from 'node:fs/promises';
import { AppError } from '../../../core/app-error.ts';
import type { ChunkForm } from '../../../core/frame-engine.ts';
import type { Handle } from '../../../core/handle.ts';
import type { Principal } from '../../../core/principal.ts';
import { selectColumns } from '../../../frames/read/select-columns.ts';
import type { FrameReader, FrameStore } from '../../../frames/store.ts';
import { matchesEntityTag, notModified } from '../../exchange/entity-tag.ts';
import type { Exchange } from '../../exchange/route.ts';
import type { RowRange } from '../../exchange/row-limit.ts';
import { sendFile } from '../../table/file-range.ts';
import { type SendTableOptions, sendTable } from '../../table/send-table.ts';
import type { OpenTable } from '../../table/table.ts';
import { exportHeaders } from '../../table/table-body.ts';
import type { ExportTable } from './command.ts';

type ExportFrame = ExportTable & { readonly handle: Handle };

/** Answers with rows of a frame. */
export async function exportFrame(
  command: ExportFrame,
  exchange: Exchange,
  options: SendTableOptions & { readonly frames: FrameStore; readonly lane: string },
): Promise<void> {
  const { handle, format } = command;
  const { frames, signal } = options;
  if (format.fmt === 'parquet') return await exportParquet(command, exchange, frames, signal);
  const open = (form: ChunkForm): Promise<OpenTable> => openFrame(exchange.principal, command, form, options);
  await sendTable(exchange, { query: `handle:${handle}`, open }, format, options);
}

async function openFrame(
  principal: Principal,
  { handle, range, columns }: ExportFrame,
  form: ChunkForm,
  { frames, signal, lane }: SendTableOptions & { readonly frames: FrameStore; readonly lane: string },
): Promise<OpenTable> {
  const reader = await frames.open(principal, handle, { signal });
  try {
    const chosen = selectColumns(handle, reader.columns, columns);
    const source = columns === undefined ? reader : reader.selected(chosen);
    const { from, to } = within(range, reader);
    return {
      columns: chosen,
      versionId: reader.versionId,
      async *rows() {
        let rows = 0;
        if (from === to) return;
        for await (const piece of source.rowsEncoded(form, from, to, { signal, lane })) {
          rows += piece.rows;
          yield piece;
        }
        if (rows !== to - from) throw new AppError('frame_damaged', `frame ${handle} ended early`);
      },
      [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
    };
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    throw error;
  }
}

/** A whole frame is sent as its own file, every byte of it. Anything else is written for this answer alone. */
async function exportParquet(
  { handle, range, columns, format }: ExportFrame,
  exchange: Exchange,
  frames: FrameStore,
  signal: AbortSignal,
): Promise<void> {
  await using reader = await frames.open(exchange.principal, handle, { signal });
  const chosen = selectColumns(handle, reader.columns, columns);
  const rows = within(range, reader);
  const headers = [...exportHeaders(format), 'cache-control', 'no-cache'];
  const parts = await reader.sources();
  const isWhole = columns === undefined && rows.to - rows.from === reader.rows;
  const [only] = parts;
  if (isWhole && format.compression === undefined && only !== undefined && parts.length === 1) {
    // A version keeps its rows but not its bytes: the file may be compressed anew.
    await using file = await open(only.path);
    const { size, mtimeMs } = await file.stat();
    const etag = `"${reader.versionId}-${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`;
    return await sendFile(exchange, { file, bytes: size, signal }, headers, etag);
  }
  const { request, response } = exchange;
  const etag = `"${reader.versionId}"`;
  if (matchesEntityTag(request.headers['if-none-match'], etag)) return notModified(exchange, `W/${etag}`);
  headers.push('etag', `W/${etag}`);
  if (request.method === 'HEAD') {
    response.writeHead(200, [...exchange.headers, ...headers]);
    response.end();
    return;
  }
  await using written = await frames.writeParquet(
    exchange.principal,
    {
      source: {
        kind: 'parquet',
        parts,
        columns: reader.columns,
        select: columns === undefined ? undefined : chosen.map((column) => reader.columns.indexOf(column)),
        range: isWhole ? undefined : rows,
      },
      compression: format.compression,
    },
    { signal },
  );
  await using file = await open(written.path);
  await sendFile(exchange, { file, bytes: written.bytes, signal }, headers);
}

function within({ from, to }: RowRange, { rows }: FrameReader): RowRange {
  return { from: Math.min(from, rows), to: Math.min(to, rows) };
}
