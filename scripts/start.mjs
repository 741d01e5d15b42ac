import { build, install, root } from './prepare.mjs';

if (!install() || !build()) process.exit(1);
// A SIGTERM to npm ends only the shell between npm and us; without this the server would stay behind.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 250).unref();
// The server runs in this very process, so that signals reach it and its exit code is ours.
process.chdir(root);
process.argv = [
  process.execPath,
  `${root}dist/main.js`,
  ...['server', '--demo', '--data-dir', '.demo'],
  ...process.argv.slice(2),
];
await import('../dist/main.js');
