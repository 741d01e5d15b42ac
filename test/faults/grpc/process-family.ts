import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { anonymousBytesOf, childrenOf, familyOf, openFilesOf } from '../../support/process-facts.ts';
import { promised } from '../harness/scenario.ts';

/** Memory of the server and its workers, without their programs and libraries. */
export function familyBytes(pid: number): number {
  return familyOf(pid).reduce((sum, member) => sum + anonymousBytesOf(member), 0);
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
    this.peakBytes = Math.max(this.peakBytes, this.nowBytes);
  }

  get nowBytes(): number {
    return familyBytes(this.#pid);
  }

  get growthBytes(): number {
    this.look();
    return this.peakBytes - this.beforeBytes;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

export interface OpenFiles {
  readonly files: number;
  readonly workers: number;
}

/** Of a process that may have started more workers by the time it is looked at again. */
export function openFiles(pid: number): OpenFiles {
  return { files: openFilesOf(pid), workers: childrenOf(pid).length };
}

/** Pipes, sockets and memory that a process shares with one of its workers. */
const filesOfWorker = 8;

/** Waits until the process has no more files and sockets open than before, but for a few and those of new workers. */
export async function filesReturnTo(pid: number, before: OpenFiles, withinMs: number): Promise<void> {
  const most = (): number => before.files + 5 + filesOfWorker * Math.max(0, childrenOf(pid).length - before.workers);
  await comesTrue(() => openFilesOf(pid) <= most(), withinMs);
  const after = openFiles(pid);
  promised(after.files <= most(), 'as many files and sockets are open as before', {
    before,
    after,
    kinds: kindsOf(pid),
  });
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

/** What the files are, for whoever looks for a leak. */
function kindsOf(pid: number): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    const kind = readlink(`/proc/${pid}/fd/${name}`).replaceAll(/[\d]+/g, '#');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** One that is closed meanwhile is no leak. */
function readlink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return 'closed';
  }
}
