import { access, constants, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const fetchMs = 300_000;
const failureMs = 60_000;

/**
 * A folder of this name in the user's cache, filled once. `fill` gets an empty folder that is moved to its place only
 * when it is complete.
 */
export async function cached(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const cache = await cacheFolder();
  const folder = join(cache, name);
  const lock = `${folder}.lock`;
  for (const start = Date.now(); Date.now() - start < 2 * fetchMs; await delay(100)) {
    if (await exists(folder)) return folder;
    if (!(await tryLock(lock))) continue;
    try {
      if (!(await exists(folder))) await fillOnce(folder, cache, fill);
      return folder;
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  }
  throw new Error(`another process has been filling ${folder} for too long; if none is, remove ${lock}`);
}

/** A failure is remembered for a minute, so that not every suite waits for the same absent network. */
async function fillOnce(folder: string, cache: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const note = `${folder}.failed`;
  const age = await stat(note).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  if (age < failureMs) throw new Error(await readFile(note, 'utf8'));
  const partial = await mkdtemp(join(cache, 'partial-'));
  try {
    await fill(partial);
    await rename(partial, folder);
    await rm(note, { force: true });
  } catch (error) {
    await writeFile(note, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** The user's cache outlives a checkout; where it cannot be written, the checkout has one of its own. */
async function cacheFolder(): Promise<string> {
  const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'framehold');
  try {
    await mkdir(shared, { recursive: true });
    await access(shared, constants.W_OK);
    return shared;
  } catch {
    const own = fileURLToPath(new URL('../../../.cache/framehold', import.meta.url));
    await mkdir(own, { recursive: true });
    return own;
  }
}

/** A folder is the lock, since making one fails if it is there. One older than any fetch was left behind. */
async function tryLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > fetchMs) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
