import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The walls around callers' SQL. */
export type Wall = 'gate' | 'kernel rules' | 'DuckDB’s lock';

const support = (name: string): string => join(root, 'test/support', name);

const removals: Readonly<Record<Wall, (build: esbuild.PluginBuild) => void>> = {
  gate: (build) => standIn(build, /\/gate\/analyze\.ts$/, support('ungated-analyze.ts')),
  'kernel rules': (build) => standIn(build, /\/restrict-files\.ts$/, support('no-kernel-rules.ts')),
  'DuckDB’s lock': (build) =>
    build.onLoad({ filter: /\/sql-catalog\.ts$/ }, async ({ path }) => {
      const lock = "'SET enable_external_access = false',";
      const text = await readFile(path, 'utf8');
      if (!text.includes(lock)) throw new Error(`${path} does not lock DuckDB`);
      return { contents: text.replace(lock, ''), loader: 'ts' };
    }),
};

const ownPackages: esbuild.Plugin = {
  name: 'packages of this repository are in the program',
  setup: (build) =>
    build.onResolve({ filter: /^@framehold\// }, ({ path }) => ({
      path: createRequire(import.meta.url).resolve(path),
    })),
};

/** The built program, but without these walls: so the others are tested alone. It is `main.js` in there. */
export async function buildWithout(walls: readonly Wall[]): Promise<TemporaryDirectory> {
  const directory = await temporaryDirectory();
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { worker: 'src/engines/duckdb/worker/entry.ts' },
    outdir: directory.path,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "'use strict';\nconst bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
    plugins: [ownPackages, ...walls.map((wall) => ({ name: wall, setup: removals[wall] }))],
  });
  await writeFile(join(directory.path, 'package.json'), '{ "type": "commonjs" }\n');
  for (const file of ['main.js', 'program.js']) await copyFile(join(root, 'dist', file), join(directory.path, file));
  await symlink(join(root, 'node_modules'), join(directory.path, 'node_modules'));
  return directory;
}

/** The one in the place of another may still import that. */
function standIn(build: esbuild.PluginBuild, filter: RegExp, path: string): void {
  build.onResolve({ filter }, ({ importer }) => (importer === path ? undefined : { path }));
}
