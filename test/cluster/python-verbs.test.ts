import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { buildWheel, installWheel, packageSource, packageTools } from '../clients/support/python-package.ts';
import { startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { clusterVenv } from './support/cluster-venv.ts';
import { startSail } from './support/sail.ts';

const run = promisify(execFile);
const tools = await needed('the verbs of the Python package on Sail', async () => {
  await clusterVenv();
  return packageTools();
});

describe.skipIf(tools === undefined)('the verbs of the Python package', () => {
  const cleanup = new Cleanup();
  let url: string;
  let python: string;
  beforeAll(async () => {
    const folder = cleanup.use(await temporaryDirectory()).path;
    const wheel = await buildWheel(tools ?? '', join(folder, 'built'));
    python = await installWheel(tools ?? '', { folder: join(folder, 'all'), wheel, packages: 'all' });
    const sail = cleanup.use(await startSail());
    const cold = join(folder, 'cold');
    const toml = `[engines.sail]\nkind = "spark-connect"\nurl = "${sail.url}"\npath_map = "${cold}"\n`;
    url = cleanup.use(await startFramehold({ toml, settings: { 'storage.parquet_path': cold } })).url;
  });
  afterAll(() => cleanup[Symbol.asyncDispose]());

  test('give the same rows on Sail as on the local engine', { timeout: 300_000 }, async () => {
    const env = { PATH: process.env.PATH, FRAMEHOLD_TEST_URL: url, FRAMEHOLD_TEST_ENGINE: 'sail' };
    const args = ['-B', '-m', 'pytest', 'tests/test_engines.py'];
    const { stdout } = await run(python, args, { cwd: packageSource, env }).catch(
      (error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(`${error.stdout}${error.stderr}`);
      },
    );
    expect(stdout).toContain('4 passed');
  });
});
