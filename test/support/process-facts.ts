import { readdirSync, readFileSync } from 'node:fs';

/** Linux's facts about running processes. Each is empty for a process that has ended. */

export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => Number(statusOf(candidate, 'PPid')) === pid);
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
