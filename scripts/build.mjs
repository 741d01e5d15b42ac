import { renameSync, rmSync, writeFileSync } from 'node:fs';
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
await esbuild.build({
  absWorkingDir: root,
  entryPoints: { main: 'src/main.ts', worker: 'src/engines/duckdb/worker/entry.ts' },
  outdir: fresh,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "'use strict';\nconst bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  sourcemap: true,
  logLevel: 'warning',
});
// The package around it is of ES modules.
writeFileSync(`${fresh}/package.json`, '{ "type": "commonjs" }\n');
await buildConsole(root, `${fresh}/console`);
rmSync(dist, { recursive: true, force: true });
renameSync(fresh, dist);
