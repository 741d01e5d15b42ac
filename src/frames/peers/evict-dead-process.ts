import { mkdir, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { pendingPrefix } from '../disk/tenant-directory.ts';

const evictedPrefix = 'evicted-';

/** The private folder of a tenant, and the name of the process that clears up in it. */
export interface PrivateFolder {
  readonly folder: string;
  readonly ownId: string;
}

/**
 * Stops a process that is dead, or taken for dead, from changing frames. Every step of a write moves a file out of the process's own
 * folder or into it, so that folder is moved away first, and no step succeeds however late the process wakes. Then its locks are
 * released. If we die half-way, the process that evicts us continues. True if this call evicted it.
 */
export async function evictProcess(privateFolder: PrivateFolder, id: string): Promise<boolean> {
  await rm(join(privateFolder.folder, 'pins', id), { recursive: true, force: true });
  const folder = join(privateFolder.folder, 'tmp', id);
  if (!(await isThere(folder))) return false;
  const own = join(privateFolder.folder, 'tmp', privateFolder.ownId);
  const moved = join(own, `${evictedPrefix}${id}`);
  await mkdir(own).catch(ignoring('EEXIST'));
  if (!(await rename(folder, moved).then(() => true, ignoring('ENOENT')))) return false;
  await settle(privateFolder, moved);
  await releaseLocks(privateFolder, id);
  await rm(moved, { recursive: true, force: true });
  return true;
}

/** The same for an unknown process; after a power cut there may be its locks and nothing else. */
export async function evictUnknown(privateFolder: PrivateFolder, id: string): Promise<void> {
  if (await evictProcess(privateFolder, id)) return;
  for (const name of [id, ...(await readdir(join(privateFolder.folder, 'tmp')).catch(() => []))]) {
    const evicted = join(privateFolder.folder, 'tmp', name, name === id ? '' : `${evictedPrefix}${id}`);
    // Somebody is at it, or will be.
    if (await isThere(evicted)) return;
  }
  await releaseLocks(privateFolder, id);
}

/** Evicts processes of which only remains are known. */
export async function evictAllUnknown(
  privateFolder: PrivateFolder,
  strangersAmong: (names: readonly string[]) => Promise<readonly string[]>,
): Promise<void> {
  for (const kind of ['tmp', 'pins']) {
    const entries = await readdir(join(privateFolder.folder, kind), { withFileTypes: true }).catch(() => []);
    const others = entries.filter(({ name }) => name !== privateFolder.ownId);
    if (others.length === 0) continue;
    const strangers = new Set(await strangersAmong(others.map(({ name }) => name)));
    for (const entry of others) {
      if (!strangers.has(entry.name)) continue;
      if (entry.isDirectory()) await evictUnknown(privateFolder, entry.name);
      else await rm(join(privateFolder.folder, kind, entry.name), { force: true });
    }
  }
}

async function settle(privateFolder: PrivateFolder, moved: string): Promise<void> {
  for (const { name } of await readdir(moved, { withFileTypes: true })) {
    if (name.startsWith(evictedPrefix)) {
      await settle(privateFolder, join(moved, name));
      await releaseLocks(privateFolder, name.slice(evictedPrefix.length));
    } else if (name.startsWith(pendingPrefix)) {
      // Its data may be in place already: the next look at the frame decides.
      await rename(join(moved, name), join(privateFolder.folder, 'pending', name.slice(pendingPrefix.length)));
    } else {
      await rm(join(moved, name), { recursive: true, force: true });
    }
  }
}

/** The removed folder has the name of its owner: if another process has the lock by now, nothing is removed. */
async function releaseLocks(privateFolder: PrivateFolder, id: string): Promise<void> {
  const locks = join(privateFolder.folder, 'locks');
  for (const name of await readdir(locks).catch(() => [])) {
    await unlink(join(locks, name, id))
      .then(() => rmdir(join(locks, name)))
      .catch(ignoring('ENOENT', 'ENOTEMPTY', 'EEXIST'));
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(() => true, ignoring('ENOENT'));
}

function ignoring(...codes: readonly string[]): (error: unknown) => false {
  return (error) => {
    if (codes.includes(errnoOf(error) ?? '')) return false;
    throw error;
  };
}
