import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The Parquet files that a cluster wrote into a folder, in the order of the rows. Its other files are removed. Undefined if the
 * folder does not exist.
 */
export async function writtenFiles(folder: string): Promise<string[] | undefined> {
  const paths: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (entries === undefined) return undefined;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isFile() && entry.name.endsWith('.parquet') && !/^[._]/.test(entry.name)) paths.push(path);
    else await rm(path, { recursive: true, force: true });
  }
  return paths.sort((a, b) => byNumbers.compare(a, b));
}

/** Parts are numbered, and the numbers need not have the same length. */
const byNumbers = new Intl.Collator('en', { numeric: true });
