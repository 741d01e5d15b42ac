import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fileDurations } from '../support/longest-first.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Who may import whom, beside itself. Every part of `src` stands here, and nowhere else. Tests may import anything. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  cache: ['core'],
  audit: ['core', 'frames'],
  auth: ['core', 'frames'],
  encoding: ['core'],
  frames: ['core', 'cache', 'encoding'],
  query: ['core', 'frames'],
  plot: ['core', 'frames', 'query'],
  follow: ['core', 'frames', 'query'],
  demo: ['core', 'frames'],
  telemetry: ['core'],
  tls: ['core', 'config'],
  grpc: ['core', 'telemetry', 'tls'],
  config: ['core', 'telemetry'],
  'engines/duckdb': ['core', 'encoding'],
  'engines/spark': ['core', 'encoding'],
  'engines/tsdb': ['core', 'encoding'],
  http: ['core', 'auth', 'cache', 'encoding', 'follow', 'frames', 'plot', 'query', 'telemetry', 'tls'],
  flight: ['core', 'auth', 'encoding', 'follow', 'frames', 'query'],
  doctor: ['core', 'config', 'tls'],
  cli: ['core', 'client', 'client/node', 'config', 'doctor', 'telemetry'],
  'entry.ts': ['core', 'main.ts'],
  'main.ts': ['core', 'cli', 'config', 'telemetry', 'server'],
  server: [
    ...['core', 'audit', 'auth', 'cache', 'encoding', 'frames', 'query', 'telemetry', 'config', 'http', 'flight'],
    ...['demo', 'doctor', 'follow', 'plot', 'engines/duckdb', 'engines/spark', 'engines/tsdb', 'grpc', 'tls'],
  ],
};

const viewMayImport = ['api', 'client', 'navigation', 'widgets', 'grid', 'plot'];

/** The same for the console. No view imports another. */
const consoleMayImport: Readonly<Record<string, readonly string[]>> = {
  api: ['client'],
  navigation: [],
  widgets: ['api', 'client'],
  grid: ['api', 'client', 'widgets'],
  plot: ['api', 'client', 'widgets'],
  frames: viewMayImport,
  sql: viewMayImport,
  upload: viewMayImport,
  server: viewMayImport,
  login: viewMayImport,
  app: [...viewMayImport, 'frames', 'sql', 'upload', 'server', 'login'],
  'main.tsx': ['api', 'app', 'login'],
};

/** The same for the client package. What browsers run imports nothing of the server, nor of Node. */
const clientMayImport: Readonly<Record<string, readonly string[]>> = {
  client: [],
  'client/node': ['client', 'config', 'encoding'],
};

/** Files of the server that the console is bundled with: pure functions. */
const sharedWithConsole: readonly string[] = ['src/core/text/split-statements.ts', 'src/core/rows/file-format.ts'];

/** The floors of parts that have some, lowest first: a folder imports from those before it. Files beside the folders may import all. */
const floors: Readonly<Record<string, readonly string[]>> = {
  'src/core': ['errors', 'system', 'text', 'async', 'logs', 'callers', 'names', 'rows', 'sql'],
  'src/encoding': ['json', 'values', 'text', 'csv', 'rows', 'line-protocol'],
  'packages/arrow-ipc/src': ['types', 'read', 'write'],
  'packages/grpc/src': ['protobuf', 'wire', 'messages', 'client', 'server'],
  'packages/duckdb/src': ['c', 'types', 'read', 'append'],
  'src/frames': ['disk', 'log', 'peers', 'catalog', 'read', 'reconcile', 'write', 'upkeep', 'backup'],
  'src/http': ['exchange', 'json', 'body', 'table', 'listener', 'openapi', 'routes'],
};

/** The files of the store that other parts may import. Only the composition root takes more, of which it makes the store. */
const openFrames: readonly string[] = [
  // The store, its errors, and what it says of a frame.
  ...['frames.ts', 'catalog/frame-errors.ts', 'catalog/frame-summary.ts', 'catalog/frame-changes.ts'],
  // One version, open for reading, and what it is made of.
  ...['read/frame-reader.ts', 'read/read-frame.ts', 'read/row-slices.ts', 'read/select-columns.ts', 'disk/manifest.ts'],
  // Requests to write, and which appends are small.
  ...['write/put-frame.ts', 'write/small-source.ts', 'catalog/column-difference.ts'],
  // Durable files, for the records of tokens and tenants that stand beside the frames.
  ...['disk/durable-file.ts', 'disk/record-folder.ts', 'disk/checksummed-json.ts', 'disk/tenant-directory.ts'],
];

