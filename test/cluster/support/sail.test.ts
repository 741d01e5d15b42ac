import { expect, test } from 'vitest';
import { needed } from '../../support/missing.ts';
import { clusterVenv } from './cluster-venv.ts';
import { startSail } from './sail.ts';

const venv = await needed('Sail', clusterVenv);

test.skipIf(venv === undefined)('Sail listens, and again at the same address after it was killed', async () => {
  await using sail = await startSail();
  const { pid } = sail;
  await sail.kill();
  await sail.restart();
  expect(sail.pid).not.toBe(pid);
});
