import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildPythonPackage } from '../../../scripts/release/python-package.ts';
import { pythonEnvironment } from '../../support/python-environment.ts';

const run = promisify(execFile);
const pins = (name: string): string => fileURLToPath(new URL(`../python-package/${name}`, import.meta.url));
const pip = ['-m', 'pip', '--disable-pip-version-check', '--no-input'];

/** The folder of the package's source. */
export const packageSource = fileURLToPath(new URL('../../../clients/python/', import.meta.url));

/** A folder with what the package is built, checked and tested with, for all its extras. Throws Missing. */
export function packageTools(): Promise<string> {
  const requirements = pins('requirements.txt');
  return pythonEnvironment({ what: 'the tools of the Python package', name: 'python-package', requirements });
}

/** The same for another Python, or undefined where that is not installed. Throws Missing. */
export async function otherTools(version: string): Promise<string | undefined> {
  const environment = { ...process.env, PYENV_VERSION: version };
  const ask = ['-c', 'import sys; print(sys.executable)'];
  const found = await run(`python${version}`, ask, { env: environment }).catch(() => undefined);
  if (found === undefined) return undefined;
  return pythonEnvironment({
    what: `the tools of the Python package for ${version}`,
    name: `python-package-${version}`,
    requirements: pins(version === '3.10' ? 'requirements-3.10.txt' : 'requirements.txt'),
    command: found.stdout.trim(),
  });
}

/** Builds the package in a folder, away from its source, and gives the path of the wheel. */
export async function buildWheel(tools: string, folder: string): Promise<string> {
  const [wheel] = await buildPythonPackage({ python: interpreter(tools), source: packageSource, folder });
  return join(folder, wheel);
}

/** A virtual environment with the wheel and, of the tools, these packages alone, or all. Gives its interpreter. */
export async function installWheel(
  tools: string,
  { folder, wheel, packages }: { folder: string; wheel: string; packages: readonly string[] | 'all' },
): Promise<string> {
  await run(interpreter(tools), ['-m', 'venv', '--without-pip', folder]);
  const [from, to] = await Promise.all([sitePackages(tools), sitePackages(folder)]);
  if (packages === 'all') await writeFile(join(to, 'tools.pth'), `${from}\n`);
  else {
    const names = new RegExp(`^(${packages.join('|')})(\\.libs|-[\\d.]+\\.dist-info)?$`);
    for (const name of (await readdir(from)).filter((each) => names.test(each))) {
      await symlink(join(from, name), join(to, name));
    }
  }
  const python = [...pip, '--python', interpreter(folder)];
  await run('python3', [...python, 'install', '--quiet', '--no-index', '--no-deps', wheel]);
  return interpreter(folder);
}

/** What `pip check` finds wrong. */
export async function checkInstalled(python: string): Promise<void> {
  await run('python3', [...pip, '--python', python, 'check']);
}

/** Installs the wheel into a folder for PYTHONPATH. */
export async function installInto(folder: string, wheel: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('python3', [...pip, 'install', '--quiet', '--no-index', '--no-deps', '--target', folder, wheel]);
}

export function interpreter(environment: string): string {
  return join(environment, 'bin', 'python');
}

async function sitePackages(environment: string): Promise<string> {
  const lib = join(environment, 'lib');
  const version = (await readdir(lib)).find((name) => name.startsWith('python3'));
  return join(lib, version ?? '', 'site-packages');
}
