import { readFileSync } from 'node:fs';
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

test('the two commands that open the README are scripts of the package', () => {
  const [first = ''] = /```sh\n[\s\S]*?```/.exec(readme) ?? [];
  expect([...first.matchAll(/^npm (\w+)/gm)].map((match) => match[1])).toEqual(['start', 'test']);
});
