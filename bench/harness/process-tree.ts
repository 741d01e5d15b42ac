import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** The resources that all processes of a server used together. */
export interface Usage {
  readonly cpuSeconds: number;
  /** Largest sum of their resident memory at one moment. Pages that they share are counted for each. */
  readonly peakRssBytes: number;
}

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuTicks: number;
  readonly rssBytes: number;
}

// Fixed by Linux for user space, independent of the kernel's own tick.
const ticksPerSecond = 100;
const pageBytes = 4096;

/** Runs a task and measures the use of a process and its descendants meanwhile. */
export async function watch<T>(
  pid: number,
  task: () => Promise<T>,
  { everyMs = 250 } = {},
): Promise<{ readonly result: T; readonly usage: Usage }> {
  const before = treeOf(pid);
  let peakRssBytes = before.rssBytes;
  const timer = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, treeOf(pid).rssBytes);
  }, everyMs);
  try {
    const result = await task();
    const after = treeOf(pid);
    return {
      result,
      usage: {
        cpuSeconds: after.cpuSeconds - before.cpuSeconds,
        peakRssBytes: Math.max(peakRssBytes, after.rssBytes),
      },
    };
  } finally {
    clearInterval(timer);
  }
}

/** Resolves when a process and its descendants have been idle for some time: their background work is done. */
export async function untilQuiet(pid: number, { idleMs = 1000, timeoutMs = 180_000 } = {}): Promise<void> {
  // QuestDB takes 6 % of a slow processor for nothing.
  const idleShare = 0.1;
  let last = treeOf(pid).cpuSeconds;
  for (const start = Date.now(); Date.now() - start < timeoutMs; ) {
    await delay(idleMs);
    const now = treeOf(pid).cpuSeconds;
    if (now - last <= (idleShare * idleMs) / 1000) return;
    last = now;
  }
  throw new Error(`process ${pid} was not idle within ${timeoutMs / 1000} s`);
}

/** CPU time since their start, also of children that have ended, and resident memory now. */
export function treeOf(root: number): { readonly cpuSeconds: number; readonly rssBytes: number } {
  let ticks = 0;
  let rssBytes = 0;
  for (const stat of membersOf(root)) {
    ticks += stat.cpuTicks;
    rssBytes += stat.rssBytes;
  }
  return { cpuSeconds: ticks / ticksPerSecond, rssBytes };
}

/** Resident memory now, with pages that several processes share counted once among them. Slow where much is mapped. */
export function residentBytes(root: number): number {
  return membersOf(root).reduce((sum, { pid }) => sum + proportionalBytes(pid), 0);
}

function proportionalBytes(pid: number): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')) ?? [];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export function pidsOf(root: number): number[] {
  return membersOf(root).map(({ pid }) => pid);
}

function membersOf(root: number): ProcessStat[] {
  const all = allProcesses();
  const members = new Set([root]);
  for (let size = 0; size < members.size; ) {
    size = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid));
}

function allProcesses(): ProcessStat[] {
  const found: ProcessStat[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      found.push(parseStat(Number(name), readFileSync(`/proc/${name}/stat`, 'latin1')));
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

/** See proc(5). The name in parentheses may hold spaces and parentheses itself. */
function parseStat(pid: number, text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    pid,
    parent: field(4),
    cpuTicks: field(14) + field(15) + field(16) + field(17),
    rssBytes: field(24) * pageBytes,
  };
}
