import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { needed } from '../support/missing.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { clusterVenv } from './support/cluster-venv.ts';
import { startSail } from './support/sail.ts';

const venv = await needed('Sail', clusterVenv);
const root = fileURLToPath(new URL('../../', import.meta.url));
const guide = readFileSync(join(root, 'docs/guides/scale-out.md'), 'utf8');

/** The settings that a reader has in the end who has the engine beside the server. */
function settings(url: string): string {
  const blocks = [...guide.matchAll(/```toml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  expect(blocks.length).toBe(3);
  const [beside = '', , auto = ''] = blocks;
  return `${beside.replace('sc://127.0.0.1:50051', url)}${auto}`;
}

/** What a reader types while the server runs. */
function typed(): string[] {
  return [...guide.matchAll(/^(?:curl|node) .*$/gm)].map((match) => match[0]);
}

test.skipIf(venv === undefined)('the guide’s way from a laptop to an engine works as it stands there', async () => {
  await using sail = await startSail();
  await using directory = await temporaryDirectory();
  const config = join(directory.path, 'framehold.toml');
  await writeFile(config, settings(sail.url));
  const dataDir = join(directory.path, 'data');
  await using server = await spawnFramehold({ dataDir, flags: ['--demo', `--config=${config}`] });
  const answers: string[] = [];
  for (const line of typed()) {
    const command = line
      .replaceAll('http://127.0.0.1:9000', server.url)
      .replace(/^curl /, 'curl -sS --fail-with-body ');
    const env = { ...process.env, FRAMEHOLD_SERVER: server.url };
    const { stdout } = await promisify(execFile)('bash', ['-euc', command], { cwd: root, env });
    answers.push(stdout);
  }
  const [onLaptop, engines, onEngine, fromTerminal, kept, auto, underWay] = answers;
  expect(answers.length).toBe(7);
  expect(JSON.parse(onEngine ?? '')).toMatchObject({
    dataset: JSON.parse(onLaptop ?? '').dataset,
    engine: 'spark',
  });
  expect(JSON.parse(engines ?? '').engines).toContainEqual(expect.objectContaining({ name: 'spark', state: 'up' }));
  expect(fromTerminal).toMatch(/\bn\b[\s\S]*\d{2,}/);
  expect(JSON.parse(kept ?? '')).toMatchObject({ handle: 'highs' });
  expect(JSON.parse(auto ?? '')).toMatchObject({ engine: 'local' });
  expect(JSON.parse(underWay ?? '')).toEqual({ queries: [] });
});
