import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errnoOf } from '../../core/errors/storage-error.ts';
import {
  earlierLeasesFolder,
  hasEnded,
  leasesFolder,
  livingSuffix,
  type ProcessIdentity,
  parseHeader,
  silenceMs,
} from './process-lease.ts';

const pollMs = 100;
const mostHeaderBytes = 400;

/** A file that a process touches for as long as it lives. */
export interface Heartbeat {
  readonly id: string;
  readonly path: string;
  /** Undefined where the file does not say. */
  readonly process: ProcessIdentity | undefined;
  readonly mark: string;
}

/** A process that works on the directory now: a server, or a backup. Takes up to five seconds if only silence can tell. */
export async function findLivingProcess(coldDirectory: string): Promise<Heartbeat | undefined> {
  const folders = [leasesFolder(coldDirectory), earlierLeasesFolder(coldDirectory)];
  return findLiving((await Promise.all(folders.map(heartbeatsIn))).flat());
}

/** One of a version before format 3. It does not see the leases of this one. */
export async function findEarlierProcess(coldDirectory: string): Promise<Heartbeat | undefined> {
  return findLiving(await heartbeatsIn(earlierLeasesFolder(coldDirectory)));
}

async function heartbeatsIn(folder: string): Promise<Heartbeat[]> {
  const names = await readdir(folder).catch((error) => {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  });
  const living = names.filter((name) => name.endsWith(livingSuffix));
  const signs = await Promise.all(
    living.map((name) =>
      readHeartbeat(join(folder, name), name.slice(0, -livingSuffix.length), (text) => parseHeader(text)?.process),
    ),
  );
  return signs.filter((sign) => sign !== undefined);
}

/** The first of them that is touched before the others would take its process for dead. */
export async function findLiving(signs: readonly Heartbeat[]): Promise<Heartbeat | undefined> {
  const ended = await Promise.all(signs.map(({ id, process }) => process !== undefined && hasEnded(id, process)));
  const candidates = signs.filter((_, at) => !ended[at]);
  const begunAt = performance.now();
  while (candidates.length > 0 && performance.now() - begunAt < silenceMs) {
    for (const sign of candidates) {
      const now = await readHeartbeat(sign.path, sign.id, () => sign.process);
      if (now !== undefined && now.mark !== sign.mark) return sign;
    }
    await pause(pollMs);
  }
  return undefined;
}

/** Undefined without such a file. */
export async function readHeartbeat(
  path: string,
  id: string,
  processOf: (text: string) => ProcessIdentity | undefined,
): Promise<Heartbeat | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (['ENOENT', 'ESTALE'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  try {
    const { size, mtimeNs, ino } = await file.stat({ bigint: true });
    const head = Buffer.alloc(mostHeaderBytes);
    const { bytesRead } = await file.read(head, 0, mostHeaderBytes, 0);
    const process = processOf(head.toString('latin1', 0, bytesRead));
    return { id, path, process, mark: `${ino} ${size} ${mtimeNs}` };
  } finally {
    await file.close();
  }
}
