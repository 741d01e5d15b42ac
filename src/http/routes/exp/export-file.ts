import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { arrowIpcStream } from '@framehold/arrow-ipc';
import type { EncodedRows } from '@framehold/columns';
import type { PartSource } from '../../../core/rows/frame-engine.ts';
import { storage } from '../../../frames/disk/durable-file.ts';
import type { Frames, TemporaryPath } from '../../../frames/frames.ts';
import { chooseCoding } from '../../exchange/content-coding.ts';
import { entityTag } from '../../exchange/entity-tag.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import {
  type ExportFiles,
  type ExportKey,
  hasRoom,
  type MadeFile,
  type MakeFile,
  type OpenExport,
} from '../../table/export-files.ts';
import { sendFile } from '../../table/file-range.ts';
import type { OpenTable, TableFormat, TableSource } from '../../table/table.ts';
import { chunkFormOf, exportHeaders, tableBody } from '../../table/table-body.ts';
import type { ExportedQuery, ExportFrame, ExportTable } from './command.ts';

export interface ExportFileOptions {
  readonly files: ExportFiles;
  readonly frames: Pick<Frames, 'read' | 'openParts' | 'writeParquet' | 'temporaryFile'>;
}

/** The rows of a statement or a view. */
export interface VersionedTable {
  readonly engine: string;
  /** Changes with the rows. Undefined: unknown. */
  readonly version: string | undefined;
  open(signal: AbortSignal): Promise<OpenTable>;
}

/** For clients that read a document in ranges, and need its length first. Making it first delays the first byte for others. */
export function wantsFile(
  { fmt }: TableFormat,
  { method, requestHeaders }: Exchange,
  { compression }: { readonly compression: boolean },
): boolean {
  if (fmt === 'arrow') return false;
  if (method === 'GET') return requestHeaders.range !== undefined;
  return fmt === 'parquet' || !compression || chooseCoding(requestHeaders['accept-encoding']) === undefined;
}

/** The text of the version as a file of known length. Undefined: it is too large to be made first. */
export function openTextFile(
  command: ExportFrame,
  versionId: string,
  { principal, lane, signal }: Exchange,
  { files, frames }: ExportFileOptions,
): Promise<OpenExport | undefined> {
  const { handle, format, range, columns } = command;
  const form = chunkFormOf(format);
  return files.open(
    keyOf(command, handle, versionId, principal),
    async (making) => {
      const isSame = (selected: { readonly versionId: string | undefined }): boolean =>
        selected.versionId === versionId;
      const request = { handle, columns, ...range, form, needsRows: isSame };
      await using table = await frames.read(principal, request, { signal: making.signal, lane });
      if (!isSame(table)) return 'later';
      const made = await textFile({ query: `handle:${handle}` }, table, format, making, { principal, frames });
      return typeof made === 'object' ? { ...made, etag: entityTag(versionId, undefined) } : made;
    },
    { signal, lane },
  );
}

/** The same as Parquet. Its tag names the bytes too, which another making of the same rows need not repeat. */
export function openParquetFile(
  command: ExportFrame,
  versionId: string,
  { principal, lane, signal }: Exchange,
  { files, frames }: ExportFileOptions,
): Promise<OpenExport | undefined> {
  const { handle, format, range, columns } = command;
  return files.open(
    keyOf(command, handle, versionId, principal),
    async (making) => {
      const selection = { handle, columns, ...range };
      await using frame = await frames.openParts(principal, selection, { signal: making.signal });
      if (frame.versionId !== versionId) return 'later';
      const { source } = frame;
      if ((await bytesOf(source.parts)) > making.maxBytes) return 'too large';
      const [first] = source.parts;
      if (first !== undefined && !(await hasRoom(first.path, making.maxBytes))) return 'later';
      const request = { source, compression: format.compression };
      const written = await frames.writeParquet(principal, request, { signal: making.signal, lane });
      return await parquetFile(written, making);
    },
    { signal, lane },
  );
}

/**
 * The rows of a statement as a file, for as long as the frames that it reads have the same ones. Its tag names the bytes, which
 * another run may not repeat. Undefined: no version shows when rows change, or there are too many.
 */
async function openQueryFile(
  command: ExportTable & ExportedQuery & Pick<TableSource, 'engineReport'>,
  source: VersionedTable,
  { principal, lane, signal }: Exchange,
  { files, frames }: ExportFileOptions,
): Promise<OpenExport | undefined> {
  if (source.version === undefined) return undefined;
  const { format } = command;
  return await files.open(
    keyOf(command, JSON.stringify([source.engine, command.query, command.params]), source.version, principal),
    async (making) => {
      await using table = await source.open(making.signal);
      if (format.fmt === 'parquet') {
        if (!(await hasRoomBesideFrames(principal, frames, making))) return 'later';
        const stream = arrowIpcStream(table.columns, atMost(making.maxBytes, table.rows()));
        const request = { source: { kind: 'arrow', stream }, compression: format.compression } as const;
        try {
          const written = await frames.writeParquet(principal, request, { signal: making.signal, lane });
          return await parquetFile(written, making);
        } catch (error) {
          if (error instanceof TooManyBytes) return 'too large';
          throw error;
        }
      }
      const made = await textFile(command, table, format, making, { principal, frames });
      if (typeof made === 'string') return made;
      return { ...made, etag: `"${await hashOf(made.file.path, making.signal)}"` };
    },
    { signal, lane },
  );
}

