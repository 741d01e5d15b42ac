import { access, constants, mkdir, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const makeMs = 600_000;

/**
 * A folder of the user's cache that is made once, by one process at a time: `make` fills it, and what a failed attempt
 * left is removed before the next one.
 */
export async function cachedFolder(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const cache = await cacheFolder();
  const folder = join(cache, name);
  const complete = join(folder, '.complete');
  const lock = `${folder}.lock`;
  for (const start = Date.now(); Date.now() - start < 2 * makeMs; await delay(100)) {
    if (await exists(complete)) return folder;
    if (!(await tryLock(lock))) continue;
    try {
      if (await exists(complete)) return folder;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder);
      await make(folder);
      await mkdir(complete);
      return folder;
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  }
  throw new Error(`another process has been making ${folder} for too long; if none is, remove ${lock}`);
}

/** The user's cache outlives a checkout; where it cannot be written, the checkout has one of its own. */
async function cacheFolder(): Promise<string> {
  const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'framehold');
  try {
    await mkdir(shared, { recursive: true });
    await access(shared, constants.W_OK);
    return shared;
  } catch {
    const own = fileURLToPath(new URL('../.cache/framehold', import.meta.url));
    await mkdir(own, { recursive: true });
    return own;
  }
}

/** A folder is the lock, since making one fails if it is there. One that is older than any attempt was left behind. */
async function tryLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > makeMs) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
