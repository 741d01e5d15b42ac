import { spawnSync } from 'node:child_process';
import { build, install, root } from './prepare.mjs';

if (!install() || !build()) process.exit(1);
const tsx = `${root}node_modules/tsx/dist/cli.mjs`;
const run = spawnSync(process.execPath, [tsx, `${root}test/faults/torture.ts`, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
