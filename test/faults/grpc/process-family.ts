import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { familyOf, openFilesOf } from '../../support/process-facts.ts';
import { promised } from '../harness/scenario.ts';

/** Memory of the server and its workers, what they share counted once. */
export function familyBytes(pid: number): number {
  return familyOf(pid).reduce((sum, member) => sum + proportionalBytesOf(member), 0);
}

function proportionalBytesOf(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** The largest memory of the family while something goes on. */
export class MemoryWatch implements Disposable {
  readonly beforeBytes: number;
  peakBytes: number;
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, everyMs = 100) {
    this.#pid = pid;
    this.beforeBytes = familyBytes(pid);
    this.peakBytes = this.beforeBytes;
    this.#timer = setInterval(() => this.look(), everyMs);
  }

  look(): void {
    this.peakBytes = Math.max(this.peakBytes, familyBytes(this.#pid));
  }

  get growthBytes(): number {
    this.look();
    return this.peakBytes - this.beforeBytes;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Waits until the process has no more files and sockets open than before, but for a few. */
export async function filesReturnTo(pid: number, before: number, withinMs: number): Promise<void> {
  await comesTrue(() => openFilesOf(pid) <= before + 5, withinMs);
  const after = openFilesOf(pid);
  promised(after <= before + 5, 'as many files and sockets are open as before', { before, after });
}

/** Whether something comes true in time. */
export async function comesTrue(isTrue: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await isTrue()) return true;
    if (performance.now() > deadline) return false;
    await delay(50);
  }
}

export const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
