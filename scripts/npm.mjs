import { spawnSync } from 'node:child_process';

/** Runs a command quietly; shows its output if it fails. Returns whether it succeeded. */
export function runQuietly(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
  if (result.status === 0) return true;
  process.stderr.write(
    `${result.stdout ?? ''}${result.stderr ?? ''}${result.error ? `${result.error.message}\n` : ''}`,
  );
  return false;
}

/** Runs npm: the one that runs this script, else that of the path. */
export function npm(args, options = {}) {
  const cli = process.env.npm_execpath;
  if (cli !== undefined && /\.c?js$/.test(cli)) return runQuietly(process.execPath, [cli, ...args], options);
  return runQuietly('npm', args, { shell: process.platform === 'win32', ...options });
}
