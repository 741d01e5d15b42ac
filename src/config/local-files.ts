import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';

/** A container may run us as a user without a home, and then `homedir` throws. */
export function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return process.cwd();
  }
}

export function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
