import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ask } from '../support/http-client.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

test('the README’s curl lines give the output that stands below them', async () => {
  const [, commands = '', output = ''] = /```sh\n((?:curl .*\n)+)```\n\n```\n([\s\S]*?)```/.exec(readme) ?? [];
  const targets = [...commands.matchAll(/^curl -w '\\n' 'http:\/\/127\.0\.0\.1:9000(\/[^']*)'$/gm)].map(
    (match) => match[1],
  );
  expect(targets.length).toBe(6);
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] });
  const answers: string[] = [];
  for (const target of targets) answers.push((await ask(`${server.url}${target}`)).text);
  expect(answers).toEqual(output.trimEnd().split('\n'));
});

test('the README’s way of a file, in by curl and out again, works as it stands there', async () => {
  const [, script = ''] = /```sh\n(printf [\s\S]*?)```/.exec(readme) ?? [];
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: join(directory.path, 'data') });
  const lines = await runInShell(script, server.url, directory.path);
  const [imported, read, asked, dropped] = lines.map((line) => JSON.parse(line));
  expect(imported).toMatchObject({ handle: 'weather', rowsImported: 2 });
  expect(read.columns.map((column: { type: string }) => column.type)).toEqual(['DATE', 'VARCHAR', 'DOUBLE']);
  expect(asked.dataset).toEqual([['Rome']]);
  expect(dropped).toEqual({ handle: 'weather', version: 1, dropped: true });
  expect((await readFile(join(directory.path, 'weather.parquet'))).subarray(0, 4).toString()).toBe('PAR1');
});

test('getting started works from reading a frame to dropping one, as it stands there', async () => {
  const guide = readFileSync(new URL('../../docs/guides/getting-started.md', import.meta.url), 'utf8');
  const [part = ''] = /^## Read a frame$[\s\S]*(?=^## Ask QuestDB)/m.exec(guide) ?? [];
  const blocks = [...part.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]);
  await using directory = await temporaryDirectory();
  await symlink(fileURLToPath(new URL('../../dist', import.meta.url)), join(directory.path, 'dist'));
  await using server = await spawnFramehold({ dataDir: join(directory.path, '.demo'), flags: ['--demo'] });
  const lines = await runInShell(blocks.join(''), server.url, directory.path);
  const answers = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  expect(answers).toMatchObject([
    { query: 'handle:trades', count: 2 },
    { handle: 'prices', rowsImported: 2 },
    { query: 'handle:prices', count: 2 },
    { query: 'handle:copy', count: 2 },
    { handle: 'means' },
    { handle: 'means', dropped: true },
  ]);
  expect(lines).toContain('101.5');
  expect(lines).toContain('symbol,mean');
});

test('the two commands that open the README are scripts of the package', () => {
  const [first = ''] = /```sh\n[\s\S]*?```/.exec(readme) ?? [];
  expect([...first.matchAll(/^npm (\w+)/gm)].map((match) => match[1])).toEqual(['start', 'test']);
});

/** What the commands of a page print, line by line, for a server that is elsewhere. */
async function runInShell(script: string, url: string, cwd: string): Promise<readonly string[]> {
  const here = script
    .replaceAll('http://127.0.0.1:9000', url)
    // A file that was moved in may take longer on a machine that has other work.
    .replaceAll('curl ', 'curl -sS --fail --retry 9 --retry-all-errors --retry-delay 1 ');
  const env = { ...process.env, FRAMEHOLD_SERVER: url };
  const { stdout } = await promisify(execFile)('bash', ['-O', 'expand_aliases', '-euc', here], { cwd, env });
  return stdout.trimEnd().split(/\r?\n/);
}
