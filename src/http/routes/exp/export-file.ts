import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import type { PartSource } from '../../../core/frame-engine.ts';
import type { FrameName } from '../../../core/frame-name.ts';
import { storage } from '../../../frames/disk/durable-file.ts';
import type { Frames, TemporaryPath } from '../../../frames/frames.ts';
import { entityTag } from '../../exchange/entity-tag.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { type ExportFiles, type ExportKey, hasRoom, type OpenExport } from '../../table/export-files.ts';
import { chunkFormOf, tableBody } from '../../table/table-body.ts';
import type { ExportTable } from './command.ts';

type ExportFrame = ExportTable & { readonly handle: FrameName };

export interface ExportFileOptions {
  readonly files: ExportFiles;
  readonly frames: Pick<Frames, 'read' | 'openParts' | 'writeParquet' | 'temporaryFile'>;
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
    keyOf(command, versionId, principal),
    async (making) => {
      const isSame = (selected: { readonly versionId: string }): boolean => selected.versionId === versionId;
      const request = { handle, columns, ...range, form, needsRows: isSame };
      await using table = await frames.read(principal, request, { signal: making.signal, lane });
      if (!isSame(table)) return 'later';
      const file = await frames.temporaryFile(principal);
      return await orRemove(file, async () => {
        if (!(await hasRoom(file.path, making.maxBytes))) return 'later';
        const body = tableBody({ query: `handle:${handle}` }, table, format);
        const bytes = await writeAtMost(making.maxBytes, body, file.path);
        return bytes === undefined ? 'too large' : { file, bytes, etag: entityTag(versionId, undefined) };
      });
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
    keyOf(command, versionId, principal),
    async (making) => {
      const selection = { handle, columns, ...range };
      await using frame = await frames.openParts(principal, selection, { signal: making.signal });
      if (frame.versionId !== versionId) return 'later';
      const { source } = frame;
      if ((await bytesOf(source.parts)) > making.maxBytes) return 'too large';
      const [first] = source.parts;
      if (first !== undefined && !(await hasRoom(first.path, making.maxBytes))) return 'later';
      const request = { source, compression: format.compression };
      const written = await frames.writeParquet(principal, request, { signal: making.signal });
      return await orRemove(written, async () => {
        if (written.bytes > making.maxBytes) return 'too large';
        const hash = await hashOf(written.path, making.signal);
        return { file: written, bytes: written.bytes, etag: `"${versionId}-${hash}"` };
      });
    },
    { signal, lane },
  );
}

function keyOf(
  { handle, format, range, columns }: ExportFrame,
  versionId: string,
  { tenant }: Exchange['principal'],
): ExportKey {
  const { filename: _, ...bytes } = format;
  return { tenant, handle, versionId, form: JSON.stringify({ ...bytes, ...range, columns }) };
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
