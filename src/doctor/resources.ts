import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { shownBytes } from '../core/text/amounts.ts';
import { cgroupLimits } from './cgroup.ts';
import { type Finding, notOk, ok } from './finding.ts';

/** The resources of the machine or the container. */
export interface ResourceFacts {
  readonly memoryBytes: number;
  readonly processors: number;
  /** Whether the limit is that of a control group, and not of the machine. */
  readonly isMemoryLimited: boolean;
  readonly isProcessorLimited: boolean;
  /** Undefined: no limit, or none that can be read. */
  readonly openFiles: number | undefined;
  /** Processes and threads, likewise. */
  readonly tasks: number | undefined;
  /** Undefined: there is no `/dev/shm`. */
  readonly sharedMemoryBytes: number | undefined;
}

/** The needs of the settings. */
export interface ResourceNeeds {
  readonly workers: number;
  /** Threads of a DuckDB process. */
  readonly threads: number;
  /** Memory of a DuckDB process. */
  readonly memoryBytes: number;
  readonly cacheBytes: number;
  /** Connections of all listeners and to the external database. */
  readonly connections: number;
}

/** The main process, without its cache. */
const mainBytes = 100_000_000;
/** A DuckDB process that has nothing to do. */
const idleBytes = 80_000_000;
const sharedBytesPerProcess = 16 * 1024 * 1024;
/** Pipes to each process. */
const filesPerProcess = 6;
/** Files of frames, logs and the disk cache that are open at once. */
const filesOfFrames = 250;
/** Node's own threads, beside those of DuckDB. */
const threadsPerProcess = 12;
const mainThreads = 20;

export async function resourceFacts(): Promise<ResourceFacts> {
  const [limits, cgroup, sharedMemoryBytes] = await Promise.all([
    readFile('/proc/self/limits', 'utf8').catch(() => ''),
    cgroupLimits(),
    statfs('/dev/shm').then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    ),
  ]);
  const [machineBytes, machineProcessors] = [totalmem(), availableParallelism()];
  const memoryBytes = Math.min(machineBytes, cgroup.memoryBytes ?? Infinity);
  const processors = Math.min(machineProcessors, cgroup.processors ?? Infinity);
  // Root may start any number.
  const ofUser = process.getuid?.() === 0 ? undefined : softLimit(limits, 'Max processes');
  const tasks = Math.min(ofUser ?? Infinity, cgroup.tasks ?? Infinity);
  return {
    memoryBytes,
    processors,
    isMemoryLimited: memoryBytes < machineBytes,
    isProcessorLimited: processors < machineProcessors,
    openFiles: softLimit(limits, 'Max open files'),
    tasks: tasks === Infinity ? undefined : tasks,
    sharedMemoryBytes,
  };
}

/** From `/proc/self/limits`. */
export function softLimit(limits: string, name: string): number | undefined {
  const line = limits.split('\n').find((each) => each.startsWith(`${name} `));
  const [soft = ''] = line?.slice(name.length).trim().split(/\s+/) ?? [];
  return /^\d+$/.test(soft) ? Number(soft) : undefined;
}

export function judgeResources(facts: ResourceFacts, needs: ResourceNeeds): Finding[] {
  return [
    judgeSharedMemory(facts, needs),
    judgeMemory(facts, needs),
    judgeProcessors(facts, needs),
    judgeOpenFiles(facts, needs),
    judgeTasks(facts, needs),
  ];
}

/** Processes for frames, as many for SQL, and two for background work. */
function processesOf({ workers }: ResourceNeeds): number {
  return 2 * workers + 2;
}

export function judgeSharedMemory({ sharedMemoryBytes: free }: ResourceFacts, needs: ResourceNeeds): Finding {
  const count = processesOf(needs);
  const needed = count * sharedBytesPerProcess;
  if (free === undefined) {
    const meaning = 'rows between processes go through files in the temporary directory, which may be a disk';
    return notOk('note', 'shm', 'no /dev/shm', meaning, 'mount a tmpfs there');
  }
  const found = `${shownBytes(free)} free in /dev/shm, ${count} processes use up to ${shownBytes(needed)}`;
  if (free >= needed) return ok('shm', found);
  const remedy = `give it ${Math.ceil(needed / 1024 ** 2)} MiB: docker run --shm-size, or an emptyDir with medium Memory`;
  return notOk('note', 'shm', found, 'under load rows take a pipe, which is slower', remedy);
}

