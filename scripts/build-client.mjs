// Builds the package @framehold/client from its sources and those of the server that it shares: to clients/typescript/dist, or
// to a folder that is given.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const here = join(root, 'clients', 'typescript');
const dist = resolve(process.argv[2] ?? join(here, 'dist'));

rmSync(dist, { recursive: true, force: true });
const shared = {
  absWorkingDir: here,
  outdir: dist,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  external: ['apache-arrow'],
  sourcemap: false,
  // The licence notices of bundled code stay in it.
  legalComments: 'inline',
  logLevel: 'warning',
};
const entryPoints = { index: 'src/index.ts', node: 'src/node.ts', arrow: 'src/arrow.ts' };
await esbuild.build({ ...shared, entryPoints, platform: 'node', target: ['es2022', 'node20'] });
// The files of the browser must not name a module of Node: esbuild says so.
await esbuild.build({
  ...shared,
  entryPoints: { index: 'src/index.ts', arrow: 'src/arrow.ts' },
  platform: 'browser',
  write: false,
});
writeTypes();

/** Declarations of all names of the entries, and of names in these in turn. */
function writeTypes() {
  const folder = mkdtempSync(join(tmpdir(), 'framehold-types-'));
  try {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    execFileSync(process.execPath, [tsc, '--project', here, '--outDir', folder], { stdio: 'inherit' });
    const from = join(folder, 'clients', 'typescript', 'src');
    const names = new Set(Object.keys(entryPoints));
    for (const name of names) {
      if (name.startsWith('..')) throw new Error(`the types tell of ${name}, which is not in the package`);
      const text = readFileSync(join(from, `${name}.d.ts`), 'utf8').replaceAll(/from '(\.[^']*)\.ts'/g, (_, path) => {
        names.add(join(dirname(name), path));
        // Modules beside a declaration are JavaScript.
        return `from '${path}.js'`;
      });
      const to = join(dist, 'types', `${name}.d.ts`);
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, text);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
