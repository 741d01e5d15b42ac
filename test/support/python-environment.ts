import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cached } from './cached.ts';
import { Missing } from './missing.ts';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../', import.meta.url));
const needed = [3, 11] as const;

export interface PythonPackages {
  /** Their names, for the line about fetching them. */
  readonly what: string;
  /** Begins the name of the folder in the cache. */
  readonly name: string;
  /** Path of the file that pins them, with everything that they need. */
  readonly requirements: string;
  /** The interpreter. Default: `python3`, of 3.11 or later. */
  readonly command?: string;
}

/** The folder of a virtual environment with these packages, made once on this machine. Throws Missing. */
export async function pythonEnvironment({ what, name, requirements, command }: PythonPackages): Promise<string> {
  const interpreter = command === undefined ? await findInterpreter() : await placeOf(command);
  const hash = createHash('sha256').update(readFileSync(requirements)).update(interpreter).digest('hex').slice(0, 12);
  return cached(`${name}-${hash}`, async (folder) => {
    process.stderr.write(`fetching ${what} …\n`);
    await install(folder, requirements, command ?? 'python3');
  });
}

/** Version and place, on which an environment depends; empty where it does not run. */
async function placeOf(command: string): Promise<string> {
  const ask = 'import sys; print("%d.%d.%d" % sys.version_info[:3], sys.base_prefix)';
  return (await run(command, ['-c', ask]).catch(() => ({ stdout: '' }))).stdout;
}

async function findInterpreter(): Promise<string> {
  const stdout = await placeOf('python3');
  const [major = 0, minor = 0] = stdout.split('.').map(Number);
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return stdout;
  throw new Missing(`there is no python3 (${needed.join('.')} or later) on the PATH`);
}

async function install(folder: string, requirements: string, command: string): Promise<void> {
  try {
    // The machine's own pip serves: one more need not be fetched.
    await run(command, ['-m', 'venv', '--without-pip', folder]);
    const args = ['--python', join(folder, 'bin', 'python'), 'install', '--quiet', '--no-input', '--no-deps'];
    const network = ['--retries', '1', '--timeout', '30', '--disable-pip-version-check'];
    await run('python3', ['-m', 'pip', ...args, ...network, '-r', requirements], { maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    throw new Missing(`fetching the packages of ${relative(root, requirements)} failed: ${lastLine(error)}`);
  }
}

function lastLine(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const line = (stderr.trim() || String(error)).split('\n').findLast((text) => text.trim() !== '');
  return (line ?? 'unknown reason').slice(0, 200).replace(/https?:\/\/\S+/g, '<registry>');
}
