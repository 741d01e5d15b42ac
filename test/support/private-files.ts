import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The files in one of the server's own folders below the cold directory, by their names there. Each process has a folder of its
 * own in `tmp` and `pins`, and in `tmp` some empty ones with which it locks frames: these exist as long as it does.
 */
export function privateFiles(coldDirectory: string, folder: string): string[] {
  const root = join(coldDirectory, '.framehold', folder);
  try {
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .filter((name) => !/(^|\/)token-\d+\//.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
