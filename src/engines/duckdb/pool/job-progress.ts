import { readFileSync } from 'node:fs';

/** Less than that is what a process reads and writes while it does nothing. */
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

  /** After so much more time that it could use. True where it did nothing of the kind for too long. */
  isStuckAfter(ms: number): boolean {
    const moved = movedBytes(this.#pid);
    if (moved === undefined || this.#movedBytes === undefined) return false;
    const hasMoved = moved - this.#movedBytes >= leastMovedBytes;
    if (hasMoved) this.#movedBytes = moved;
    this.#stillMs = hasMoved ? 0 : this.#stillMs + ms;
    return this.#stillMs >= this.#mostMs;
  }
}

/** Undefined where the kernel does not tell. */
function movedBytes(pid: number): number | undefined {
  try {
    const told = readFileSync(`/proc/${pid}/io`, 'latin1');
    const [read, written] = [/^rchar: (\d+)$/m, /^wchar: (\d+)$/m].map((pattern) => Number(pattern.exec(told)?.[1]));
    return Number(read) + Number(written);
  } catch {
    return undefined;
  }
}
