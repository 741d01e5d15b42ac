import { type FileHandle, mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChunkFile } from './open-chunks.ts';

export interface CachedChunk extends ChunkFile {
  readonly key: string;
  reads: number;
}

/** The chunks of one version that an earlier process left. */
export interface Leftover {
  readonly state: string;
  readonly chunks: readonly CachedChunk[];
}

/** The file that says which state of a version the chunks beside it are of. */
const stateFile = 'state';

/** Makes the folder, and says which state it is of. */
export async function markFolder(folder: string, state: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, stateFile), state, { mode: 0o600 });
}

/** The path of a chunk in the folder of its version. */
export function chunkPath(folder: string, key: string, bytes: number): string {
  return join(folder, `${encodeURIComponent(key)}.${bytes}`);
}

export async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  await using file: FileHandle = await open(path, 'w', 0o600);
  const total = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const { bytesWritten } = await file.writev([...parts], 0);
  if (bytesWritten !== total) throw new Error(`${bytesWritten} of ${total} bytes were written`);
}

export async function readLeftovers(folder: string): Promise<Map<string, Leftover>> {
  const leftovers = new Map<string, Leftover>();
  const contentIds = await readdir(folder).catch(() => []);
  for (const contentId of contentIds) {
    const inside = join(folder, contentId);
    const state = await readFile(join(inside, stateFile), 'utf8').catch(() => '');
    const files = await readdir(inside).catch(() => []);
    leftovers.set(contentId, { state, chunks: files.flatMap((file) => leftoverChunk(inside, contentId, file)) });
  }
  return leftovers;
}

/** By the name of its file, as `chunkPath` makes it; none where it is another one. */
function leftoverChunk(folder: string, contentId: string, file: string): CachedChunk[] {
  const dot = file.lastIndexOf('.');
  const bytes = Number(file.slice(dot + 1));
  if (dot < 0 || !Number.isSafeInteger(bytes) || bytes <= 0) return [];
  try {
    const key = decodeURIComponent(file.slice(0, dot));
    return [{ path: join(folder, file), name: `${contentId} ${key}`, key, bytes, reads: 0 }];
  } catch {
    return [];
  }
}

export function leftoverBytes(leftovers: Iterable<Leftover>): number {
  let sum = 0;
  for (const { chunks } of leftovers) for (const { bytes } of chunks) sum += bytes;
  return sum;
}