/** False where it cannot be made first: nothing is sent yet. */
export async function sendQueryFile(
  command: ExportTable & ExportedQuery & Pick<TableSource, 'engineReport'>,
  source: VersionedTable,
  exchange: Exchange,
  options: ExportFileOptions & { readonly compression: boolean },
): Promise<boolean> {
  await using made = await openQueryFile(command, source, exchange, options);
  if (made === undefined) return false;
  await sendMadeFile(made, command.format, exchange, options);
  return true;
}

export async function sendMadeFile(
  made: OpenExport,
  format: TableFormat,
  exchange: Exchange,
  { compression }: { readonly compression: boolean },
): Promise<void> {
  if (compression) exchange.headers.push('vary', 'Accept-Encoding');
  await sendFile(exchange, made, [...exportHeaders(format), ...exchange.cacheControl('no-cache')], made.etag);
}

type Making = Parameters<MakeFile>[0];

async function hasRoomBesideFrames(
  principal: Exchange['principal'],
  frames: Pick<Frames, 'temporaryFile'>,
  { maxBytes }: Making,
): Promise<boolean> {
  await using place = await frames.temporaryFile(principal);
  return await hasRoom(place.path, maxBytes);
}

/** A text of the table as a file. */
async function textFile(
  source: Pick<TableSource, 'query' | 'engineReport'>,
  table: OpenTable,
  format: TableFormat,
  { maxBytes }: Making,
  { principal, frames }: Pick<Exchange, 'principal'> & Pick<ExportFileOptions, 'frames'>,
): Promise<Omit<MadeFile, 'etag'> | 'too large' | 'later'> {
  const file = await frames.temporaryFile(principal);
  return await orRemove(file, async () => {
    if (!(await hasRoom(file.path, maxBytes))) return 'later';
    const bytes = await writeAtMost(maxBytes, tableBody(source, table, format), file.path);
    return bytes === undefined ? 'too large' : { file, bytes };
  });
}

/** A Parquet file that was written for this, with its tag. */
async function parquetFile(
  written: TemporaryPath & { readonly bytes: number },
  { maxBytes, signal }: Making,
): Promise<MadeFile | 'too large'> {
  return await orRemove(written, async () => {
    if (written.bytes > maxBytes) return 'too large';
    return { file: written, bytes: written.bytes, etag: `"${await hashOf(written.path, signal)}"` };
  });
}

class TooManyBytes extends Error {}

/** Rows that fail after `most` bytes. */
async function* atMost<Rows extends Pick<EncodedRows, 'bytes'>>(
  maxBytes: number,
  rows: AsyncIterable<Rows>,
): AsyncGenerator<Rows, void, undefined> {
  let left = maxBytes;
  for await (const each of rows) {
    left -= each.bytes.byteLength;
    if (left < 0) throw new TooManyBytes();
    yield each;
  }
}

function keyOf(
  { format, range, columns, engineReport }: ExportTable & Pick<TableSource, 'engineReport'>,
  source: string,
  versionId: string,
  { tenant }: Exchange['principal'],
): ExportKey {
  const { filename: _, ...bytes } = format;
  return { tenant, source, versionId, form: JSON.stringify({ ...bytes, ...range, columns, engineReport }) };
}

/** Gives the number of bytes; undefined where there are more. */
async function writeAtMost(
  maxBytes: number,
  body: AsyncGenerator<Uint8Array, void, undefined>,
  path: string,
): Promise<number | undefined> {
  await using file = await storage(() => open(path, 'wx', 0o600));
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) return undefined;
    await storage(() => file.appendFile(piece));
  }
  return bytes;
}

/** A file that does not become an export is removed. */
async function orRemove<T extends object | string>(file: TemporaryPath, make: () => Promise<T>): Promise<T> {
  let isMade = false;
  try {
    const made = await make();
    isMade = typeof made === 'object';
    return made;
  } finally {
    if (!isMade) await file[Symbol.asyncDispose]();
  }
}

async function bytesOf(parts: readonly PartSource[]): Promise<number> {
  let bytes = 0;
  for (const { path } of parts) bytes += (await storage(() => stat(path))).size;
  return bytes;
}

async function hashOf(path: string, signal: AbortSignal): Promise<string> {
  await using file = await storage(() => open(path));
  const hash = createHash('sha256');
  for await (const piece of file.createReadStream({ highWaterMark: 1024 * 1024, signal })) hash.update(piece as Buffer);
  return hash.digest('base64url').slice(0, 22);
}
