import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RivalUnavailable } from '../rivals/unavailable.ts';

const tsx = fileURLToPath(import.meta.resolve('tsx/cli'));
const program = fileURLToPath(new URL('../console/measure.ts', import.meta.url));
const mostMs = 600_000;

/** One measurement of bench/console. The caller knows the type of the operation's result. */
export async function measureInBrowser<T>(operation: string, parameters: object): Promise<T> {
  try {
    const args = [tsx, program, operation, JSON.stringify(parameters)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: mostMs });
    return JSON.parse(stdout) as T;
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    if (/\bMissing\b/.test(stderr)) throw new RivalUnavailable(`there is no Chromium: ${stderr.slice(0, 300)}`);
    throw error;
  }
}
