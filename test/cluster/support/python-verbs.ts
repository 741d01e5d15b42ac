import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildWheel, installWheel, packageSource } from '../../clients/support/python-package.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export interface VerbsOnEngine {
  readonly url: string;
  readonly engine: string;
  /** Of the plans of clients/verbs.json, each second, third … */
  readonly every: number;
}

/** Runs the verbs of the Python package, installed from its wheel, on an engine of a server. Throws what pytest says where one fails. */
export async function checkPythonVerbs(tools: string, { url, engine, every }: VerbsOnEngine): Promise<void> {
  await using directory = await temporaryDirectory();
  const folder = directory.path;
  const wheel = await buildWheel(tools, join(folder, 'built'));
  const python = await installWheel(tools, { folder: join(folder, 'installed'), wheel, packages: 'all' });
  const env = {
    PATH: process.env.PATH,
    FRAMEHOLD_TEST_URL: url,
    FRAMEHOLD_TEST_ENGINE: engine,
    FRAMEHOLD_TEST_EVERY: String(every),
  };
  const args = ['-B', '-m', 'pytest', 'tests/test_engines.py'];
  const { stdout } = await promisify(execFile)(python, args, { cwd: packageSource, env }).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.stdout}${error.stderr}`);
    },
  );
  // All of them are skipped where the engine is not told.
  if (!/^\d+ passed/m.test(stdout)) throw new Error(stdout);
}
