import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { handlePath } from '../rivals/framehold.ts';
import { runLoad } from './load.ts';
import { untilQuiet } from './process-tree.ts';
import type { HttpServer } from './server-process.ts';

const pageRows = 1000;
const mostPasses = 4;
/** Another pass is worth it. */
const leastGrowth = 1.02;

/** A setting of our server. */
export const noDiskCache = { DISK_CACHE_SIZE: '0' } as const;

/** Of a server that does not run. */
export async function emptyDiskCache(dataDir: string): Promise<void> {
  await rm(folderOf(dataDir), { recursive: true, force: true });
}

/**
 * Reads all pages of a frame as JSON. Pages for which memory has no room are on disk afterwards: the server drops some if reads are faster
 * than the disk writes, so they are read again while that adds something.
 */
export async function fillDiskCache(
  server: HttpServer,
  { dataDir, handle, rows }: { readonly dataDir: string; readonly handle: string; readonly rows: number },
): Promise<void> {
  const paths = Array.from({ length: Math.ceil(rows / pageRows) }, (_, at) =>
    handlePath(handle, `${at * pageRows + 1},${Math.min((at + 1) * pageRows, rows)}`),
  );
  let bytes = await diskCacheBytes(dataDir);
  for (let pass = 0; pass < mostPasses; pass++) {
    await runLoad({ ...server, connections: 4, paths, until: { requests: paths.length } });
    await untilQuiet(server.pid);
    const before = bytes;
    bytes = await diskCacheBytes(dataDir);
    if (bytes <= before * leastGrowth) return;
  }
}

export async function diskCacheBytes(dataDir: string): Promise<number> {
  const folder = folderOf(dataDir);
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'cache');
}
