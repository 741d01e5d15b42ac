import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';

const packages = fileURLToPath(new URL('.', import.meta.url));
const tsx = fileURLToPath(new URL('../node_modules/tsx/dist/esm/index.mjs', import.meta.url));
const names = readdirSync(packages, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(names.map(({ name }) => name))('the example of the package %s runs as it stands', async (name) => {
  const text = await readFile(join(packages, name, 'README.md'), 'utf8');
  const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? '';
  // Beside the sources, as the names of packages are looked up from there.
  const program = join(packages, name, 'readme-example.mts');
  await using folder = await temporaryDirectory();
  await writeFile(program, code);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', tsx, program], { cwd: folder.path });
    expect(stdout).not.toBe('');
  } finally {
    await rm(program);
  }
});
