import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { packageTools } from '../clients/support/python-package.ts';
import { startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { clusterVenv } from './support/cluster-venv.ts';
import { checkPythonVerbs } from './support/python-verbs.ts';
import { startSail } from './support/sail.ts';

const tools = await needed('the verbs of the Python package on Sail', async () => {
  await clusterVenv();
  return packageTools();
});

describe.skipIf(tools === undefined)('the verbs of the Python package', () => {
  const cleanup = new Cleanup();
  let url: string;
  beforeAll(async () => {
    const sail = cleanup.use(await startSail());
    const cold = join(cleanup.use(await temporaryDirectory()).path, 'cold');
    const toml = `[engines.sail]\nkind = "spark-connect"\nurl = "${sail.url}"\npath_map = "${cold}"\n`;
    url = cleanup.use(await startFramehold({ toml, settings: { 'storage.parquet_path': cold } })).url;
  });
  afterAll(() => cleanup[Symbol.asyncDispose]());

  test('give the same rows on Sail as on the local engine', { timeout: 300_000 }, async () => {
    await checkPythonVerbs(tools ?? '', { url, engine: 'sail', every: 5 });
  });
});
