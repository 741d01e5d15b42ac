import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cached.ts';
import { Missing } from './missing.ts';

export interface PackagesOptions {
  /** In words, for messages. */
  readonly content: string;
  /** A folder with package.json and package-lock.json. */
  readonly source: string;
  /** After npm has installed them into the folder. */
  readonly prepare?: (folder: string) => Promise<void>;
}

/** The folder, in the user's cache, in which the packages of a lock file are installed. Throws Missing. */
export function cachedPackages(name: string, { content, source, prepare }: PackagesOptions): Promise<string> {
  const lock = readFileSync(join(source, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  return cached(`${name}-${hash}`, async (folder) => {
    process.stderr.write(`fetching ${content} …\n`);
    for (const file of ['package.json', 'package-lock.json']) await copyFile(join(source, file), join(folder, file));
    // Some ask for another Node, for parts of theirs that no test runs.
    const options = ['--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund', '--fetch-retries=1'];
    try {
      await promisify(execFile)('npm', ['ci', ...options], { cwd: folder, shell: process.platform === 'win32' });
    } catch (error) {
      const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
      const line = stderr.split('\n').find((text) => text.startsWith('npm error')) ?? 'unknown reason';
      throw new Missing(`fetching ${content} failed: ${line.replace(/https?:\/\/\S+/g, '<registry>')}`);
    }
    await prepare?.(folder);
  });
}
