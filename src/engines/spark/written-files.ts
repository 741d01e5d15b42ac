import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The Parquet files that a cluster wrote into a folder, in the order of the rows. What else it left there is removed. */
export async function writtenFiles(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile() && entry.name.endsWith('.parquet') && !/^[._]/.test(entry.name)) paths.push(path);
    else await rm(path, { recursive: true, force: true });
  }
  return paths.sort((a, b) => byNumbers.compare(a, b));
}

/** Parts are numbered, and the numbers need not have the same length. */
const byNumbers = new Intl.Collator('en', { numeric: true });
