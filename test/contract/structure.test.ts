import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Who may know whom, beside itself. Every part of `src` stands here. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  auth: ['core'],
  encoding: ['core'],
  frames: ['core'],
  query: ['core', 'frames'],
  demo: ['core', 'frames'],
  telemetry: ['core'],
  protobuf: ['core'],
  client: ['core', 'protobuf'],
  config: ['core', 'telemetry'],
  'engines/duckdb': ['core', 'encoding'],
  'engines/spark': ['core', 'encoding', 'protobuf'],
  'engines/tsdb': ['core'],
  http: ['core', 'auth', 'encoding', 'frames', 'query', 'telemetry'],
  flight: ['core', 'auth', 'encoding', 'frames', 'protobuf', 'query', 'telemetry'],
  cli: ['core', 'client', 'config', 'telemetry'],
  'main.ts': ['core', 'cli', 'config', 'telemetry', 'server.ts'],
  'server.ts': [
    ...['core', 'auth', 'encoding', 'frames', 'query', 'telemetry', 'config', 'http', 'flight'],
    ...['demo', 'engines/duckdb', 'engines/spark', 'engines/tsdb', 'protobuf'],
  ],
};

describe('the linter', () => {
  it('lets each part of the house import those it may know, and no other', async () => {
    const parts = Object.keys(mayImport);
    const files: Record<string, string> = {};
    const forbidden: string[] = [];
    for (const from of parts) {
      for (const to of [...parts, '../test']) {
        if (from === to) continue;
        const path = from.endsWith('.ts')
          ? `src/${from}`
          : `src/${from}/nested/imports-${to.replaceAll(/\W/g, '-')}.ts`;
        const target = to.endsWith('.ts') ? `src/${to}` : join('src', to, 'some.ts');
        const specifier = relative(dirname(path), target);
        const line = `import '${specifier.startsWith('.') ? specifier : `./${specifier}`}';\n`;
        files[path] = (files[path] ?? '') + line;
        if (!mayImport[from]?.includes(to)) forbidden.push(`${path}: ${line}`);
      }
    }
    const reports = await lint(files, 'style/noRestrictedImports');
    const found = reports.map(({ path, line }) => `${path}: ${files[path]?.split('\n')[line - 1]}\n`);
    expect(found.sort()).toEqual(forbidden.sort());
  });

  it('refuses cycles', async () => {
    const files = { 'src/frames/a.ts': `import './b.ts';\n`, 'src/frames/b.ts': `import './a.ts';\n` };
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
  for (const engine of await readdir(join(root, 'src/engines'))) expect(known).toContain(`engines/${engine}`);
});

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
