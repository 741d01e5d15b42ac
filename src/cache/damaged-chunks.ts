import { type FileHandle, open, rm } from 'node:fs/promises';
import { ChunkTable, firstReadBytes } from './chunk-file.ts';
import { type CachedChunk, readLeftovers } from './chunk-folder.ts';

/** Removes the damaged files of a disk cache. Returns their number. No server may use the folder. */
export async function removeDamagedChunks(
  folder: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<number> {
  let removed = 0;
  for (const { chunks } of (await readLeftovers(folder)).values()) {
    for (const chunk of chunks) {
      signal.throwIfAborted();
      if (await isSound(chunk).catch(() => false)) continue;
      await rm(chunk.path, { force: true });
      removed++;
    }
  }
  return removed;
}

async function isSound({ path, name, bytes }: CachedChunk): Promise<boolean> {
  await using file = await open(path, 'r');
  if ((await file.stat()).size !== bytes) return false;
  const first = await readBytes(file, 0, Math.min(bytes, firstReadBytes));
  const tableBytes = ChunkTable.bytesOf(first);
  if (tableBytes === undefined) return false;
  const head = tableBytes <= first.length ? first : await readBytes(file, 0, tableBytes);
  const table = ChunkTable.parse(head, name);
  if (table === undefined) return false;
  if (table.rows === 0) return true;
  const span = table.span(0, table.rows);
  const data = await readBytes(file, span.offset, span.length);
  return data.length === span.length && table.piecesOf(span, data) !== undefined;
}

async function readBytes(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytes.subarray(0, bytesRead);
}
