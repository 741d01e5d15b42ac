import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Limits of the container or the service that this process runs in. Undefined: there is none. */
export interface CgroupLimits {
  readonly memoryBytes: number | undefined;
  /** In processors; may be a fraction. */
  readonly processors: number | undefined;
  /** Processes and threads. */
  readonly tasks: number | undefined;
}

/** cgroup v1 writes "no limit" as the largest number of pages. */
const unlimitedBytes = 2 ** 60;

/** Limits of cgroup v2 and v1. A limit of a group also binds the groups below it. `root`: of the file system. */
export async function cgroupLimits(root = '/'): Promise<CgroupLimits> {
  const groups = parseGroups((await textOf(join(root, 'proc/self/cgroup'))) ?? '');
  const least = async (
    controller: string,
    of2: (folder: string) => Promise<number | undefined>,
    of1: (folder: string) => Promise<number | undefined>,
  ): Promise<number | undefined> => {
    const unified = (groups.get('') ?? []).flatMap((path) => [
      join(root, 'sys/fs/cgroup', path),
      join(root, 'sys/fs/cgroup/unified', path),
    ]);
    const own = (groups.get(controller) ?? []).map((path) => join(root, 'sys/fs/cgroup', controller, path));
    const found = [...(await Promise.all(unified.map(of2))), ...(await Promise.all(own.map(of1)))];
    const limits = found.filter((limit) => limit !== undefined);
    return limits.length === 0 ? undefined : Math.min(...limits);
  };
  const [memoryBytes, processors, tasks] = await Promise.all([
    least(
      'memory',
      (folder) => numberIn(join(folder, 'memory.max')),
      (folder) => numberIn(join(folder, 'memory.limit_in_bytes')),
    ),
    least('cpu', quota2, quota1),
    least(
      'pids',
      (folder) => numberIn(join(folder, 'pids.max')),
      (folder) => numberIn(join(folder, 'pids.max')),
    ),
  ]);
  return { memoryBytes, processors, tasks };
}

/** By controller, `` for v2: the path of our group and its ancestors. In a container they may be missing, but not the root. */
function parseGroups(text: string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const paths = [path];
    for (let at = path; at !== '/'; paths.push(at)) at = dirname(at);
    for (const controller of controllers.split(',')) groups.set(controller, paths);
  }
  return groups;
}

async function quota2(folder: string): Promise<number | undefined> {
  const [quota, period] = ((await textOf(join(folder, 'cpu.max'))) ?? '').trim().split(' ').map(Number);
  return shareOf(quota, period);
}

async function quota1(folder: string): Promise<number | undefined> {
  const [quota, period] = await Promise.all(
    ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) => numberIn(join(folder, name))),
  );
  return shareOf(quota, period);
}

/** A quota of -1 or `max` is none. */
function shareOf(quota: number | undefined, period: number | undefined): number | undefined {
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : undefined;
}

async function numberIn(path: string): Promise<number | undefined> {
  const text = (await textOf(path))?.trim() ?? '';
  const value = /^\d+$/.test(text) ? Number(text) : undefined;
  return value === undefined || value >= unlimitedBytes ? undefined : value;
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
