import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cachedPackages } from './cached-packages.ts';
import { Missing } from './missing.ts';

const source = fileURLToPath(new URL('../node-versions/', import.meta.url));

/**
 * The path of a Node of this major version: the one that runs us, else one of the user's cache. Throws Missing if there is none
 * for this platform. The npm package `node` itself fetches by an install script, which npm 11 does not run; the packages behind
 * it hold the binary.
 */
export async function nodeBinary(major: 18 | 20 | 22 | 24): Promise<string> {
  if (process.version.startsWith(`v${major}.`)) return process.execPath;
  const folder = await cachedPackages('node-versions', { content: 'versions of Node', source });
  const platform = `${process.platform}-${process.arch}`;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const binary = join(folder, 'node_modules', `node${major}-${platform}`, 'bin', file);
  try {
    await access(binary);
  } catch {
    throw new Missing(`no package holds a Node ${major} for ${platform}`);
  }
  const { stdout } = await promisify(execFile)(binary, ['--version']);
  if (!stdout.startsWith(`v${major}.`)) throw new Missing(`${binary} is a Node ${stdout.trim()}, not ${major}`);
  return binary;
}
