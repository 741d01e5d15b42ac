import { spawnSync } from 'node:child_process';
import { build, install, root } from './prepare.mjs';

if (!install() || !build()) process.exit(1);
const selected = process.argv.slice(2);
const run = (...args) => {
  const env = { ...process.env, TORTURE: 'true' };
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status === 0;
};
const tsx = `${root}node_modules/tsx/dist/cli.mjs`;
const vitest = `${root}node_modules/vitest/vitest.mjs`;
const scenarios = run(tsx, `${root}test/faults/torture.ts`, ...selected);
/** Tests whose long form is not in the suite. */
const long = [
  'test/clients/python-package.test.ts',
  'test/cluster/hostile-sql.test.ts',
  'test/cluster/spark-parser.test.ts',
  'test/contract/federation.property.test.ts',
];
const tests = selected.length > 0 || run(vitest, 'run', ...long);
process.exit(scenarios && tests ? 0 : 1);