/** Test files that may take more than a minute, and why. Others are to be split. */
const longFiles: Readonly<Record<string, string>> = {
  'test/cluster/hostile-sql.test.ts': 'a Spark and a Sail start and get hundreds of hostile statements',
  'test/cluster/sail.test.ts': 'the whole corpus of SQL on Sail',
  'test/cluster/spark.test.ts': 'the whole corpus of SQL on a Spark cluster, which starts twice',
  'test/cluster/spark-parser.test.ts': "Spark's own parser sees thousands of statements",
  'test/clients/python-package.test.ts': 'environments of Python are made and checked',
  'test/contract/backup.test.ts': 'many backups and restores of whole directories',
  'test/contract/cli.test.ts': 'every command is a process',
  'test/faults/disk.test.ts': 'full disks and lost files, one scenario after the other',
  'test/faults/durability.test.ts': 'servers are killed and started again and again',
  'test/faults/load.test.ts': 'attacks and many followers for some seconds each',
  'test/sql/local.test.ts': 'the corpus of SQL',
};
const mostSeconds = 60;

it('no test file takes more than a minute, but those with a reason', () => {
  const long = Object.entries(fileDurations).filter(([, seconds]) => seconds > mostSeconds);
  expect(Object.keys(longFiles)).toEqual(expect.arrayContaining(long.map(([path]) => path)));
});

describe('every import', () => {
  it.each(Object.entries(floors))('below %s goes down', async (part, order) => {
    const floorOf = (path: string): number => order.findIndex((floor) => isIn(path, `${part}/${floor}`));
    const wrong: string[] = [];
    for (const path of await sourceFiles(part)) {
      if (path.endsWith('.test.ts') || floorOf(path) < 0) continue;
      for (const target of importsOf(path, await readFile(join(root, path), 'utf8'))) {
        const isUp = floorOf(target) > floorOf(path) || (isIn(target, part) && floorOf(target) < 0);
        if (isUp) wrong.push(`${path} imports ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    { folder: 'src', table: mayImport, pure: [] as readonly string[], least: 1000 },
    { folder: 'console', table: consoleMayImport, pure: sharedWithConsole, least: 300 },
    { folder: 'clients/typescript/src', table: clientMayImport, pure: [], least: 50 },
  ])('of $folder is one that the table allows', async ({ folder, table, pure, least }) => {
    const partOf = (path: string): string =>
      partBelow(path, folder, table) ?? clientPart(path) ?? partBelow(path, 'src', mayImport) ?? path;
    const wrong: string[] = [];
    let seen = 0;
    for (const path of await sourceFiles(folder)) {
      if (path.endsWith('.test.ts')) continue;
      for (const target of importsOf(path, await readFile(join(root, path), 'utf8'))) {
        seen += 1;
        const [from, to] = [partOf(path), partOf(target)];
        if (from !== to && !table[from]?.includes(to) && !pure.includes(target))
          wrong.push(`${path} imports ${target}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(least);
  });

  it('of a package leaves the server alone, and names other packages as strangers do', async () => {
    const wrong: string[] = [];
    for (const path of await sourceFiles('packages')) {
      const own = path.split('/').slice(0, 2).join('/');
      const imports = path.endsWith('.test.ts') ? [] : importsOf(path, await readFile(join(root, path), 'utf8'));
      for (const target of imports) if (!isIn(target, own)) wrong.push(`${path} imports ${target}`);
    }
    for (const path of [...(await sourceFiles('src')), ...(await sourceFiles('clients/typescript/src'))]) {
      for (const target of importsOf(path, await readFile(join(root, path), 'utf8')))
        if (isIn(target, 'packages')) wrong.push(`${path} imports ${target}`);
    }
    expect(wrong).toEqual([]);
  });

  it('of Node HTTP objects stands only where a request becomes an Exchange, and of the store only where it is made', async () => {
    const wrong: string[] = [];
    for (const path of await sourceFiles('src')) {
      const text = await readFile(join(root, path), 'utf8');
      if (/^src\/http\/(?!listener|exchange)/.test(path) && text.includes("from 'node:http'")) wrong.push(path);
      if (/^src\/(http|flight|query)\//.test(path) && text.includes('frames/store.ts')) wrong.push(path);
    }
    expect(wrong).toEqual([]);
  });

  it('of the store by another part is one of its open files', async () => {
    const taken = new Set<string>();
    for (const path of await sourceFiles('src')) {
      if (path.endsWith('.test.ts') || isIn(path, 'src/frames') || isIn(path, 'src/server')) continue;
      for (const target of importsOf(path, await readFile(join(root, path), 'utf8')))
        if (isIn(target, 'src/frames')) taken.add(target.slice('src/frames/'.length));
    }
    expect([...taken].sort()).toEqual([...openFrames].sort());
  });

  it('of a test or bench leaves alone what is a process', async () => {
    const wrong: string[] = [];
    for (const path of [...(await sourceFiles('test')), ...(await sourceFiles('bench'))]) {
      const imports = importsOf(path, await readFile(join(root, path), 'utf8'));
      if (imports.some((each) => ['src/entry.ts', 'src/main.ts'].includes(each))) wrong.push(path);
    }
    expect(wrong).toEqual([]);
  });
});

it('a folder of more than 30,000 lines has a README that shows its rooms', async () => {
  const lines = new Map<string, number>();
  for (const path of await sourceFiles('src')) {
    const count = (await readFile(join(root, path), 'utf8')).split('\n').length;
    for (let folder = dirname(path); folder !== 'src'; folder = dirname(folder))
      lines.set(folder, (lines.get(folder) ?? 0) + count);
  }
  const large = [...lines].filter(([, count]) => count > 30_000).map(([folder]) => join(folder, 'README.md'));
  for (const readme of large) expect(await readFile(join(root, readme), 'utf8')).toContain('```\n');
});

describe('the linter', () => {
  it.each(['import', 'import type'])('refuses cycles of `%s`', async (keyword) => {
    const file = (other: string): string => `${keyword} { A } from './${other}.ts';\nexport interface B extends A {}\n`;
    const files = { 'src/frames/a.ts': file('b'), 'src/frames/b.ts': file('a') };
    const reports = await lint(files, 'suspicious/noImportCycles');
    expect(reports.map(({ path }) => path).sort()).toEqual(Object.keys(files));
  });

  it.each([
    ['any', 'suspicious/noExplicitAny', 'export const a: any = 1;\n'],
    ['a barrel', 'performance/noBarrelFile', `export { a } from './b.ts';\n`],
    ['what nobody uses', 'correctness/noUnusedImports', `import { a } from './b.ts';\n`],
    ['a default export', 'style/noDefaultExport', 'export default 1;\n'],
    ['an import without ending', 'correctness/useImportExtensions', `import './b';\n`],
  ])('refuses %s', async (_, rule, code) => {
    const reports = await lint({ 'src/frames/a.ts': code, 'src/frames/b.ts': 'export const a = 1;\n' }, rule);
    expect(reports.map(({ path }) => path)).toEqual(['src/frames/a.ts']);
  });
});

it('every part of src has its place in the table above', async () => {
  const known = new Set(Object.keys(mayImport));
  for (const entry of await readdir(join(root, 'src'), { withFileTypes: true })) {
    if (entry.name === 'engines') continue;
    expect(known).toContain(entry.name);
  }
  for (const entry of await readdir(join(root, 'src/engines'), { withFileTypes: true }))
    if (entry.isDirectory()) expect(known).toContain(`engines/${entry.name}`);
});

async function sourceFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names.filter((name) => /\.tsx?$/.test(name)).map((name) => join(folder, name));
}

/** Files of ours that a file imports, types included. */
function importsOf(path: string, text: string): string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'((?:\.|#client\/)[^']+)'/g)];
  return specifiers
    .map(([, specifier = '']) =>
      specifier.startsWith('#client/')
        ? specifier.replace('#client', 'clients/typescript/src')
        : join(dirname(path), specifier),
    )
    .filter((target) => /\.tsx?$/.test(target));
}

