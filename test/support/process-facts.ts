import { readdirSync, readFileSync } from 'node:fs';

/** Linux's facts about running processes. Each is empty for a process that has ended. */

export function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
    return children.flatMap((pids) => pids.split(' ').filter(Boolean).map(Number));
  } catch {
    return [];
  }
}

/** The process and all below it. */
export function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

export function isAlive(pid: number): boolean {
  const state = statusOf(pid, 'State');
  return state !== undefined && !state.startsWith('Z');
}

/** The program and its arguments. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** A description of a process that should not be there, for people. */
export function describeProcess(pid: number): string {
  const facts = ['Name', 'State', 'PPid', 'VmRSS', 'SigPnd'].map((field) => `${field} ${statusOf(pid, field)}`);
  return `${pid}: ${facts.join(', ')}`;
}

/** Memory of a process that no file holds, its own and what it shares: without a walk over its pages, as their proportions need. */
export function anonymousBytesOf(pid: number): number {
  const kilobytes = ['RssAnon', 'RssShmem'].map((field) => Number.parseInt(statusOf(pid, field) ?? '0', 10));
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024;
}

/** Resident memory of a process alone. */
export function residentBytesOf(pid: number): number {
  return Number.parseInt(statusOf(pid, 'VmRSS') ?? '0', 10) * 1024;
}

export function openFilesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Threads that have given up the right to gain rights. The first one of a process has its number. */
export function restrictedThreadsOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .filter((thread) => statusOf(`${pid}/task/${thread}`, 'NoNewPrivs') === '1');
}

/** Whether a signal of this number would reach the program, instead of its end. */
export function catchesSignal(pid: number, signal: number): boolean {
  return (BigInt(`0x${statusOf(pid, 'SigCgt') ?? '0'}`) & (1n << BigInt(signal - 1))) !== 0n;
}

function statusOf(process: number | string, field: string): string | undefined {
  try {
    const status = readFileSync(`/proc/${process}/status`, 'utf8');
    return new RegExp(`^${field}:\\s+(.+)$`, 'm').exec(status)?.[1];
  } catch {
    return undefined;
  }
}
