import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeBlocks, guideSection } from '../support/guide-section.ts';
import { ask } from '../support/http-client.ts';
import { needed } from '../support/missing.ts';
import { nodeBinary } from '../support/node-binary.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const section = guideSection('operating.md', '### From npm');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

let directory: TemporaryDirectory;
/** Where npm has installed the package. */
let installed: string;
let command: string;
let printed: string;
let warned: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const [checkout, prefix] = [join(directory.path, 'checkout'), join(directory.path, 'prefix')];
  await copyCheckout(checkout);
  const tools = await folderOf('tools', { node: process.execPath, npm: await pathOf('npm'), sh: await pathOf('sh') });
  command = join(prefix, 'bin', 'framehold');
  installed = join(prefix, 'lib', 'node_modules', 'framehold');
  const env = {
    ...envOfUser(),
    PATH: `${tools}:${join(prefix, 'bin')}`,
    npm_config_prefix: prefix,
    npm_config_prefer_offline: 'true',
  };
  const [script = ''] = codeBlocks(section, 'sh');
  ({ stdout: printed, stderr: warned } = await run(join(tools, 'sh'), ['-euc', script], { cwd: checkout, env }));
});
afterAll(() => directory[Symbol.asyncDispose]());

test('the commands of the guide pack and install it where there are only node, npm and a shell', () => {
  expect(printed.trimEnd().split('\n').at(-1)).toBe(`framehold ${version}`);
});

test('npm warns of nothing at the installation', () => {
  // Settings of whoever runs the tests are no concern of the package.
  const lines = warned.split('\n').filter((line) => line.startsWith('npm warn') && !/Unknown \w+ config/.test(line));
  expect(lines).toEqual([]);
});

test.concurrent.for([['--version'], ['server', '--demo'], ['doctor'], ['ls'], ['token', 'create', '--data-dir', 'x']])(
  'on Node 18 `framehold %s` says in one line what it needs',
  async (argv, { expect }) => {
    const binary = await needed('the package on Node 18', () => nodeBinary(18));
    if (binary === undefined) return;
    const ended = run(binary, [command, ...argv], { cwd: directory.path });
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^framehold: Node\.js 18\.\d+\.\d+ is not supported; use Node\.js >=[^\n]+\n$/),
    });
  },
);

test('the package has the program, the console, guides and files for operators, and nothing else', async () => {
  const wanted = [
    ...[
      /^dist\/(main|program|worker)\.js$/,
      /^dist\/package\.json$/,
      /^dist\/console\/[\w.-]+\.(html|js|css|svg)(\.br|\.gz)?$/,
    ],
    ...[
      /^docs\/(guides|reference)\/[\w-]+\.md$/,
      /^deploy\/(grafana|prometheus|systemd)\/[\w-]+\.(json|yml|service|conf|toml)$/,
    ],
    ...[/^(README|CHANGELOG)\.md$/, /^(LICENSE|NOTICE|package\.json)$/],
  ];
  const paths = (await filesBelow(installed))
    .map(({ path }) => path)
    .filter((path) => !path.startsWith('node_modules/'));
  for (const pattern of wanted) expect(paths.filter((path) => pattern.test(path))).not.toEqual([]);
  expect(paths.filter((path) => path.includes('.test.') || !wanted.some((pattern) => pattern.test(path)))).toEqual([]);
  expect(await readFile(join(installed, 'NOTICE'), 'utf8')).toContain('\n- preact ');
});

test('it takes less than 80 MB besides DuckDB’s library, and what the guide says', async () => {
  const parts = { own: 0, dependencies: 0, duckdb: 0 };
  for (const { path, bytes } of await filesBelow(installed)) {
    if (path.startsWith('node_modules/@duckdb/')) parts.duckdb += bytes;
    else if (path.startsWith('node_modules/')) parts.dependencies += bytes;
    else parts.own += bytes;
  }
  expect(parts.own + parts.dependencies).toBeLessThan(80e6);
  const told = [...section.matchAll(/^\| [^|]* \| (\d+) \|$/gm)].map(([, megabytes]) => Number(megabytes) * 1e6);
  expect(told).toHaveLength(3);
  for (const [at, bytes] of [parts.own, parts.dependencies, parts.duckdb].entries()) {
    // Binaries of other platforms have other sizes.
    expect(bytes / (told[at] ?? 0)).toBeGreaterThan(0.7);
    expect(bytes / (told[at] ?? 0)).toBeLessThan(1.3);
  }
});

test.concurrent.for([20, 22, 24] as const)(
  'on Node %i it serves the demo, SQL, a put and the console, and stops cleanly',
  async (major, { expect }) => {
    const binary = await needed(`the package on Node ${major}`, () => nodeBinary(major));
    if (binary === undefined) return;
    const env = { PATH: await folderOf(`node${major}`, { node: binary }) };
    expect((await run(command, ['--version'], { env })).stdout).toBe(`framehold ${version}\n`);

    const dataDir = join(directory.path, `data${major}`);
    await using server = await spawnFramehold({ dataDir, command: [command], flags: ['--demo'], env });
    const json = async (path: string, body?: string): Promise<unknown> =>
      (await ask(`${server.url}${path}`, body === undefined ? {} : { method: 'POST', body })).json();
    expect(await json('/stats')).toMatchObject({ version, server: { node: expect.stringMatching(`^${major}\\.`) } });
    expect(await json('/exec?handle=trades&fmt=json&limit=2')).toMatchObject({ count: 2 });
    const counted = await json('/sql', '{"sql":"select count(*) from trades"}');
    expect(counted).toMatchObject({ dataset: [[1_000_000]] });
    expect(await json('/imp?name=weather', 'city,degrees\nOslo,-7.5\nRome,12\n')).toMatchObject({ rowsImported: 2 });
    expect(await json('/exec?handle=weather&fmt=json')).toMatchObject({
      dataset: [
        ['Oslo', -7.5],
        ['Rome', 12],
      ],
    });

    const page = await ask(`${server.url}/`, { headers: { accept: 'text/html' } });
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('text/html') } });
    const [, script] = /<script [^>]*src="([^"]+)"/.exec(page.text) ?? [];
    const loaded = await ask(`${server.url}/${script}`);
    expect(loaded).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('javascript') } });

    server.kill('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.stderr()).not.toContain('"level":"error"');
  },
);

/** What git knows or would take, with the installed dependencies. */
async function copyCheckout(to: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const isThere = (path: string): Promise<boolean> =>
    stat(join(root, path)).then(
      () => true,
      () => false,
    );
  const copyFile = async (path: string): Promise<void> => {
    if (await isThere(path)) await cp(join(root, path), join(to, path));
  };
  await Promise.all([...new Set(stdout.split('\0').filter(Boolean))].map(copyFile));
  await symlink(join(root, 'node_modules'), join(to, 'node_modules'));
}

/** A folder with links to these programs, and nothing else. */
async function folderOf(name: string, programs: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(directory.path, name);
  await mkdir(folder);
  for (const [program, path] of Object.entries(programs)) await symlink(path, join(folder, program));
  return folder;
}

async function pathOf(program: string): Promise<string> {
  return (await run('sh', ['-c', `command -v ${program}`])).stdout.trim();
}

/** Without the variables by which an npm that runs us tells of itself. */
function envOfUser(): NodeJS.ProcessEnv {
  const own = /^npm_(package|lifecycle|command|node|execpath|config_(local|global)_prefix)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

async function filesBelow(folder: string): Promise<readonly { path: string; bytes: number }[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (path) => ({ path: relative(folder, path), bytes: (await stat(path)).size })));
}