function partBelow(path: string, folder: string, table: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(table).find((part) => isIn(path, `${folder}/${part}`));
}

function clientPart(path: string): string | undefined {
  if (!isIn(path, 'clients/typescript/src')) return undefined;
  return /^clients\/typescript\/src\/node(\/|\.ts$)/.test(path) ? 'client/node' : 'client';
}

function isIn(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}/`);
}

interface Report {
  readonly path: string;
  readonly line: number;
}

/** What one of our rules says of these files, as if they were the repository. */
async function lint(files: Readonly<Record<string, string>>, rule: string): Promise<Report[]> {
  const folder = await mkdtemp(join(tmpdir(), 'framehold-lint-'));
  try {
    const config = JSON.parse(await readFile(join(root, 'biome.json'), 'utf8'));
    await writeFile(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const args = ['lint', '--reporter=github', '--max-diagnostics=none', `--only=${rule}`];
    const { stdout } = await promisify(execFile)(process.execPath, [biome, ...args], { cwd: folder }).catch(
      (failed) => {
        if (typeof failed.stdout !== 'string' || !failed.stdout.includes('::error')) throw failed;
        return failed;
      },
    );
    return [...String(stdout).matchAll(/^::error .*?file=([^,]+),line=(\d+)/gm)].map(([, path = '', line]) => ({
      path: path.slice(path.indexOf('src/')),
      line: Number(line),
    }));
  } finally {
    await rm(folder, { recursive: true });
  }
}
