import { access, constants, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const fillMs = 600_000;
const failureMs = 60_000;

/**
 * A folder of this name in the user's cache, filled once, by one process at a time. It is filled in place, since environments of
 * Python contain their path; leftovers of a failed attempt are removed before the next one.
 */
export async function cached(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(await cacheFolder(), name);
  const complete = join(folder, '.complete');
  const lock = `${folder}.lock`;
  for (const start = Date.now(); Date.now() - start < 2 * fillMs; await delay(100)) {
    if (await exists(complete)) return folder;
    if (!(await tryLock(lock))) continue;
    try {
      if (!(await exists(complete))) await fillOnce(folder, fill);
      await mkdir(complete, { recursive: true });
      return folder;
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  }
  throw new Error(`another process has been filling ${folder} for too long; if none is, remove ${lock}`);
}

/** A failure is remembered for a minute, so that not every suite waits for the same absent network. */
async function fillOnce(folder: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const note = `${folder}.failed`;
  if ((await ageMs(note)) < failureMs) throw new Error(await readFile(note, 'utf8'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  try {
    await fill(folder);
    await rm(note, { force: true });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    await writeFile(note, error instanceof Error ? error.message : String(error));
    throw error;
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
    const own = fileURLToPath(new URL('../../.cache/framehold', import.meta.url));
    await mkdir(own, { recursive: true });
    return own;
  }
}

/** A folder is the lock, since making one fails if it is there. One older than any attempt was left behind. */
async function tryLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const age = await ageMs(lock);
    if (age !== Infinity && age > fillMs) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

/** Infinity when there is nothing. */
async function ageMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Infinity,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
