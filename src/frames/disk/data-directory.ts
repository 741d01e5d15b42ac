import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { DurableFiles } from './durable-file.ts';

export async function makeDataDirectory(path: string): Promise<void> {
  try {
    await new DurableFiles().makeFolder(resolve(path));
  } catch (error) {
    const code = errnoOf(error);
    const isThere = (await stat(path).catch(() => undefined))?.isDirectory() === true;
    // An existing read-only directory still serves its frames.
    if (!isThere) throw new Error(`the data directory ${path} cannot be made (${code}); name another with --data-dir`);
  }
}
