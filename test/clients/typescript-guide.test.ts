import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { guideBlocks } from './support/guide.ts';
import { type SecureServer, startSecureServer } from './support/secure-server.ts';
import { type InstalledPackage, installedClient } from './support/typescript-package.ts';

const run = promisify(execFile);
const separator = '\u001e';
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const blocks = guideBlocks('typescript.md').filter(({ language }) => language === 'ts');

let installed: InstalledPackage;
let server: Framehold;
let secure: SecureServer;
beforeAll(async () => {
  [installed, server, secure] = await Promise.all([
    installedClient(['apache-arrow', '@types/node']),
    startFramehold({ settings: { 'frames.demo': 'true' } }),
    startSecureServer(),
  ]);
});
afterAll(async () => {
  for (const each of [installed, server, secure]) await each[Symbol.asyncDispose]();
});

/** The blocks as one program, whose outputs are apart. */
async function programOf(name: string, isSecure: boolean): Promise<string> {
  const codes = blocks.filter((block) => block.isSecure === isSecure).map(({ code }) => code);
  const port = new URL((isSecure ? secure : server).url).port;
  const text = codes
    .join(`\nconsole.log(${JSON.stringify(separator)});\n`)
    .replaceAll('localhost:9000', `localhost:${port}`);
  await writeFile(join(installed.folder, `${name}.ts`), text);
  const { code } = await esbuild.transform(text, { loader: 'ts', target: 'es2022' });
  const path = join(installed.folder, `${name}.js`);
  await writeFile(path, code);
  return path;
}

test.each([
  ['open', false],
  ['secure', true],
])('typescript.md prints what stands below it: before an %s server', async (name, isSecure) => {
  const path = await programOf(name, isSecure);
  const { stdout } = await run(process.execPath, [path], { cwd: secure.folder, timeout: 60_000 });
  const outputs = stdout.split(`${separator}\n`);
  const expected = blocks.filter((block) => block.isSecure === isSecure).map(({ prints }, at) => prints ?? outputs[at]);
  expect(outputs).toEqual(expected);
});

test('typescript.md has the types that the package has', async () => {
  await programOf('open', false);
  await programOf('secure', true);
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck'];
  const { stdout } = await run(
    process.execPath,
    [tsc, ...options, '--types', 'node', '--ignoreConfig', 'open.ts', 'secure.ts'],
    {
      cwd: installed.folder,
    },
  ).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
