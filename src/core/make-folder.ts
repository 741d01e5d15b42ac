import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a folder and those above it that are missing, and gives the ones it made. Node's own recursive mkdir calls a full disk ENOENT. */
export async function makeFolder(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path);
    return [path];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return [];
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const above = await makeFolder(dirname(path));
  return [...above, ...(await makeFolder(path))];
}
