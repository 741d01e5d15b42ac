import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonEnvironment } from '../../support/python-environment.ts';

const requirements = fileURLToPath(new URL('../requirements.txt', import.meta.url));

/** The interpreter of a virtual environment with the packages of requirements.txt. Throws Missing. */
export async function python(): Promise<string> {
  return join(await pythonEnvironment({ what: 'the Python clients', name: 'python', requirements }), 'bin', 'python');
}
