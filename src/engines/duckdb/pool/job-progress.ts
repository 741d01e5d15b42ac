import { readFileSync } from 'node:fs';

/** An idle process reads and writes less than this between two looks. */
const leastMovedBytes = 64 * 1024;

/** Whether a job that may take any time gets on: its process reads or writes something now and then. */
export class JobProgress {
  readonly #pid: number;
  readonly #mostMs: number;
  #movedBytes: number | undefined;
  #stillMs = 0;

  constructor(pid: number, mostMs: number) {
    this.#pid = pid;
    this.#mostMs = mostMs;
    this.#movedBytes = movedBytes(pid);
  }

  /** Adds `ms` of time in which the process could work. True if it has moved no bytes for too long. */
  isStuckAfter(ms: number): boolean {
    const moved = movedBytes(this.#pid);
    if (moved === undefined || this.#movedBytes === undefined) return false;
    const hasMoved = moved - this.#movedBytes >= leastMovedBytes;
    if (hasMoved) this.#movedBytes = moved;
    this.#stillMs = hasMoved ? 0 : this.#stillMs + ms;
    return this.#stillMs >= this.#mostMs;
  }
}

/** Undefined if the kernel does not report it. */
function movedBytes(pid: number): number | undefined {
  try {
    const counters = readFileSync(`/proc/${pid}/io`, 'latin1');
    const [read, written] = [/^rchar: (\d+)$/m, /^wchar: (\d+)$/m].map((pattern) =>
      Number(pattern.exec(counters)?.[1]),
    );
    return Number(read) + Number(written);
  } catch {
    return undefined;
  }
}
