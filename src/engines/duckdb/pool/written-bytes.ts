import { readFileSync } from 'node:fs';

/** Counts the bytes that a process writes to disk. A process that runs SQL can write nothing but spill. */
export class WrittenBytes {
  readonly #pid: number;
  #known = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Bytes since the last call. 0 if the kernel does not report them. */
  take(): number {
    try {
      const told = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${this.#pid}/io`, 'latin1'))?.[1];
      const before = this.#known;
      this.#known = Math.max(before, Number(told ?? 0));
      return this.#known - before;
    } catch {
      return 0;
    }
  }
}
