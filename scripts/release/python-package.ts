import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface PythonBuild {
  /** An interpreter that has setuptools: nothing is fetched. */
  readonly python: string;
  /** The folder with `pyproject.toml`. Nothing is written there. */
  readonly source: string;
  /** Where the files go. */
  readonly folder: string;
}

/** Each hook needs a process of its own. Setuptools prints its steps; that goes to standard error. */
const build = `
import os, sys
out = os.dup(1)
os.dup2(2, 1)
from setuptools import build_meta
os.write(out, getattr(build_meta, sys.argv[1])(sys.argv[2]).encode())
`;

/** Builds the wheel and the source distribution of a package of Python. Gives the names of the files. */
export async function buildPythonPackage({ python, source, folder }: PythonBuild): Promise<readonly [string, string]> {
  // Setuptools leaves a folder beside the sources, and takes what it finds there.
  const copy = await mkdtemp(join(tmpdir(), 'framehold-python-'));
  try {
    for (const name of ['pyproject.toml', 'README.md', 'LICENSE', 'src']) {
      const filter = (path: string): boolean => !/__pycache__|\.egg-info/.test(path);
      await cp(join(source, name), join(copy, name), { recursive: true, filter });
    }
    await mkdir(folder, { recursive: true });
    const options = { cwd: copy, maxBuffer: 16 * 1024 * 1024 };
    const built = async (hook: string): Promise<string> => {
      const { stdout } = await promisify(execFile)(python, ['-c', build, hook, folder], options);
      return stdout;
    };
    return [await built('build_wheel'), await built('build_sdist')];
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new Error(`${source} could not be built: ${stderr.trim().slice(-1000) || message}`, { cause: error });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
