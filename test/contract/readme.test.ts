import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-euc', script.replaceAll('http://127.0.0.1:9000', server.url).replaceAll('curl ', 'curl -sS --fail-with-body ')],
    { cwd: directory.path },
  );
  const [imported, read, asked, dropped] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(imported).toMatchObject({ handle: 'weather', rowsImported: 2 });
  expect(read.columns.map((column: { type: string }) => column.type)).toEqual(['DATE', 'VARCHAR', 'DOUBLE']);
  expect(asked.dataset).toEqual([['Rome']]);
  expect(dropped).toEqual({ handle: 'weather', version: 1, dropped: true });
  expect((await readFile(join(directory.path, 'weather.parquet'))).subarray(0, 4).toString()).toBe('PAR1');
});

test('the two commands that open the README are scripts of the package', () => {
  const [first = ''] = /```sh\n[\s\S]*?```/.exec(readme) ?? [];
  expect([...first.matchAll(/^npm (\w+)/gm)].map((match) => match[1])).toEqual(['start', 'test']);
});
