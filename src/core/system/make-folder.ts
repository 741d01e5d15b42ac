import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a folder with its missing parents, and returns the new ones. Node's own recursive mkdir reports a full disk as ENOENT. */
export async function makeFolder(path: string): Promise<readonly string[]> {
  const made = await makeOne(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
    return undefined;
  });
  if (made !== undefined) return made;
  const above = await makeFolder(dirname(path));
  // If it fails with ENOENT again, as in /proc, no parent is missing.
  return [...above, ...(await makeOne(path))];
}

async function makeOne(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path);
    return [path];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(path)).isDirectory()) return [];
    throw error;
  }
}
