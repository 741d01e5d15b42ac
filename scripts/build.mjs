import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { buildConsole } from './build-console.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = `${root}dist`;
/** Put in the place of the last one when it is whole: a server may run from that, and start processes. */
const fresh = `${root}dist.new`;

rmSync(fresh, { recursive: true, force: true });
// One file for each kind of process: to find, read and link hundreds of them takes Node as long as all the rest of a start.
// As CommonJS, so that a part of it which the source imports dynamically is not even begun before it is asked for.
const shared = {
  absWorkingDir: root,
  outdir: fresh,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'cjs',
  logLevel: 'warning',
};
await esbuild.build({
  ...shared,
  entryPoints: { program: 'src/main.ts', worker: 'src/engines/duckdb/worker/entry.ts' },
  target: 'node20.19',
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "'use strict';\nconst bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  sourcemap: true,
  plugins: [
    {
      name: 'packages of which the code is in the program',
      setup: (build) =>
        build.onResolve({ filter: /^(koffi$|@framehold\/)/ }, ({ path }) => ({
          path: createRequire(import.meta.url).resolve(path),
          sideEffects: !path.startsWith('@framehold/'),
        })),
    },
  ],
});
// Checks the version of Node before it loads the program.
await esbuild.build({
  ...shared,
  entryPoints: { main: 'src/entry.ts' },
  target: 'es2015',
  // As `require`: to import a CommonJS file, Node would read it once more to find the names of its exports.
  supported: { 'dynamic-import': false },
  plugins: [
    {
      name: 'the program is a file of its own',
      setup: (build) => build.onResolve({ filter: /\/main\.ts$/ }, () => ({ path: './program.js', external: true })),
    },
  ],
});
// The package around it is of ES modules.
writeFileSync(`${fresh}/package.json`, '{ "type": "commonjs" }\n');
await buildConsole(root, `${fresh}/console`);
rmSync(dist, { recursive: true, force: true });
renameSync(fresh, dist);
