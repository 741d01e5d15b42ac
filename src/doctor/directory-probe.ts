import { constants, type Stats } from 'node:fs';
import { link, mkdir, mkdtemp, open, readFile, realpath, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withTimeout } from '@framehold/async';
import { errnoOf } from '../core/errors/storage-error.ts';

/** Results of operations in a directory, in a folder that is removed again. */
export interface DirectoryFacts {
  readonly path: string;
  /** `missing`: the folder above it was tested. `unusable`: it is no directory, or its state is unknown. */
  readonly state: 'there' | 'missing' | 'unusable';
  /** If `state` is not `there`: the closest existing parent folder. */
  readonly base: string;
  /** As the kernel names it: `ext4`, `nfs4`, `fuse.sshfs`. Undefined where that cannot be read. */
  readonly fileSystem: string | undefined;
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** An errno name where a file cannot be made. */
  readonly writeProblem: string | undefined;
  /** Failed operations that frames need, with their errno names. */
  readonly refused: ReadonlyMap<Operation, string>;
  /** Duration of each durable write, in their order. */
  readonly writesMs: readonly number[];
  /** The time by which the clock of the file system is ahead. */
  readonly aheadMs: number;
}

export const operations = {
  durableWrites: 'O_DSYNC',
  hardLinks: 'hard links',
  rename: 'rename',
  folderSync: 'fsync of a folder',
} as const;

export type Operation = keyof typeof operations;

const writes = 20;
/** The size of a small append. */
const writeBytes = 4096;
/** A slow disk is known for one by then. */
const mostWritesMs = 2000;
/** A lost file server blocks every access to it. */
const mostProbeMs = 6000;

export interface ProbeOptions {
  readonly signal: AbortSignal;
  /** Whether the time of durable writes is of interest. */
  readonly isTimed: boolean;
}

/** Rejects if the signal aborts; its files are removed first. */
export function probeDirectory(path: string, options: ProbeOptions): Promise<DirectoryFacts> {
  const unusable = (writeProblem: string): DirectoryFacts => ({
    ...unknown,
    ...{ path, base: path, state: 'unusable', writeProblem },
  });
  const probed = probe(path, options).catch((error: unknown) => {
    options.signal.throwIfAborted();
    return unusable(reasonOf(error));
  });
  return withTimeout(probed, mostProbeMs, () => unusable(`no answer in ${mostProbeMs / 1000} s`));
}

const unknown = {
  fileSystem: undefined,
  freeBytes: 0,
  totalBytes: 0,
  writeProblem: undefined,
  refused: new Map(),
  writesMs: [],
  aheadMs: 0,
} as const;

async function probe(path: string, options: ProbeOptions): Promise<DirectoryFacts> {
  const found = await closest(path);
  if ('problem' in found) return { ...unknown, path, base: path, state: 'unusable', writeProblem: found.problem };
  const { base } = found;
  const { bavail, blocks, bsize } = await statfs(base);
  const facts: DirectoryFacts = {
    ...unknown,
    path,
    base,
    state: base === path ? 'there' : 'missing',
    fileSystem: await fileSystemOf(base),
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
  };
  let folder: string;
  try {
    // The dot keeps it from being taken for a frame.
    folder = await mkdtemp(join(base, '.framehold-doctor-'));
  } catch (error) {
    return { ...facts, writeProblem: reasonOf(error) };
  }
  try {
    return { ...facts, ...(await tryOperations(folder, options)) };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The directory, or its closest existing parent. */
async function closest(path: string): Promise<{ readonly base: string } | { readonly problem: string }> {
  for (let base = path; ; base = dirname(base)) {
    let stats: Stats;
    try {
      stats = await stat(base);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' && dirname(base) !== base) continue;
      return { problem: reasonOf(error) };
    }
    return stats.isDirectory() ? { base } : { problem: `${base} is not a directory` };
  }
}

async function tryOperations(
  folder: string,
  { signal, isTimed }: ProbeOptions,
): Promise<Pick<DirectoryFacts, 'refused' | 'writesMs' | 'aheadMs' | 'writeProblem'>> {
  const refused = new Map<Operation, string>();
  const attempt = async <T>(operation: Operation, act: () => Promise<T>): Promise<T | undefined> => {
    signal.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      signal.throwIfAborted();
      refused.set(operation, reasonOf(error));
      return undefined;
    }
  };
  const file = join(folder, 'file');
  const beforeMs = Date.now();
  try {
    await writeFile(file, 'framehold doctor\n');
  } catch (error) {
    return { refused, writesMs: [], aheadMs: 0, writeProblem: reasonOf(error) };
  }
  const { mtimeMs } = await stat(file);
  const afterMs = Date.now();
  const aheadMs = mtimeMs > afterMs ? mtimeMs - afterMs : Math.min(0, mtimeMs - beforeMs);
  const timed = isTimed ? await attempt('durableWrites', () => timeWrites(join(folder, 'log'), signal)) : undefined;
  await attempt('hardLinks', () => link(file, join(folder, 'link')));
  await attempt('rename', async () => {
    await mkdir(join(folder, 'one'));
    await rename(join(folder, 'one'), join(folder, 'other'));
    await rename(file, join(folder, 'other', 'file'));
  });
  await attempt('folderSync', async () => {
    await using directory = await open(folder, 'r');
    await directory.sync();
  });
  return { refused, writesMs: timed ?? [], aheadMs, writeProblem: undefined };
}

/** As rows are appended to the log of a frame. */
async function timeWrites(path: string, signal: AbortSignal): Promise<number[]> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;
  await using file = await open(path, flags);
  const bytes = Buffer.alloc(writeBytes, 'x');
  const times: number[] = [];
  const begunMs = performance.now();
  while (times.length < writes && performance.now() - begunMs < mostWritesMs) {
    signal.throwIfAborted();
    const writeMs = performance.now();
    await file.write(bytes);
    times.push(performance.now() - writeMs);
  }
  return times;
}

/** File system of the path's mount. Of several mounts at one place the last one counts. */
async function fileSystemOf(path: string): Promise<string | undefined> {
  const [real, text] = await Promise.all([realpath(path), readFile('/proc/self/mountinfo', 'utf8').catch(() => '')]);
  return fileSystemIn(text, real);
}

/** The same from `/proc/self/mountinfo`. */
export function fileSystemIn(mountInfo: string, path: string): string | undefined {
  let longest = -1;
  let type: string | undefined;
  for (const line of mountInfo.split('\n')) {
    const [mount = '', rest = ''] = line.split(' - ');
    const point = mount
      .split(' ')[4]
      ?.replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    if (point === undefined || point.length < longest) continue;
    if (path !== point && !path.startsWith(point === '/' ? point : `${point}/`)) continue;
    longest = point.length;
    type = rest.split(' ')[0];
  }
  return type;
}

function reasonOf(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
}
