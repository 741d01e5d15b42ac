import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '@framehold/async';
import type { Tenant } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { FrameEngine } from '../../core/rows/frame-engine.ts';
import { DurableFiles } from '../disk/durable-file.ts';
import { type Manifest, newLineage } from '../disk/manifest.ts';
import { ManifestFiles } from '../disk/manifest-files.ts';
import { TenantDirectory } from '../disk/tenant-directory.ts';
import { LogFolder } from '../log/log-folder.ts';
import { findLivingProcess } from '../peers/living-processes.ts';
import { ignoredEvents, PeerGroup } from '../peers/peer-group.ts';
import type { PeerWatch } from '../peers/peer-watch.ts';
import { silenceMs } from '../peers/process-lease.ts';
import { FileAdopter, Unreadable } from '../reconcile/adopt-files.ts';
import { dataOf } from '../reconcile/assess-handle.ts';
import { tenantsOf } from './verify-directory.ts';

export interface Repaired {
  /** Leftovers of earlier processes. */
  readonly leftovers: number;
  /** Frames with an unreadable manifest that was rebuilt from their files. */
  readonly adopted: readonly { readonly tenant: Tenant; readonly handle: Handle }[];
}

export interface RepairOptions {
  readonly engine: FrameEngine;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const pollMs = 200;

/** Refuses while a process uses the directory: nothing may be removed under it. */
export async function refuseBesideProcesses(coldDirectory: string): Promise<void> {
  await tenantsOf(coldDirectory);
  const living = await findLivingProcess(coldDirectory);
  if (living === undefined) return;
  throw besideProcess(`runs on ${coldDirectory} (process ${living.id})`);
}

function besideProcess(what: string): AppError {
  return new AppError('invalid_input', `a server or a backup ${what}`, {
    hint: 'stop it, then repair; "framehold verify" without --repair is safe beside it',
  });
}

/** Removes files that can be made again, and rebuilds records from the files of frames. Removes no frame. */
export async function repairDirectory(coldDirectory: string, options: RepairOptions): Promise<Repaired> {
  const durable = new DurableFiles();
  const group = new PeerGroup(coldDirectory, durable, options.logger, ignoredEvents);
  const adopted: { tenant: Tenant; handle: Handle }[] = [];
  let leftovers = 0;
  try {
    const { lease, peers, cleanUp } = group.parts;
    await lease.join();
    if (!(await isAlone(peers, options.signal))) throw besideProcess(`was started on ${coldDirectory} meanwhile`);
    for (const tenant of await tenantsOf(coldDirectory)) {
      const directory = new TenantDirectory(coldDirectory, tenant, durable, lease);
      const before = await countLeftovers(directory);
      await cleanUp(directory);
      leftovers += before - (await countLeftovers(directory));
      for (const handle of await adoptUnreadable(directory, durable, options)) adopted.push({ tenant, handle });
      await directory.removeOwnFolders();
    }
  } finally {
    await group[Symbol.asyncDispose]();
  }
  return { leftovers, adopted };
}

/** A process of another machine is known to be dead when it was silent for long enough. */
async function isAlone(peers: PeerWatch, signal: AbortSignal): Promise<boolean> {
  const begunAt = performance.now();
  for (;;) {
    await peers.poll();
    await peers.reapEnded();
    if (!peers.hasPeers) return true;
    if (!peers.isUncertain || performance.now() - begunAt > 2 * silenceMs) return false;
    await sleep(pollMs, signal);
  }
}

/** In the folders that belong to processes. */
async function countLeftovers({ privateFolder, ownId }: TenantDirectory): Promise<number> {
  let count = 0;
  for (const kind of ['tmp', 'pins', 'locks']) {
    const entries = await readdir(join(privateFolder, kind), { withFileTypes: true, recursive: true }).catch(() => []);
    count += entries.filter((entry) => entry.isFile() && !join(entry.parentPath, entry.name).includes(ownId)).length;
  }
  return count;
}

async function adoptUnreadable(
  directory: TenantDirectory,
  durable: DurableFiles,
  { engine, signal }: RepairOptions,
): Promise<Handle[]> {
  const records = new ManifestFiles(directory, durable);
  const logs = new LogFolder(directory, durable);
  const adopter = new FileAdopter(engine, directory);
  const adopted: Handle[] = [];
  const { manifests } = await directory.list();
  for (const handle of manifests) {
    signal.throwIfAborted();
    if (directory.isReserved(handle) || !(await records.isManifestDamaged(handle))) continue;
    // Only the manifest could say whether the rows of the log are rows of the frame.
    if ((await logs.list(handle)).length > 0) continue;
    const files = dataOf(await directory.look(handle));
    if (files.length === 0) continue;
    const { pending, tombstone } = await records.read(handle);
    // A commit that was cut off: the next server ends it.
    if (pending !== undefined) continue;
    try {
      const { columns, parts } = await adopter.adopt(files, [], signal);
      const manifest: Manifest = {
        handle,
        version: (tombstone?.version ?? 0) + 1,
        ...newLineage(),
        createdAt: Date.now(),
        ttlMs: null,
        columns,
        parts,
        replaces: [],
      };
      await directory.prepare();
      await records.writeAdopted(manifest);
      await records.syncManifests();
      adopted.push(handle);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
    }
  }
  return adopted;
}
