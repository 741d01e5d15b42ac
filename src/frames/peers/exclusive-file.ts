import { readFile, rename, rm, utimes } from 'node:fs/promises';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { randomBase32 } from '../../core/names/handle.ts';
import { parseChecksummed, withChecksum } from '../disk/checksummed-json.ts';
import type { DurableFiles } from '../disk/durable-file.ts';
import { findLiving, type Heartbeat, readHeartbeat } from './living-processes.ts';
import { identifyProcess, type ProcessIdentity } from './process-lease.ts';

interface Owner {
  readonly id: string;
  readonly process: ProcessIdentity;
}

const beatMs = 500;
const mostAttempts = 10;

/** Held by this process until it is disposed of. */
export type Held = { readonly kind: 'held' } & AsyncDisposable;
/** By another live process. */
export type HeldElsewhere = { readonly kind: 'elsewhere'; readonly process: ProcessIdentity | undefined };

/** Takes a file that one process at a time can have. The file of a dead process is taken over. */
export async function takeExclusiveFile(path: string, durable: DurableFiles): Promise<Held | HeldElsewhere> {
  const own: Owner = { id: randomBase32(16), process: await identifyProcess() };
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    heldHere.add(own.id);
    try {
      // Not by a link: not every file system that keeps backups has them.
      await durable.writeFile(path, withChecksum(own));
      return hold(path, own.id);
    } catch (error) {
      heldHere.delete(own.id);
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    const found = await readOwner(path);
    if (found === undefined) continue;
    const living = heldHere.has(found.id) ? found : await findLiving([found]);
    if (living !== undefined) return { kind: 'elsewhere', process: living.process };
    await takeAway(path, found, durable);
  }
  return { kind: 'elsewhere', process: undefined };
}

/** The process that has it, if it is alive. */
export async function findHolder(path: string): Promise<ProcessIdentity | undefined> {
  const found = await readOwner(path);
  if (found === undefined) return undefined;
  return (heldHere.has(found.id) ? found : await findLiving([found]))?.process;
}

function hold(path: string, id: string): Held {
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, beatMs).unref();
  return {
    kind: 'held',
    [Symbol.asyncDispose]: async () => {
      clearInterval(beat);
      heldHere.delete(id);
      if ((await readOwner(path))?.id === id) await rm(path, { force: true });
    },
  };
}

/** In this very process, or about to be. */
const heldHere = new Set<string>();

async function readOwner(path: string): Promise<Heartbeat | undefined> {
  try {
    const owner = parseChecksummed(await readFile(path, 'utf8')) as Owner | undefined;
    return await readHeartbeat(path, owner?.id ?? '', () => owner?.process);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Another process may take it over at the same time: then it is put back. */
async function takeAway(path: string, dead: Heartbeat, durable: DurableFiles): Promise<void> {
  const taken = `${path}.${randomBase32(16)}`;
  try {
    await rename(path, taken);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  if ((await readOwner(taken))?.id !== dead.id) await durable.linkNew(taken, path);
  await rm(taken, { force: true });
}