export function judgeMemory(facts: ResourceFacts, needs: ResourceNeeds): Finding {
  const { memoryBytes: limit, isMemoryLimited } = facts;
  const { workers, memoryBytes: each, cacheBytes: cache } = needs;
  const sum = (processes: number): number => mainBytes + cache + processes * (idleBytes + each);
  const arithmetic = (processes: number): string =>
    `${shownBytes(mainBytes)} + cache ${shownBytes(cache)} + ${processes} processes × ${shownBytes(idleBytes + each)} = ` +
    shownBytes(sum(processes));
  const of = `${isMemoryLimited ? 'this container or service' : 'the machine'} has ${shownBytes(limit)}`;
  const all = processesOf(needs);
  const remedy = 'lower sql.workers, sql.memory_gb or storage.cache_size_gb, or give more memory';
  if (sum(workers) > limit) {
    const meaning = 'reads and writes of frames alone may use more: the kernel then ends processes';
    return notOk('warn', 'memory', `${of}; ${arithmetic(workers)}`, meaning, remedy);
  }
  if (sum(all) > limit) {
    const meaning = 'if all DuckDB processes use all of their memory at once, the kernel ends some';
    return notOk('note', 'memory', `${of}; ${arithmetic(all)}`, meaning, remedy);
  }
  return ok('memory', `${of}; ${arithmetic(all)}`);
}

export function judgeProcessors(facts: ResourceFacts, { workers }: ResourceNeeds): Finding {
  const { processors, isProcessorLimited } = facts;
  const count = Math.round(processors * 100) / 100;
  const has = `${count} processor${count === 1 ? '' : 's'}${isProcessorLimited ? ' by the limit of this container or service' : ''}`;
  const found = `${has}, sql.workers is ${workers}`;
  const useful = Math.max(2, Math.ceil(processors));
  if (workers <= useful) return ok('cpu', found);
  const meaning = 'more processes than processors take memory, and are not faster';
  return notOk(workers > 3 * useful ? 'warn' : 'note', 'cpu', found, meaning, `set sql.workers to ${useful}`);
}

export function judgeOpenFiles({ openFiles: limit }: ResourceFacts, needs: ResourceNeeds): Finding {
  const own = processesOf(needs) * filesPerProcess + filesOfFrames;
  const needed = needs.connections + own;
  if (limit === undefined) return ok('files', `no limit of open files that can be read; up to ${needed} are used`);
  const found = `${limit} open files allowed, ${needs.connections} connections and ${own} others possible`;
  if (limit >= needed) return ok('files', found);
  const remedy = `LimitNOFILE=${needed} (systemd), ulimit -n ${needed}, or lower http.max_connections`;
  return limit < own
    ? notOk('warn', 'files', found, 'frames cannot be read or written under load: answers are 503', remedy)
    : notOk('warn', 'files', found, 'with so many connections others are refused, and answers are 503', remedy);
}

export function judgeTasks({ tasks: limit }: ResourceFacts, needs: ResourceNeeds): Finding {
  const perProcess = threadsPerProcess + Math.max(needs.threads, needs.workers);
  const needed = mainThreads + processesOf(needs) * perProcess;
  if (limit === undefined) return ok('processes', `no limit of processes and threads; up to ${needed} are used`);
  const found = `${limit} processes and threads allowed, ${needed} possible`;
  if (limit >= needed) return ok('processes', found);
  const remedy = `TasksMax=${needed} (systemd), docker run --pids-limit ${needed}, ulimit -u, or lower sql.workers`;
  return notOk('warn', 'processes', found, 'DuckDB processes may not start, and statements then fail', remedy);
}
