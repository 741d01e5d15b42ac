import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cached } from '../../test/support/cached.ts';
import { RivalUnavailable } from '../rivals/unavailable.ts';

const run = promisify(execFile);

const requirements = fileURLToPath(new URL('../requirements.txt', import.meta.url));
const installMs = 500_000;

/** A virtual environment with the packages of requirements.txt: its folder of programs. Another list, another environment. */
export async function pythonPrograms(): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  try {
    const folder = await cached(`bench-python-${hash.slice(0, 12)}`, async (made) => {
      await run('python3', ['-m', 'venv', made], { timeout: installMs });
      await run(join(made, 'bin', 'pip'), ['install', '-q', '-r', requirements], { timeout: installMs });
    });
    return join(folder, 'bin');
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    throw new RivalUnavailable(
      `bench/requirements.txt could not be installed with python3 and pip: ${line.slice(0, 200)}`,
    );
  }
}

/** For programs of ours in Python. */
export function pythonEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    // No compiled files beside the sources.
    PYTHONDONTWRITEBYTECODE: '1',
    // Batches that come over a wire lie where they lie; pyarrow warns of each.
    ACERO_ALIGNMENT_HANDLING: 'ignore',
  };
}
