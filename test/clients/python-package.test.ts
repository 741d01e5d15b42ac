import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { startFramehold } from '../support/framehold.ts';
import { needed } from '../support/missing.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import {
  buildWheel,
  checkInstalled,
  installWheel,
  otherTools,
  packageSource,
  packageTools,
} from './support/python-package.ts';
import { startSecureServer } from './support/secure-server.ts';

const run = promisify(execFile);
/** The oldest that it supports; with those of `npm run torture`, the newest as well. */
const versions = process.env.TORTURE === 'true' ? ['3.10', '3.13'] : ['3.10'];
const tools = await needed('the Python package', packageTools);

describe.skipIf(tools === undefined)('the Python package', () => {
  const cleanup = new Cleanup();
  let folder: string;
  let wheel: string;
  let python: string;
  let bare: string;
  let environment: NodeJS.ProcessEnv;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = cleanup.use(await temporaryDirectory()).path;
    wheel = await buildWheel(tools ?? '', at('built'));
    [python, bare] = await Promise.all([
      installWheel(tools ?? '', { folder: at('all'), wheel, packages: 'all' }),
      installWheel(tools ?? '', { folder: at('bare'), wheel, packages: ['pyarrow'] }),
    ]);
    const server = cleanup.use(await startFramehold());
    const secure = cleanup.use(await startSecureServer());
    environment = {
      PATH: process.env.PATH,
      HOME: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      FRAMEHOLD_TEST_URL: server.url,
      FRAMEHOLD_TEST_SECURE_URL: secure.url,
      FRAMEHOLD_TEST_SECURE_FOLDER: secure.folder,
    };
  });
  afterAll(() => cleanup[Symbol.asyncDispose]());

  const runPython = async (command: string, args: readonly string[], cwd: string): Promise<string> => {
    try {
      return (await run(command, args, { cwd, env: environment, maxBuffer: 64 * 1024 * 1024 })).stdout;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      const failure = new Error(`${stdout}${stderr}`);
      failure.stack = failure.message;
      throw failure;
    }
  };

  test('is a wheel for every platform, with its types', async () => {
    expect(basename(wheel)).toMatch(/^framehold-[\d.]+-py3-none-any\.whl$/);
    const site = at('all/lib');
    const [version = ''] = await readdir(site);
    expect(await readdir(join(site, version, 'site-packages', 'framehold'))).toContain('py.typed');
  });

  test('has the same files as sources, and its licence', async () => {
    const [name = ''] = (await readdir(at('built'))).filter((each) => each.endsWith('.tar.gz'));
    const { stdout } = await run('tar', ['-tzf', join(at('built'), name)]);
    const files = stdout.split('\n').map((path) => path.slice(path.indexOf('/') + 1));
    expect(files).toEqual(expect.arrayContaining(['pyproject.toml', 'LICENSE', 'src/framehold/py.typed']));
    const inSource = readdirSync(join(packageSource, 'src', 'framehold'), { recursive: true, encoding: 'utf8' });
    const modules = inSource.filter((each) => each.endsWith('.py'));
    expect(files).toEqual(expect.arrayContaining(modules.map((each) => `src/framehold/${each}`)));
  });

  test('has the version of the server', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(basename(wheel)).toBe(`framehold-${version}-py3-none-any.whl`);
  });

  test('needs nothing but pyarrow', async () => {
    await checkInstalled(bare);
    const code = `
import os, framehold
with framehold.connect(os.environ["FRAMEHOLD_TEST_URL"]) as server:
    server.put("bare", {"n": [1, 2], "t": ["x", None]})
    with server.append("bare") as bare: bare.write({"n": 3})
    print(server.get("bare").to_pylist(), next(server.follow("bare", 2)).num_rows, server.sql("SELECT 1 AS n")["n"])
    print("<svg" in server.get("bare")._repr_html_(), server.frame("bare").limit(1).collect().to_pylist())
`;
    expect(await runPython(bare, ['-c', code], folder)).toBe(
      "[{'n': 1, 't': 'x'}, {'n': 2, 't': None}, {'n': 3, 't': None}] 1 [1]\nTrue [{'n': 1, 't': 'x'}]\n",
    );
  });

  test('has no errors of mypy --strict', { timeout: 240_000 }, async () => {
    // What mypy has read of pyarrow, pandas and polars stays beside them: it takes most of the time.
    await runPython(python, ['-m', 'mypy', '--strict', '--cache-dir', join(tools ?? '', 'mypy-cache')], packageSource);
  });

  // All in one process: to load pandas and polars takes longer than most files.
  test('passes its own tests', { timeout: 240_000 }, async () => {
    await runPython(python, ['-m', 'pytest', '--durations=10', 'tests'], packageSource);
  });

  test.each(versions)('passes them in Python %s, where that is installed', { timeout: 600_000 }, async (version) => {
    const tools = await needed(`Python ${version}`, () => otherTools(version));
    if (tools === undefined) return;
    const other = await installWheel(tools, { folder: at(version), wheel, packages: 'all' });
    await checkInstalled(other);
    // Those that depend on the version of Python or of its libraries.
    const files = ['connect', 'put_and_get', 'follow', 'scan'].map((name) => `tests/test_${name}.py`);
    await runPython(other, ['-m', 'pytest', ...files], packageSource);
  });
});
